//! What sessions there are, and how each stands.

use camino::Utf8Path;
use planex_core::csv::Table;
use planex_sys::fs;
use planex_sys::lock::{Holder, SessionLock};

use super::find::{Found, find_all};
use super::meta::{Ending, Meta, Workflow};
use crate::error::Result;
use crate::store::SessionPaths;

/// How a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionStatus {
    /// A process drives it.
    Running(Option<Holder>),
    /// It waits for the answer to this gate.
    Waiting(String),
    /// It stopped in the middle; `planex resume` goes on.
    Stopped,
    /// All done.
    Completed,
    /// Done, with failed or skipped tasks.
    Failed,
    /// Cancelled.
    Cancelled,
}

impl SessionStatus {
    /// One word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Running(_) => "running",
            Self::Waiting(_) => "waiting",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing is left to do unless someone asks for it.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Running(_) | Self::Waiting(_) | Self::Stopped => false,
        }
    }
}

/// Rows of a session by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Completed.
    pub completed: u32,
    /// Failed.
    pub failed: u32,
    /// Skipped.
    pub skipped: u32,
    /// Not run yet.
    pub pending: u32,
}

impl Counts {
    /// All of them.
    #[must_use]
    pub fn total(self) -> u32 {
        self.completed + self.failed + self.skipped + self.pending
    }

    fn of(table: &Table) -> Self {
        let mut counts = Self::default();
        for row in 0..table.rows.len() {
            // An output whose input had a `status` column has ours under another name (spec 10, *fanout*).
            let cell = table.cell(row, "result_status").or_else(|| table.cell(row, "status")).unwrap_or_default();
            match cell.trim().to_lowercase().as_str() {
                "completed" => counts.completed += 1,
                "failed" => counts.failed += 1,
                "skipped" | "blocked" => counts.skipped += 1,
                _ => counts.pending += 1,
            }
        }
        counts
    }
}

/// One session in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Where it is.
    pub found: Found,
    /// What it is; `None` if `meta.json` cannot be read, with the reason.
    pub meta: Result<Meta, String>,
    /// How it stands.
    pub status: SessionStatus,
    /// Its tasks or rows.
    pub counts: Counts,
    /// Bytes on disk.
    pub size: u64,
}

/// All sessions, newest first, with what a list shows.
///
/// # Errors
/// A folder cannot be listed. One bad session hides none of the others.
pub fn list(root: &Utf8Path) -> Result<Vec<Summary>> {
    Ok(find_all(root)?.into_iter().map(|found| summary_of(&found)).collect())
}

/// One session for a list.
#[must_use]
pub fn summary_of(found: &Found) -> Summary {
    let paths = found.paths();
    let meta = Meta::load(&paths, found.workflow).map_err(|error| error.to_string());
    let status = status_of(&paths, meta.as_ref().ok());
    let counts = counts_of(&paths, meta.as_ref().ok());
    Summary { status, counts, size: fs::dir_size(paths.dir()), meta, found: found.clone() }
}

fn counts_of(paths: &SessionPaths, meta: Option<&Meta>) -> Counts {
    let file = match meta.map(|m| m.workflow) {
        Some(Workflow::Fanout) => meta.and_then(|m| m.option_str("output")).map(Into::into),
        _ => Some(paths.tasks_csv()),
    };
    let bytes = file.and_then(|file| fs::read(&file).ok()).unwrap_or_default();
    Table::parse(&bytes).map(|table| Counts::of(&table)).unwrap_or_default()
}

/// How a session stands, by its files and its lock.
#[must_use]
pub fn status_of(paths: &SessionPaths, meta: Option<&Meta>) -> SessionStatus {
    if let Ok(Some(holder)) = SessionLock::holder(&paths.lock()) {
        return SessionStatus::Running(holder);
    }
    match meta.and_then(|m| m.ended) {
        Some(Ending::Completed) => SessionStatus::Completed,
        Some(Ending::Failed) => SessionStatus::Failed,
        Some(Ending::Cancelled) => SessionStatus::Cancelled,
        None => match open_gate(paths) {
            Some(gate) => SessionStatus::Waiting(gate),
            None => SessionStatus::Stopped,
        },
    }
}

/// Id of the newest gate without an answer.
#[must_use]
pub fn open_gate(paths: &SessionPaths) -> Option<String> {
    crate::gate::open_gates(paths).ok()?.pop().map(|gate| gate.id)
}
