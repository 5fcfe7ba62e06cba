//! `planex agent`.

use camino::Utf8PathBuf;

use crate::commands::mode::ModeArg;
use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// List, check and run coding agents
#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) command: AgentCommand,
}

/// What to do with agents.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents: found, version, logged in, what each can do
    List,
    /// Run a one-line job on an agent
    Check {
        /// Which [default: every agent that was found]
        agent: Option<String>,
    },
    /// Run one job of an agent, and keep it under an id to go on with
    Run(AgentRunArgs),
}

/// `planex agent run`.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentRunArgs {
    /// What it is asked
    #[arg(
        short,
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "file",
        conflicts_with = "file"
    )]
    pub(crate) prompt: Option<String>,
    /// Read what it is asked from a file; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<Utf8PathBuf>,
    /// Agent [default: the first usable one]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// What it may do to files
    #[arg(long, value_name = "MODE", default_value = "analysis")]
    pub(crate) mode: ModeArg,
    /// Id to keep the run under
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Go on with the run of this id
    #[arg(long, value_name = "OLD_ID")]
    pub(crate) resume: Option<String>,
    /// Model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Prompt template
    #[arg(long, value_name = "NAME")]
    pub(crate) rule: Option<String>,
}

/// Runs the command.
pub(crate) fn run(_args: &AgentArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
