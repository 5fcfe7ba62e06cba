//! Sessions of the same input file: which of them `--continue` means, and whether an output is theirs.

use camino::Utf8Path;
use planex_sys::fs;

use super::input::FanoutOptions;
use super::output::looks_written;
use crate::error::{EngineError, ErrorKind, Result};
use crate::session::{Ending, Found, Meta, SessionStatus, Workflow, find_all, status_of};

/// The sessions of this input, newest first.
fn family(root: &Utf8Path, options: &FanoutOptions) -> Result<Vec<(Found, Meta)>> {
    let of_input = |found: Found| {
        let meta = Meta::load(&found.paths(), found.workflow).ok()?;
        let same = meta.workflow == Workflow::Fanout && meta.option_str("input") == Some(options.input.as_str());
        same.then_some((found, meta))
    };
    Ok(find_all(root)?.into_iter().filter_map(of_input).collect())
}

/// The session that `--continue` means; `None`: there is none of this input.
///
/// # Errors
/// All of them were cancelled.
pub(super) fn to_continue(root: &Utf8Path, options: &FanoutOptions) -> Result<Option<Found>> {
    let mut sessions = family(root, options)?;
    sessions.retain(|(found, _)| !found.archived);
    let open = sessions.iter().position(|(_, meta)| meta.ended != Some(Ending::Cancelled));
    match (open, sessions.first()) {
        (Some(open), _) => Ok(Some(sessions.swap_remove(open).0)),
        (None, None) => Ok(None),
        (None, Some((found, _))) => {
            let message = format!("the session {} was cancelled", found.id);
            Err(EngineError::new(ErrorKind::Stopped, message)
                .hint(format!("take it up again with `planex resume {} --reopen`", found.id))
                .hint("or start a new one without --continue"))
        }
    }
}

/// Refuses an output that something else wrote, or that a running session of this input writes.
pub(super) fn guard_output(root: &Utf8Path, options: &FanoutOptions, output: &Utf8Path) -> Result<()> {
    let mut sessions = family(root, options)?;
    sessions.retain(|(_, meta)| meta.option_str("output") == Some(output.as_str()));
    let runs = |found: &Found, meta| matches!(status_of(&found.paths(), Some(meta)), SessionStatus::Running(_));
    if let Some((found, _)) = sessions.iter().find(|(found, meta)| runs(found, meta)) {
        let message = format!("the session {} runs and writes {output}", found.id);
        return Err(EngineError::usage(message).hint("wait for its end, or name another file with --output"));
    }
    let Some(bytes) = fs::read_if_exists(output)? else { return Ok(()) };
    if bytes.is_empty() || (!sessions.is_empty() && looks_written(&bytes)) {
        return Ok(());
    }
    let message = format!("{output} is there already and holds no results of {}", options.input);
    Err(EngineError::usage(message).hint("name another file with --output, or move that one away"))
}
