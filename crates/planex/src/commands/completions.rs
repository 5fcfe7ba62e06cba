//! `planex completions`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Runs the command.
pub(crate) fn run(_args: &CompletionsArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
