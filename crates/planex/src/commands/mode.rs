//! `--mode`.

use clap::ValueEnum;
use planex_core::job::Mode;

/// What a job may do to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Read only
    Analysis,
    /// Change files below the working folder
    Write,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Analysis => Self::Analysis,
            ModeArg::Write => Self::Write,
        }
    }
}
