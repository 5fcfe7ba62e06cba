//! Notes that a user leaves for a task: `planex note SESSION TASK TEXT` (spec 20, *Phase 4*).

use std::collections::BTreeMap;

use jiff::Timestamp;
use planex_core::id;
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// One line of `notes.ndjson`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    at: Timestamp,
    task: String,
    text: String,
}

/// Leaves a note; it is in the task's prompt from its next run on.
///
/// # Errors
/// The id is none, the text is empty, or the file cannot be written.
pub fn add(paths: &SessionPaths, task: &str, text: &str, at: Timestamp) -> Result<()> {
    id::check_id(task).map_err(|error| EngineError::usage(format!("`{}` is no task: {error}", task.escape_debug())))?;
    if text.trim().is_empty() {
        return Err(EngineError::usage("the note is empty"));
    }
    let note = Note { at, task: task.to_owned(), text: text.trim().to_owned() };
    let line = serde_json::to_string(&note).map_err(EngineError::internal)?;
    Ok(fs::append_line(&paths.notes(), &line)?)
}

/// All notes by task, those of one task joined in their order. A torn last line is skipped.
///
/// # Errors
/// The file is there and cannot be read.
pub fn load(paths: &SessionPaths) -> Result<BTreeMap<String, String>> {
    let bytes = fs::read_if_exists(&paths.notes())?.unwrap_or_default();
    let mut notes: BTreeMap<String, String> = BTreeMap::new();
    for note in String::from_utf8_lossy(&bytes).lines().filter_map(|line| serde_json::from_str::<Note>(line).ok()) {
        let text = notes.entry(note.task).or_default();
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&note.text);
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_a_task_come_back_in_order() {
        let temp = tempfile::tempdir().unwrap();
        let paths = SessionPaths::new(camino::Utf8Path::from_path(temp.path()).unwrap());
        fs::create_dir_all(&paths.planex()).unwrap();
        assert!(load(&paths).unwrap().is_empty());
        let at = Timestamp::UNIX_EPOCH;
        add(&paths, "T2", "use\nthe cache", at).unwrap();
        add(&paths, "T1", "認証は後で", at).unwrap();
        add(&paths, "T2", " and log it ", at).unwrap();
        assert!(add(&paths, "../x", "no", at).is_err());
        assert!(add(&paths, "T1", "  ", at).is_err());
        let notes = load(&paths).unwrap();
        assert_eq!(notes.get("T2").map(String::as_str), Some("use\nthe cache\n\nand log it"));
        assert_eq!(notes.len(), 2);
    }
}
