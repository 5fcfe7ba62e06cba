//! `planex note`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::input::text_argument;
use crate::ui::Ui;

/// Leave a note for a pending task; its agent reads it
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Id of the task
    pub(crate) task: String,
    /// The note; `-` for standard input
    #[arg(value_parser = text_argument, allow_hyphen_values = true)]
    pub(crate) text: String,
}

/// Runs the command.
pub(crate) fn run(_args: &NoteArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
