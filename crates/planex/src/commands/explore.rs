//! `planex explore`.

use camino::Utf8PathBuf;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::input::text_argument;
use crate::ui::Ui;

/// Find the files that matter for a text, without a model
#[derive(Debug, clap::Args)]
pub(crate) struct ExploreArgs {
    /// A task, issue, error message or stack trace; `-` for standard input
    #[arg(value_parser = text_argument, allow_hyphen_values = true, conflicts_with = "file")]
    pub(crate) text: Option<String>,
    /// Read the text from a file
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<Utf8PathBuf>,
    /// Point of view: architecture, security, testing, …
    #[arg(long)]
    pub(crate) angle: Option<String>,
    /// Print only paths, one a line, best first
    #[arg(long)]
    pub(crate) paths: bool,
    /// How many files [default: 20]
    #[arg(short = 'n', value_name = "K")]
    pub(crate) count: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(_args: &ExploreArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
