//! `planex resume`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Go on where a session stopped
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// Its id, a part of it, or words in it [default: the newest unfinished one]
    pub(crate) session: Option<String>,
    /// Run failed and skipped tasks again: all, or these
    #[arg(long, value_name = "TASK", num_args = 0..)]
    pub(crate) retry: Option<Vec<String>>,
    /// Take up a cancelled session
    #[arg(long)]
    pub(crate) reopen: bool,
}

/// Runs the command.
pub(crate) fn run(_args: &ResumeArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
