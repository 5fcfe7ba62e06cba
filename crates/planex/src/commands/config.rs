//! `planex config`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Show and change the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value and where it comes from
    Show,
    /// Print one value
    Get {
        /// `limits.execute`, `roles.plan.agent`, …
        key: String,
    },
    /// Write one value, keeping comments and order of the file
    Set {
        /// `limits.execute`, `roles.plan.agent`, …
        key: String,
        /// The value, as TOML or as a bare word
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Into planex.toml of the project instead of your own configuration
        #[arg(long)]
        project: bool,
    },
}

/// Runs the command.
pub(crate) fn run(_args: &ConfigArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
