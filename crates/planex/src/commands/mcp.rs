//! `planex mcp`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Serve the tools of a job over MCP on standard input and output
///
/// Started by agents inside a job; bound to that job by `PLANEX_JOB_ID` and `PLANEX_SESSION_DIR`.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {}

/// Runs the command.
pub(crate) fn run(_args: &McpArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
