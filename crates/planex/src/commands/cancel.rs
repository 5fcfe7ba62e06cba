//! `planex cancel`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Cancel a session, or some of its tasks
#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Only these tasks
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(_args: &CancelArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
