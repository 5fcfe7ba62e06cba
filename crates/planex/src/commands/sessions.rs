//! `planex sessions`.

use planex_core::text::{one_line, truncate_chars};
use planex_core::time::parse_duration;
use planex_engine::gate::ApprovalStore;
use planex_engine::session::{self, Found, PruneLimits, SessionStatus, Summary};
use planex_engine::{gate, usage};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::folders::Folders;
use crate::setup::{Setup, approvals, project, shown, upkeep};
use crate::ui::Ui;
use crate::ui::select::confirm;
use crate::ui::size::bytes;
use crate::ui::table::Table;

/// List, show, archive, delete and prune sessions
#[derive(Debug, clap::Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

/// What to do with sessions.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions of this project, newest first
    List,
    /// Show one session: phases, tasks, usage, paths
    Show {
        /// Its id, a part of it, or words in it
        session: String,
    },
    /// Move a session to .workflow/archives
    Archive {
        /// Its id, a part of it, or words in it
        session: String,
    },
    /// Delete a session for good; asks first
    Delete {
        /// Its id, a part of it, or words in it
        session: String,
    },
    /// Delete old finished sessions, and say how much space sessions take
    Prune {
        /// Delete sessions older than this: `30d`, `12h`
        #[arg(long, value_name = "DURATION", default_value = "30d")]
        older_than: String,
        /// Delete all finished sessions but the newest N
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
    },
}

/// Characters of a requirement in a list.
const REQUIREMENT: usize = 60;

/// Runs the command.
pub(crate) fn run(args: &SessionsArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let root = project(context).root;
    let now = planex_sys::clock::now();
    let approvals = approvals(&Folders::of(&context.env));
    if !matches!(args.command, SessionsCommand::List | SessionsCommand::Show { .. }) {
        context.refuse_inside_job("sessions archive, delete and prune")?;
    }
    match &args.command {
        SessionsCommand::List => list(&root, ui),
        SessionsCommand::Show { session } => show(&session::find(&root, session, None)?, context, ui),
        SessionsCommand::Archive { session } => {
            let found = exact(&root, session, context.common.yes || !ui.is_interactive())?;
            let path = session::archive(&root, &found, &approvals, now)?;
            release([&found], context, ui);
            ui.result(format_args!("{} is in {}", found.id, shown(&path, &context.dir)));
            Ok(Exit::Done)
        }
        SessionsCommand::Delete { session } => {
            let found = exact(&root, session, context.common.yes || !ui.is_interactive())?;
            delete(&found, &approvals, context, ui)
        }
        SessionsCommand::Prune { older_than, keep } => {
            let older_than = parse_duration(older_than).map_err(CliError::usage)?;
            let limits = PruneLimits { older_than: Some(older_than), keep: *keep, dry_run: context.common.dry_run };
            prune(&root, limits, &approvals, context, ui)
        }
    }
}

/// The session for a command that takes it away: where nobody is asked, only its whole id means it.
fn exact(root: &camino::Utf8Path, query: &str, unasked: bool) -> Result<Found> {
    let found = session::find(root, query, None)?;
    if unasked && found.id != query {
        let id = one_line(&found.id);
        return Err(CliError::usage(format!("`{}` is not the whole id of a session", one_line(query)))
            .hint(format!("did you mean `{id}`? Write it out")));
    }
    Ok(found)
}

fn list(root: &camino::Utf8Path, ui: &mut Ui) -> Result<Exit> {
    let sessions = session::list(root)?;
    let mut table = Table::new(&["session", "workflow", "status", "done", "failed", "size", "requirement"]);
    for summary in &sessions {
        if ui.is_json() {
            ui.json_line(&as_json(summary));
        }
        let counts = summary.counts;
        let requirement = summary.meta.as_ref().map_or_else(Clone::clone, |meta| meta.requirement.clone());
        table.row([
            summary.found.id.clone(),
            summary.found.workflow.to_string(),
            status(summary),
            format!("{}/{}", counts.completed, counts.total()),
            (counts.failed + counts.skipped).to_string(),
            bytes(summary.size),
            truncate_chars(&one_line(&requirement), REQUIREMENT),
        ]);
    }
    if sessions.is_empty() {
        ui.status("no sessions yet; start one with `planex waves \"…\"`");
    } else if !ui.is_json() {
        ui.table(&table);
    }
    Ok(Exit::Done)
}

fn status(summary: &Summary) -> String {
    let archived = if summary.found.archived { " (archived)" } else { "" };
    match &summary.status {
        SessionStatus::Waiting(gate) => format!("waiting at {gate}{archived}"),
        other => format!("{}{archived}", other.as_str()),
    }
}

