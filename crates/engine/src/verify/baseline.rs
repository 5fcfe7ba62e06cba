//! The project's own tests before the first change.

use camino::Utf8Path;
use planex_core::failures::{Compared, Failures};
use planex_core::tech::ProjectTech;
use planex_sys::fs;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Check, CheckContext, Verdict, run_check};
use crate::Result;

/// The project's own test command, run once on the files as they were, and what failed then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The run.
    pub check: Check,
    /// The tests that failed in it.
    #[serde(default)]
    pub failures: Failures,
}

impl Baseline {
    /// The command that tests the whole project, if it has one.
    #[must_use]
    pub fn command(tech: &ProjectTech) -> Option<&str> {
        tech.test_command.as_deref().map(str::trim).filter(|command| !command.is_empty() && !command.contains('\n'))
    }

    /// What an earlier [`run`](Self::run) kept at `path`. Nothing where there is none, or none that can be read: then the
    /// command is run again.
    ///
    /// # Errors
    /// The file is there, but cannot be read.
    pub fn load(path: &Utf8Path) -> Result<Option<Self>> {
        Ok(fs::read_if_exists(path)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Runs `command` in the context's folder and keeps the outcome at `path`, so that a resumed session does not run it
    /// again; what is there already for the same command is taken. `None`: it was cancelled.
    ///
    /// # Errors
    /// The outcome cannot be read or written.
    pub async fn run(
        context: &CheckContext,
        path: &Utf8Path,
        command: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<Self>> {
        if let Some(known) = Self::load(path)?.filter(|known| known.check.command == command) {
            return Ok(Some(known));
        }
        let check = run_check(context, 1, command, cancel).await;
        if check.verdict == Verdict::Interrupted {
            return Ok(None);
        }
        let failures = if check.passed() { Failures::default() } else { check.failures()? };
        let baseline = Self { check, failures };
        let text = serde_json::to_string_pretty(&baseline).map_err(crate::EngineError::internal)?;
        fs::write_atomic(path, format!("{text}\n").as_bytes())?;
        Ok(Some(baseline))
    }

    /// Whether the project was red: its tests failed, or were not done in their time.
    #[must_use]
    pub fn is_red(&self) -> bool {
        self.check.verdict.contradicts()
    }

    /// What a check that contradicts a claim says beyond what was red already. `None`: all of it counts as it is, since it
    /// is another command, or the project was green (or nobody knows), or the tests end no more.
    ///
    /// # Errors
    /// The check's log cannot be read.
    pub fn compared_with(&self, check: &Check) -> Result<Option<Compared>> {
        if !self.is_red() || !check.verdict.contradicts() || check.command.trim() != self.check.command {
            return Ok(None);
        }
        match (&check.verdict, &self.check.verdict) {
            (Verdict::TimedOut, Verdict::TimedOut) => Ok(Some(Compared::NotDecisive)),
            (Verdict::TimedOut, _) => Ok(None),
            (_, _) => Ok(Some(check.failures()?.compared_with(&self.failures))),
        }
    }
}
