//! `planex trust`.

use camino::Utf8PathBuf;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Trust the configuration of a repository
///
/// Trust is bound to the folder and to the content: a change of what planex.toml runs or allows asks again.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Folder of the project [default: this one]
    pub(crate) dir: Option<Utf8PathBuf>,
    /// Take the trust back
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// Runs the command.
pub(crate) fn run(_args: &TrustArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
