//! `planex demo`.

use camino::Utf8PathBuf;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Show the whole pipeline on a small sample project, with recorded agents
///
/// No agent, account or network is used: the answers of the agents are recorded, but the files they change, the tests
/// that run and everything planex does are real.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Where the sample project goes [default: a new temporary folder]
    pub(crate) dir: Option<Utf8PathBuf>,
}

/// Runs the command.
pub(crate) fn run(_args: &DemoArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
