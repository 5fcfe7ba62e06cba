//! What went wrong, as people see it: a kind (the exit code), the error, and hints kept apart.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use planex_engine::{EngineError, ErrorKind};

use crate::ui::Ui;

/// The exit codes of planex (spec 00, *Commands*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// planex itself failed.
    Failed,
    /// Wrong usage; unknown session or task.
    Usage,
    /// Invalid input.
    Input,
    /// Stopped at a gate, or cancelled.
    Stopped,
    /// Finished, but tasks failed or were skipped.
    TasksFailed,
    /// The quality gate blocks execution.
    Blocked,
    /// No usable agent.
    NoAgent,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// Every code, in the order of the specification.
    #[cfg(test)]
    const ALL: [Self; 9] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Input,
        Self::Stopped,
        Self::TasksFailed,
        Self::Blocked,
        Self::NoAgent,
        Self::Interrupted,
    ];

    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Stopped => 4,
            Self::TasksFailed => 5,
            Self::Blocked => 6,
            Self::NoAgent => 7,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error with its exit code and what the user can do about it.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Exit,
    message: String,
    /// Each a line of its own: `FILE:LINE:COLUMN: …`, or what there is to choose from.
    faults: Vec<String>,
    hints: Vec<String>,
}

/// What commands return.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

impl CliError {
    /// What went wrong, for a sentence around it.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// An error of `kind`.
    pub(crate) fn new(kind: Exit, message: impl Display) -> Self {
        Self { kind, message: message.to_string(), faults: Vec::new(), hints: Vec::new() }
    }

    /// planex itself failed (exit 1).
    pub(crate) fn failed(message: impl Display) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// Wrong usage (exit 2).
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Invalid input (exit 3).
    pub(crate) fn input(message: impl Display) -> Self {
        Self::new(Exit::Input, message)
    }

    /// Adds faults, each a line.
    pub(crate) fn faults(mut self, faults: impl IntoIterator<Item = impl Display>) -> Self {
        self.faults.extend(faults.into_iter().map(|fault| fault.to_string()));
        self
    }

    /// Adds what the user can do.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    /// Shows the error on stderr; the exit code is returned. A broken pipe is success: the reader had enough.
    pub(crate) fn report(&self, ui: &mut Ui) -> Exit {
        if ui.pipe_is_broken() {
            return Exit::Done;
        }
        ui.error(&self.message, &self.faults, &self.hints);
        self.kind
    }
}

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        let kind = match error.kind {
            ErrorKind::Internal => Exit::Failed,
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Input => Exit::Input,
            ErrorKind::Stopped => Exit::Stopped,
            ErrorKind::TasksFailed => Exit::TasksFailed,
            ErrorKind::QualityGate => Exit::Blocked,
            ErrorKind::NoAgent => Exit::NoAgent,
            ErrorKind::Interrupted => Exit::Interrupted,
        };
        Self { kind, message: error.message, faults: error.faults, hints: error.hints }
    }
}

impl From<planex_sys::fs::PathError> for CliError {
    fn from(error: planex_sys::fs::PathError) -> Self {
        Self::failed(error)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::failed(error)
    }
}

/// Shows what clap has to say (help, version, or a usage error with exit 2).
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
    match error.print() {
        // A closed pipe (`planex --help | head -1`) is success.
        Err(lost) if exit == Exit::Done && lost.kind() != io::ErrorKind::BrokenPipe => {
            let text = format!("error: failed to write to standard output: {lost}\n");
            // Where standard error does not work either there is nobody to tell.
            let _ = io::stderr().write_all(text.as_bytes());
            Exit::Failed.into()
        }
        _ => exit.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn codes_are_those_of_the_specification() {
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 4, 5, 6, 7, 130]);
    }
}
