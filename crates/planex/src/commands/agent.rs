//! `planex agent`.

use camino::Utf8PathBuf;
use planex_agents::{Login, Probe};
use planex_core::text::one_line;

use crate::commands::mode::ModeArg;
use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::{agents, native, runtime};
use crate::setup::Setup;
use crate::ui::Ui;
use crate::ui::table::Table;

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
pub(crate) fn run(args: &AgentArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    match &args.command {
        AgentCommand::List => list(context, ui),
        AgentCommand::Check { .. } | AgentCommand::Run(_) => Err(CliError::failed("not built in yet")),
    }
}

fn list(context: &Context, ui: &mut Ui) -> Result<Exit> {
    // What an untrusted planex.toml names is listed as far as it is in force: not at all.
    let setup = Setup::read(context)?;
    let set = agents(&setup, context, native(&setup), Vec::new());
    let names = set.names();
    let probes = runtime()?.block_on(set.probe_all(names.iter().map(String::as_str)));
    let mut table = Table::new(&["agent", "usable", "version", "login", "can"]);
    for probe in &probes {
        if ui.is_json() {
            ui.json_line(probe);
        }
        let usable = if probe.usable() { "yes" } else { "no" };
        let version = probe.version.clone().unwrap_or_else(|| "-".to_owned());
        table.row([probe.name.clone(), usable.to_owned(), version, login(probe).to_owned(), abilities(probe)]);
    }
    if !ui.is_json() {
        ui.table(&table);
    }
    for probe in &probes {
        if let Some(remedy) = probe.remedy() {
            ui.status(format_args!("{}: {}", one_line(&probe.name), one_line(&remedy)));
        }
    }
    Ok(Exit::Done)
}

fn login(probe: &Probe) -> &'static str {
    match (&probe.found, &probe.login) {
        (None, _) => "not found",
        (Some(_), Login::LoggedIn) => "logged in",
        (Some(_), Login::NotLoggedIn { .. }) => "not logged in",
        (Some(_), Login::Unknown) => "unknown",
    }
}

fn abilities(probe: &Probe) -> String {
    let Some(can) = &probe.capabilities else { return String::new() };
    let all = [
        (can.write, "write"),
        (can.structured, "structured"),
        (can.mcp, "mcp"),
        (can.resume, "resume"),
        (can.tokens, "tokens"),
        (can.cost, "cost"),
        (can.sandbox, "sandbox"),
    ];
    all.iter().filter(|(yes, _)| *yes).map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}
