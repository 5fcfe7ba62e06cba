//! `planex waves`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::input::text_argument;
use crate::ui::Ui;

/// Explore, plan, approve and run a requirement in waves of tasks
///
/// Five phases: angles, exploring, planning, executing, report, with a gate before exploring and one before executing.
/// The state is in `explore.csv` and `tasks.csv` of the session's folder; edit them at a gate and go on with
/// `--continue`.
#[derive(Debug, clap::Args)]
pub(crate) struct WavesArgs {
    /// What is to be done: a text, a .md or .txt file, or `-` for standard input
    #[arg(value_parser = text_argument, allow_hyphen_values = true)]
    pub(crate) requirement: Option<String>,
    /// Plan from the requirement alone
    #[arg(long)]
    pub(crate) no_explore: bool,
    /// Go on with a session: words of its id, or the newest unfinished one
    #[arg(long = "continue", value_name = "SESSION", num_args = 0..=1, conflicts_with_all = ["requirement", "no_explore"])]
    pub(crate) go_on: Option<Option<String>>,
}

/// Runs the command.
pub(crate) fn run(_args: &WavesArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
