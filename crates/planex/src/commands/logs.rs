//! `planex logs`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Show what happened in a session, or the log of one task's agent
#[derive(Debug, clap::Args)]
pub(crate) struct LogsArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Id of a task, row or run: its agent's own output
    pub(crate) task: Option<String>,
    /// Go on showing what comes
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// Runs the command.
pub(crate) fn run(_args: &LogsArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
