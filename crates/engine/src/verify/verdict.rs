//! What a command came to.

use std::fmt;

use camino::Utf8PathBuf;
use planex_core::failures::Failures;
use planex_core::job::Exit;
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Codes by which a shell says that it found a program, but could not start it, and that it found none.
const NOT_RUN: [(i32, &str); 2] =
    [(126, "a program of it cannot be started (126)"), (127, "a program of it was not found (127)")];

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It ended with 0.
    Passed,
    /// It ended with another code.
    Failed {
        /// The code; 128 and the number of the signal where one ended it.
        code: i32,
    },
    /// It proves nothing: it could not be started, or the shell said so (126, 127). Not a failed test.
    CouldNotRun {
        /// Why, in a few words.
        reason: String,
    },
    /// Its time limit ended it.
    TimedOut,
    /// It failed, and no more than before any task: it says nothing about this one.
    RedBefore,
    /// It was ended, or not begun, because planex was asked to end.
    Interrupted,
}

impl Verdict {
    /// The verdict over a process that ended by itself.
    pub(super) fn of(exit: Exit) -> Self {
        let code = match exit {
            Exit::Code(0) => return Self::Passed,
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
            Exit::Lost => return Self::could_not_run("the process that watched it was killed"),
        };
        let not_run = NOT_RUN.iter().find(|(known, _)| *known == code);
        not_run.map_or(Self::Failed { code }, |(_, reason)| Self::could_not_run(*reason))
    }

    pub(super) fn could_not_run(reason: impl Into<String>) -> Self {
        Self::CouldNotRun { reason: reason.into() }
    }

    /// Whether it contradicts a claim that the command succeeds: it failed, or was not done in its time.
    #[must_use]
    pub fn contradicts(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::TimedOut)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed { code } => write!(f, "failed with code {code}"),
            Self::CouldNotRun { reason } => write!(f, "could not be run: {reason}"),
            Self::RedBefore => f.write_str("fails as it did before"),
            Self::TimedOut => f.write_str("was not done in its time"),
            Self::Interrupted => f.write_str("was ended before it was done"),
        }
    }
}

/// One command that planex ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The shell line, as approved.
    pub command: String,
    /// What it came to.
    pub verdict: Verdict,
    /// Wall-clock seconds.
    pub duration_s: f64,
    /// The last 3,000 characters of what it printed: masked, without terminal sequences, still foreign text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// What it printed, masked and capped. Not there if it was not begun.
    pub log: Utf8PathBuf,
    /// Whether something of what it printed is not in the log.
    #[serde(default)]
    pub cut: bool,
    /// What was said beside the verdict: a log that is not complete, processes that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Check {
    /// Whether the command ended with 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Passed
    }

    /// The tests that failed, as far as its output tells.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn failures(&self) -> Result<Failures> {
        Ok(Failures::read(&self.output()?, self.cut))
    }

    /// What it printed, bytes that are no UTF-8 replaced; empty if there is no log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn output(&self) -> Result<String> {
        let bytes = fs::read_if_exists(&self.log)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
