//! `planex schema`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Print the JSON Schema of a result or file
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Its name; without one the names are listed
    pub(crate) name: Option<String>,
}

/// Runs the command.
pub(crate) fn run(_args: &SchemaArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
