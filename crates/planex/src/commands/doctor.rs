//! `planex doctor`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Check git, agents, configuration and leftovers, and say how to mend what is wrong
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Runs the command.
pub(crate) fn run(_args: &DoctorArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
