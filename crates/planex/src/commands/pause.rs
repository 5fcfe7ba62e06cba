//! `planex pause`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Stop a session after the jobs that run now
#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
}

/// Runs the command.
pub(crate) fn run(_args: &PauseArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
