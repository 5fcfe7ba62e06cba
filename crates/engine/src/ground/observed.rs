//! What planex itself found about a run, whatever the agent says (spec 70, *Truth over claims*).

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::job::JobOutcome;
use planex_core::rows::{RowStatus, TaskRow};
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::verify::{Check, Verdict};

/// Longest part of a list of paths in an error, in paths.
const SHOWN: usize = 8;

/// What planex found about a run in a tree of its own. Written beside the run's result, before that.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Observed {
    /// The commit that the run started from.
    pub base: String,
    /// What it made, as a commit on top; the same as `base` if it changed nothing.
    pub commit: String,
    /// Changed paths, relative to the project.
    #[serde(default)]
    pub changed: Vec<Utf8PathBuf>,
    /// Those of them outside of the task's scope.
    #[serde(default)]
    pub outside: Vec<Utf8PathBuf>,
    /// What was made and can be no part of the result: protected files, changes inside submodules, repositories.
    #[serde(default)]
    pub refused: Vec<String>,
    /// What else there is to say: a stash, commits on other branches.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The commands that planex ran in the tree.
    #[serde(default)]
    pub checks: Vec<Check>,
}

impl Observed {
    fn path(run_dir: &Utf8Path) -> Utf8PathBuf {
        run_dir.join("observed.json")
    }

    /// What was found about the run in this folder; nothing for a run in the user's own tree.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn load(run_dir: &Utf8Path) -> Result<Option<Self>> {
        let Some(bytes) = fs::read_if_exists(&Self::path(run_dir))? else { return Ok(None) };
        let observed = serde_json::from_slice(&bytes)
            .map_err(|error| EngineError::internal(format!("{}: {error}", Self::path(run_dir))))?;
        Ok(Some(observed))
    }

    pub(crate) fn save(&self, run_dir: &Utf8Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(EngineError::internal)?;
        Ok(fs::write_atomic(&Self::path(run_dir), &text)?)
    }

    /// Whether the run changed anything.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.base != self.commit
    }

    /// Why nothing of the run may be merged, if `enforce` is set; a command that failed is no such reason.
    #[must_use]
    pub fn refusal(&self, enforce: bool) -> Option<String> {
        if !self.refused.is_empty() {
            return Some(format!("made what cannot be merged: {}", some(&self.refused)));
        }
        (enforce && !self.outside.is_empty()).then(|| format!("changed outside of its scope: {}", some(&self.outside)))
    }

    /// What contradicts the claim that the tests pass.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        contradiction(&self.checks)
    }
}

/// Commands that could not be run, each with the reason.
pub(crate) fn not_run_of(checks: &[Check]) -> Vec<String> {
    let not_run = |check: &Check| match &check.verdict {
        Verdict::CouldNotRun { reason } => Some(format!("`{}`: {reason}", check.command)),
        Verdict::Passed | Verdict::Failed { .. } | Verdict::TimedOut | Verdict::RedBefore | Verdict::Interrupted => {
            None
        }
    };
    checks.iter().filter_map(not_run).collect()
}

/// Whether a run's own report says that all went well.
pub(crate) fn claims_success(outcome: &JobOutcome) -> bool {
    let mut row = TaskRow::default();
    row.take(outcome, Vec::new());
    row.status == RowStatus::Completed
}

/// The first command that did not succeed, with the last line that it printed.
pub(crate) fn contradiction(checks: &[Check]) -> Option<String> {
    let failed = checks.iter().find(|check| check.verdict.contradicts())?;
    let last = failed.tail.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let said = if last.is_empty() { String::new() } else { format!(": {last}") };
    Some(format!("`{}` {}{said}", failed.command, failed.verdict))
}

/// The first entries of a list, and how many more there are.
pub(crate) fn some<T: std::fmt::Display>(list: &[T]) -> String {
    let shown: Vec<String> = list.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = list.len().saturating_sub(shown.len());
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
