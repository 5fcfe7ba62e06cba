//! Gates and answers as files.

use jiff::Timestamp;
use planex_core::gate::{Answer, Answerer, Gate};
use planex_core::id;
use planex_sys::fs;

use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// Marks an answer that something has acted on, so that it never counts for a later gate of the same name.
fn used(paths: &SessionPaths, id: &str) -> camino::Utf8PathBuf {
    paths.gates().join(format!("{id}.used"))
}

/// Whether something has acted on the answer to a gate.
#[must_use]
pub fn is_used(paths: &SessionPaths, id: &str) -> bool {
    fs::exists(&used(paths, id))
}

pub(super) fn mark_used(paths: &SessionPaths, id: &str) -> Result<()> {
    Ok(fs::write_atomic(&used(paths, id), b"")?)
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
    let folder = paths.gates();
    if !fs::is_dir(&folder) {
        return Ok(Vec::new());
    }
    let mut gates: Vec<Gate> = fs::list(&folder)?
        .iter()
        .filter_map(|entry| entry.name.strip_suffix(".json"))
        .filter(|id| !id.ends_with(".answer") && !fs::exists(&paths.answer(id)))
        .filter_map(|id| load_gate(paths, id).ok().flatten())
        .collect();
    gates.sort_by(|a, b| (a.opened_at, &a.id).cmp(&(b.opened_at, &b.id)));
    Ok(gates)
}

/// Writes an answer. The first one stays.
///
/// # Errors
/// It cannot be written.
pub fn record_answer(paths: &SessionPaths, answer: &Answer) -> Result<()> {
    check(&answer.gate)?;
    let text = serde_json::to_vec_pretty(answer).map_err(EngineError::internal)?;
    Ok(fs::write_atomic(&paths.answer(&answer.gate), &text)?)
}

/// Answers the newest open gate of a session (`planex answer`, MCP); only records it.
///
/// # Errors
/// No gate is open (usage), the answer does not fit (usage), or it cannot be written.
pub fn answer_gate(
    paths: &SessionPaths,
    pairs: &[(String, String)],
    text: Option<&str>,
    by: Answerer,
    at: Timestamp,
) -> Result<(Gate, Answer)> {
    let Some(gate) = open_gates(paths)?.pop() else {
        let name = paths.dir().file_name().unwrap_or_default();
        return Err(EngineError::usage(format!("no gate of {name} is open"))
            .hint("see how it stands with `planex sessions show`, or go on with `planex resume`"));
    };
    let answer = gate.answer(pairs, text, by, at).map_err(|error| {
        let name = paths.dir().file_name().unwrap_or_default();
        EngineError::usage(error).hint(format!("answer with: {}", super::answer_line(&gate, name)))
    })?;
    record_answer(paths, &answer)?;
    Ok((gate, answer))
}
