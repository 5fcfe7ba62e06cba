//! What goes wrong, with what a command exits with (spec 00, table of exit codes).
//!
//! An error is one sentence (what, where), the faults of an input as ready lines, and hints kept apart (what to do).

use std::fmt;

/// The kind of an error; each has one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// planex itself failed: a full disk, a lock held by another process.
    Internal,
    /// Wrong usage; unknown session or task.
    Usage,
    /// Invalid input; the faults are listed.
    Input,
    /// Stopped at a gate, or cancelled; the state is saved.
    Stopped,
    /// Finished, but tasks failed or were skipped.
    TasksFailed,
    /// The quality gate blocks execution.
    QualityGate,
    /// No usable agent.
    NoAgent,
    /// Ended by Ctrl-C or a signal; the state is saved.
    Interrupted,
}

impl ErrorKind {
    /// The exit code of the command.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Stopped => 4,
            Self::TasksFailed => 5,
            Self::QualityGate => 6,
            Self::NoAgent => 7,
            Self::Interrupted => 130,
        }
    }
}

/// An error of the engine: what a surface shows and what the command exits with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineError {
    /// Its kind.
    pub kind: ErrorKind,
    /// What failed and where: one sentence without a final full stop.
    pub message: String,
    /// Faults of an input, each a finished line `FILE:LINE:COLUMN: …` or `FILE: FIELD: …`.
    pub faults: Vec<String>,
    /// What to do, one sentence each.
    pub hints: Vec<String>,
}

/// Result of the engine's operations.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

impl EngineError {
    /// An error of `kind` without faults or hints.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), faults: Vec::new(), hints: Vec::new() }
    }

    /// planex itself failed.
    #[must_use]
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, message.to_string())
    }

    /// Wrong usage.
    #[must_use]
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Usage, message.to_string())
    }

    /// Invalid input with its faults, already as lines.
    #[must_use]
    pub fn input(message: impl fmt::Display, faults: Vec<String>) -> Self {
        Self { faults, ..Self::new(ErrorKind::Input, message.to_string()) }
    }

    /// The same with one more hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The exit code of the command.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.kind.exit_code()
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for fault in &self.faults {
            write!(f, "\n{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for EngineError {}

/// Every fault of reading or writing state is planex's own failure; the path is in the message.
impl From<planex_sys::fs::PathError> for EngineError {
    fn from(error: planex_sys::fs::PathError) -> Self {
        Self::internal(error)
    }
}

impl From<planex_sys::lock::LockError> for EngineError {
    fn from(error: planex_sys::lock::LockError) -> Self {
        Self::internal(error).hint("wait until it is done, or end it; `planex sessions show` says how it stands")
    }
}

impl From<planex_sys::fs::JoinError> for EngineError {
    fn from(error: planex_sys::fs::JoinError) -> Self {
        Self::new(ErrorKind::Input, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_table() {
        let all = [
            (ErrorKind::Internal, 1),
            (ErrorKind::Usage, 2),
            (ErrorKind::Input, 3),
            (ErrorKind::Stopped, 4),
            (ErrorKind::TasksFailed, 5),
            (ErrorKind::QualityGate, 6),
            (ErrorKind::NoAgent, 7),
            (ErrorKind::Interrupted, 130),
        ];
        for (kind, code) in all {
            assert_eq!(kind.exit_code(), code, "{kind:?}");
        }
    }

    #[test]
    fn faults_follow_the_message_line_by_line() {
        let error =
            EngineError::input("jobs.csv cannot be used", vec!["jobs.csv:2:1: empty id".into()]).hint("mend it");
        assert_eq!(error.to_string(), "jobs.csv cannot be used\njobs.csv:2:1: empty id");
        assert_eq!(error.hints, ["mend it"]);
    }
}
