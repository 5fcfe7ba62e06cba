//! Gates and answers as files.

use jiff::Timestamp;
use planex_core::gate::{Answer, Answerer, Gate};
use planex_core::id;
use planex_sys::fs;

use super::approvals::{Approvals, content_of};
use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// How a gate stands by its files and by its record.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Standing {
    /// The answer in the session, if its record is there and says the same.
    pub(super) answer: Option<Answer>,
    /// There is an answer in the session that was not given to planex here.
    pub(super) foreign: bool,
    /// Something has acted on an answer to a gate of this id.
    pub(super) used: bool,
}

/// How a gate stands. A record that cannot be read vouches for nothing: whoever writes it next is told why.
pub(super) fn standing(paths: &SessionPaths, approvals: &Approvals, id: &str) -> Result<Standing> {
    let record = approvals.record(id).unwrap_or_default();
    let used = record.as_ref().is_some_and(|record| record.used);
    let Some(answer) = load_answer(paths, id)? else { return Ok(Standing { used, ..Standing::default() }) };
    let asked = load_gate(paths, id)?.map(|gate| content_of(&gate)).transpose()?;
    let same = record.is_some_and(|record| record.answer.as_ref() == Some(&answer) && Some(record.content) == asked);
    Ok(Standing { foreign: !same, answer: same.then_some(answer), used })
}

pub(super) fn save_gate(paths: &SessionPaths, gate: &Gate) -> Result<()> {
    check(&gate.id)?;
    fs::create_dir_all(&paths.gates())?;
    let text = serde_json::to_vec_pretty(gate).map_err(EngineError::internal)?;
    Ok(fs::write_atomic(&paths.gate(&gate.id), &text)?)
}

fn check(id: &str) -> Result<()> {
    id::check_id(id).map_err(|error| EngineError::usage(format!("`{}` is not a gate: {error}", id.escape_debug())))
}

/// One gate, if it is there.
///
/// # Errors
/// The id is none, or the file cannot be read.
pub fn load_gate(paths: &SessionPaths, id: &str) -> Result<Option<Gate>> {
    check(id)?;
    load(&paths.gate(id))
}

/// The answer to one gate, if it is there.
///
/// # Errors
/// The id is none, or the file cannot be read.
pub fn load_answer(paths: &SessionPaths, id: &str) -> Result<Option<Answer>> {
    check(id)?;
    load(&paths.answer(id))
}

fn load<T: serde::de::DeserializeOwned>(path: &camino::Utf8Path) -> Result<Option<T>> {
    let Some(bytes) = fs::read_if_exists(path)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        EngineError::internal(format!("{path}:{}:{}: {error}", error.line(), error.column()))
            .hint("the file was changed by hand; remove it and resume")
    })
}

/// Gates without an answer, oldest first.
///
/// # Errors
/// The folder cannot be listed. A gate that cannot be read is left out.
pub fn open_gates(paths: &SessionPaths) -> Result<Vec<Gate>> {
    let mut gates = gates(paths)?;
    gates.retain(|gate| !fs::exists(&paths.answer(&gate.id)));
    Ok(gates)
}

/// All gates, oldest first.
fn gates(paths: &SessionPaths) -> Result<Vec<Gate>> {
    let folder = paths.gates();
    if !fs::is_dir(&folder) {
        return Ok(Vec::new());
    }
    let mut gates: Vec<Gate> = fs::list(&folder)?
        .iter()
        .filter_map(|entry| entry.name.strip_suffix(".json"))
        .filter(|id| !id.ends_with(".answer"))
        .filter_map(|id| load_gate(paths, id).ok().flatten())
        .collect();
    gates.sort_by(|a, b| (a.opened_at, &a.id).cmp(&(b.opened_at, &b.id)));
    Ok(gates)
}

pub(super) fn record_answer(paths: &SessionPaths, answer: &Answer) -> Result<()> {
    check(&answer.gate)?;
    let text = serde_json::to_vec_pretty(answer).map_err(EngineError::internal)?;
    Ok(fs::write_atomic(&paths.answer(&answer.gate), &text)?)
}

/// Answers the newest open gate of a session (`planex answer`, MCP); only records it, and vouches for it.
///
/// # Errors
/// No gate is open (usage), the newest one is not as planex asked it (usage), the answer does not fit (usage), or it
/// cannot be written.
pub fn answer_gate(
    paths: &SessionPaths,
    approvals: &Approvals,
    pairs: &[(String, String)],
    text: Option<&str>,
    by: Answerer,
    at: Timestamp,
) -> Result<(Gate, Answer)> {
    let name = paths.dir().file_name().unwrap_or_default();
    let Some(gate) = unanswered(paths, approvals)? else {
        return Err(EngineError::usage(format!("no gate of {name} is open"))
            .hint("see how it stands with `planex sessions show`, or go on with `planex resume`"));
    };
    // What is shown to the user comes from the session's folder: it has to be what planex wrote there.
    if approvals.record(&gate.id)?.map(|record| record.content) != Some(content_of(&gate)?) {
        let message = format!("the gate `{}` of {name} is not as planex asked it here", gate.id);
        return Err(EngineError::usage(message).hint(format!("`planex resume {name}` asks it again")));
    }
    let answer = gate
        .answer(pairs, text, by, at)
        .map_err(|error| EngineError::usage(error).hint(format!("answer with: {}", super::answer_line(&gate, name))))?;
    // The record first: an answer without one would be taken for a forgery.
    approvals.answered(&gate, &answer, false)?;
    record_answer(paths, &answer)?;
    Ok((gate, answer))
}

/// The newest gate that nobody has answered; an answer that nothing vouches for is none.
fn unanswered(paths: &SessionPaths, approvals: &Approvals) -> Result<Option<Gate>> {
    for gate in gates(paths)?.into_iter().rev() {
        let standing = standing(paths, approvals, &gate.id)?;
        if standing.answer.is_none() && !standing.used {
            return Ok(Some(gate));
        }
    }
    Ok(None)
}
