//! `planex usage`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Sum tokens and cost per agent, model, role and session
#[derive(Debug, clap::Args)]
pub(crate) struct UsageArgs {
    /// Only this session
    pub(crate) session: Option<String>,
}

/// Runs the command.
pub(crate) fn run(_args: &UsageArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
