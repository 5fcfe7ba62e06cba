//! `planex init`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Prepare a project: planex.toml and what planex learns about it
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Write again what is there (planex.toml is never overwritten)
    #[arg(long)]
    pub(crate) force: bool,
}

/// Runs the command.
pub(crate) fn run(_args: &InitArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
