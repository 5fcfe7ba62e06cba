//! `planex spec`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Load, list and add the project's guidelines
#[derive(Debug, clap::Args)]
pub(crate) struct SpecArgs {
    #[command(subcommand)]
    pub(crate) command: SpecCommand,
}

/// What to do with guidelines.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SpecCommand {
    /// Print the guidelines that apply
    Load {
        /// general, exploration, planning, execution, debug, test, review or validation
        #[arg(long, default_value = "general")]
        category: String,
        /// Words that make optional guidelines apply
        #[arg(long, value_name = "WORD", num_args = 1.., value_delimiter = ',')]
        keywords: Vec<String>,
    },
    /// List all guidelines
    List,
    /// Write a new guideline
    Add {
        /// Its title
        title: String,
        /// Its text [default: standard input]
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: Option<String>,
        /// general, exploration, planning, execution, debug, test, review or validation
        #[arg(long, default_value = "general")]
        category: String,
        /// Words that make it apply, where it is optional
        #[arg(long, value_name = "WORD", value_delimiter = ',')]
        keywords: Vec<String>,
        /// Always in the prompts of its category
        #[arg(long)]
        required: bool,
    },
    /// Make .workflow/specs with a first guideline to edit
    Init,
}

/// Runs the command.
pub(crate) fn run(_args: &SpecArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
