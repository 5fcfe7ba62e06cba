//! `planex man`.

use camino::Utf8PathBuf;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Print the man page, or write one per command
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write planex.1, planex-waves.1, … into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<Utf8PathBuf>,
}

/// Runs the command.
pub(crate) fn run(_args: &ManArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
