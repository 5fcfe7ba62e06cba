//! `planex discoveries`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Read and write the shared board of a session
#[derive(Debug, clap::Args)]
pub(crate) struct DiscoveriesArgs {
    #[command(subcommand)]
    pub(crate) command: DiscoveriesCommand,
}

/// What to do with the board.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum DiscoveriesCommand {
    /// List the entries of the board
    List {
        /// Its id, a part of it, or words in it [default: the session of the job, or the newest]
        session: Option<String>,
        /// Only this type
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
    },
    /// Add an entry to the board
    Add {
        /// code_pattern, integration_point, convention, blocker, tech_stack or test_command
        #[arg(value_name = "TYPE")]
        kind: String,
        /// Fields of the type, as NAME=VALUE
        #[arg(value_name = "NAME=VALUE", value_parser = pair)]
        fields: Vec<(String, String)>,
        /// The fields as one JSON object
        #[arg(long, value_name = "JSON", conflicts_with = "fields")]
        data: Option<String>,
        /// Session to add to [default: the session of the job, or the newest]
        #[arg(long)]
        session: Option<String>,
        /// Who found it [default: the job's task, else `user`]
        #[arg(long, value_name = "ID")]
        worker: Option<String>,
    },
}

fn pair(given: &str) -> Result<(String, String), String> {
    let (name, value) = given.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Runs the command.
pub(crate) fn run(_args: &DiscoveriesArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
