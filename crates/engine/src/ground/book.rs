//! How far each wave has come, on disk: `.planex/waves/0001.json`, ….
//!
//! A wave's tasks start from one snapshot. When all have ended, what they made is merged in objects, then written into
//! the user's tree, then their rows are written. Each step is in the book before the next begins, so that a planex that
//! takes up the session knows what is done: nothing is merged twice and nothing is lost.

use std::collections::BTreeMap;

use planex_core::job::JobOutcome;
use planex_isolation::{Placed, Snapshot};
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::store::SessionPaths;
use crate::verify::Check;

/// How far a wave has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Its tasks run, or their results wait for the merge.
    Running,
    /// What is merged is decided; it may be in the user's tree or not, which the journal of the write tells.
    Writing,
    /// It is in the user's tree.
    Written,
    /// The rows say so too.
    Done,
    /// It is being taken back.
    Undoing,
    /// The user took it back.
    Undone,
}

impl Phase {
    /// Whether results are decided and not yet in the rows.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Writing | Self::Written)
    }
}

/// What became of one task of a wave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskEntry {
    /// Id of the run that counts.
    pub run: String,
    /// What a job that was never started came to: there is no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<JobOutcome>,
    /// The commit of its changes; none for a run that made nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether its changes are part of the integration.
    pub merged: bool,
    /// Why it failed, where the run itself does not say so: a conflict, its scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Its commands in the merged tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Check>,
}

/// One wave that ran, or runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaveBook {
    /// Counts the waves that ran in this session, from 1; a retry runs a wave's number again.
    pub seq: u32,
    /// The wave's number.
    pub wave: u32,
    /// How far it has come.
    pub phase: Phase,
    /// What its tasks start from.
    pub base: Snapshot,
    /// What is put beside the snapshot.
    pub placed: Placed,
    /// The base with everything that was merged.
    pub integration: String,
    /// Whether the integration goes into the user's tree.
    pub into_tree: bool,
    /// Its tasks, by id, once their results are decided.
    pub tasks: BTreeMap<String, TaskEntry>,
    /// Runs whose wider scope the user accepted.
    #[serde(default)]
    pub widened: Vec<String>,
    /// Runs that the user keeps out for what they changed outside of their scope.
    #[serde(default)]
    pub kept_out: Vec<String>,
    /// Runs that count although commands that verify them could not be run.
    #[serde(default)]
    pub unverified: Vec<String>,
}

impl WaveBook {
    /// A wave that begins now.
    #[must_use]
    pub fn begin(seq: u32, wave: u32, base: Snapshot, placed: Placed, into_tree: bool) -> Self {
        let integration = base.commit.clone();
        Self {
            seq,
            wave,
            phase: Phase::Running,
            base,
            placed,
            integration,
            into_tree,
            tasks: BTreeMap::new(),
            widened: Vec::new(),
            kept_out: Vec::new(),
            unverified: Vec::new(),
        }
    }

    /// Names of its hidden refs: what its tasks started from, and what came out.
    #[must_use]
    pub fn base_ref(seq: u32) -> String {
        format!("w/{seq:04}/base")
    }

    /// See [`Self::base_ref`].
    #[must_use]
    pub fn end_ref(seq: u32) -> String {
        format!("w/{seq:04}/end")
    }

    /// Writes it.
    ///
    /// # Errors
    /// The disk fails.
    pub fn save(&self, paths: &SessionPaths) -> Result<()> {
        fs::create_dir_all(&paths.waves())?;
        let text = serde_json::to_vec_pretty(self).map_err(EngineError::internal)?;
        Ok(fs::write_atomic(&paths.wave(self.seq), &text)?)
    }

    /// All waves of a session, in the order in which they ran.
    ///
    /// # Errors
    /// One cannot be read; it is named.
    pub fn load_all(paths: &SessionPaths) -> Result<Vec<Self>> {
        if !fs::is_dir(&paths.waves()) {
            return Ok(Vec::new());
        }
        let mut books = Vec::new();
        for entry in fs::list(&paths.waves())? {
            if !entry.name.ends_with(".json") {
                continue;
            }
            let bytes = fs::read(&entry.path)?;
            let book: Self = serde_json::from_slice(&bytes).map_err(|error| {
                EngineError::internal(format!("{}:{}:{}: {error}", entry.path, error.line(), error.column()))
                    .hint("the file was changed by hand, or written by a newer planex")
            })?;
            books.push(book);
        }
        books.sort_by_key(|book| book.seq);
        Ok(books)
    }
}
