//! `planex fanout`.

use camino::Utf8PathBuf;

use crate::commands::mode::ModeArg;
use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Run one agent job for each row of a CSV file
///
/// `{column}` in the instruction is replaced by the row's value. The results are in `{stem}.results.csv`, in the order
/// of the input, whole at any moment.
#[derive(Debug, clap::Args)]
pub(crate) struct FanoutArgs {
    /// The rows
    #[arg(value_name = "JOBS.csv")]
    pub(crate) jobs: Utf8PathBuf,
    /// What each job is asked: a template with `{column}`, `{{` and `}}` for braces
    #[arg(long, value_name = "TEMPLATE.md")]
    pub(crate) instruction: Utf8PathBuf,
    /// Column with the ids of the rows [default: row-1, row-2, …]
    #[arg(long, value_name = "COL")]
    pub(crate) id_column: Option<String>,
    /// Where the results go [default: {stem}.results.csv beside the input]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// JSON Schema that every result must satisfy
    #[arg(long, value_name = "schema.json")]
    pub(crate) output_schema: Option<Utf8PathBuf>,
    /// The same as --timeout
    #[arg(long, value_name = "SECONDS", conflicts_with = "timeout")]
    pub(crate) max_runtime: Option<String>,
    /// What jobs may do to files
    #[arg(long, value_name = "MODE", default_value = "analysis")]
    pub(crate) mode: ModeArg,
    /// How often a failed row is tried again
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) retries: u32,
    /// Run only the rows that are not completed
    #[arg(long = "continue")]
    pub(crate) go_on: bool,
}

/// Runs the command.
pub(crate) fn run(_args: &FanoutArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
