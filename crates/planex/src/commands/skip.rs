//! `planex skip`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Skip tasks of a session that did not start yet
#[derive(Debug, clap::Args)]
pub(crate) struct SkipArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Tasks to skip
    #[arg(value_name = "TASK", required = true)]
    pub(crate) tasks: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(_args: &SkipArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