fn as_json(summary: &Summary) -> serde_json::Value {
    let counts = summary.counts;
    json!({
        "session": summary.found.id,
        "workflow": summary.found.workflow.as_str(),
        "status": summary.status.as_str(),
        "archived": summary.found.archived,
        "path": summary.found.dir,
        "requirement": summary.meta.as_ref().ok().map(|meta| &meta.requirement),
        "created": summary.meta.as_ref().ok().map(|meta| &meta.created),
        "error": summary.meta.as_ref().err(),
        "completed": counts.completed, "failed": counts.failed, "skipped": counts.skipped, "pending": counts.pending,
        "bytes": summary.size,
    })
}

fn show(found: &Found, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let summary = session::summary_of(found);
    let paths = found.paths();
    let used = usage::of_session(&paths)?;
    if ui.is_json() {
        let mut value = as_json(&summary);
        if let (Some(map), Ok(used)) = (value.as_object_mut(), serde_json::to_value(used)) {
            map.insert("usage".to_owned(), used);
        }
        ui.json_line(&value);
    }
    let counts = summary.counts;
    ui.result(format_args!("{} ({}, {})", found.id, found.workflow, status(&summary)));
    match &summary.meta {
        Ok(meta) if !meta.requirement.is_empty() => ui.result(format_args!("  {}", one_line(&meta.requirement))),
        Ok(_) => {}
        Err(error) => ui.warning(error),
    }
    ui.result(format_args!(
        "  {} of {} tasks completed, {} failed, {} skipped; {} tokens{}",
        counts.completed,
        counts.total(),
        counts.failed,
        counts.skipped,
        crate::ui::lines::thousands(used.total_tokens()),
        crate::ui::lines::cost(&used, ", "),
    ));
    for path in [paths.explore_csv(), paths.tasks_csv(), paths.results_csv(), paths.context_md(), paths.discoveries()] {
        if planex_sys::fs::exists(&path) {
            ui.result(format_args!("  {}", shown(&path, &context.dir)));
        }
    }
    if let Some(open) = gate::open_gates(&paths)?.pop() {
        ui.result(format_args!("\n{}", planex_core::text::safe(&gate::render_text(&open, &found.id))));
    } else if !summary.status.has_ended() && !matches!(summary.status, SessionStatus::Running(_)) {
        ui.result(format_args!("  go on with: planex resume {}", found.id));
    }
    Ok(Exit::Done)
}

fn delete(found: &Found, approvals: &ApprovalStore, context: &Context, ui: &mut Ui) -> Result<Exit> {
    if !context.common.yes {
        if !ui.is_interactive() {
            return Err(CliError::usage(format!("{} is deleted for good only with -y", found.id)));
        }
        let message = format!("Delete {} for good?", one_line(&found.id));
        let sure = confirm(&message, "it cannot be brought back", ui.err_colours()).unwrap_or(false);
        if !sure {
            return Err(CliError::new(Exit::Stopped, "nothing is deleted"));
        }
    }
    let freed = session::delete(found, approvals, planex_sys::clock::now())?;
    release([found], context, ui);
    ui.result(format_args!("{} is deleted ({})", found.id, bytes(freed)));
    Ok(Exit::Done)
}

/// Lets go what sessions had outside of their folders. They are gone already: what fails here is said, and left to
/// `planex doctor --fix`.
fn release<'a>(sessions: impl IntoIterator<Item = &'a Found>, context: &Context, ui: &mut Ui) {
    let released = || -> Result<()> {
        let upkeep = upkeep(&Setup::read(context)?, context)?;
        // An archived one has let go already, and a new one may have its name.
        sessions
            .into_iter()
            .filter(|found| !found.archived)
            .try_for_each(|found| Ok(upkeep.release(&found.id, &found.dir)?))
    };
    if let Err(error) = released() {
        ui.warning(format_args!(
            "hidden refs or trees of tasks may be left: {}; planex doctor --fix removes them",
            error.message()
        ));
    }
}

fn prune(
    root: &camino::Utf8Path,
    limits: PruneLimits,
    approvals: &ApprovalStore,
    context: &Context,
    ui: &mut Ui,
) -> Result<Exit> {
    let before: u64 = session::list(root)?.iter().map(|summary| summary.size).sum();
    let pruned = session::prune(root, limits, approvals, planex_sys::clock::now())?;
    let mut freed = 0;
    let mut failed = false;
    let mut gone = pruned.iter().filter(|one| one.error.is_none() && !limits.dry_run).peekable();
    if gone.peek().is_some() {
        release(gone.map(|one| &one.summary.found), context, ui);
    }
    for one in &pruned {
        let id = &one.summary.found.id;
        match &one.error {
            Some(error) => {
                failed = true;
                ui.warning(error);
            }
            None if limits.dry_run => ui.result(format_args!("would delete {id} ({})", bytes(one.summary.size))),
            None => ui.result(format_args!("deleted {id} ({})", bytes(one.summary.size))),
        }
        if one.error.is_none() {
            freed += one.summary.size;
        }
    }
    let left = before.saturating_sub(freed);
    ui.result(format_args!("{} freed; sessions take {}", bytes(freed), bytes(left)));
    Ok(if failed { Exit::Failed } else { Exit::Done })
}
