//! `planex agent`.

use camino::Utf8PathBuf;
use planex_agents::{Login, Probe};
use planex_core::job::{CauseKind, JobOutcome, JobStatus, Mode};
use planex_core::text::{one_line, safe};
use planex_engine::engine::NATIVE;
use planex_engine::registry::resume_command;
use planex_engine::single::Single;
use planex_engine::store::SessionPaths;

use crate::commands::mode::ModeArg;
use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::{Host, agents, mcp_server, native, runtime};
use crate::input;
use crate::setup::{Setup, unknown_tools};
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
        AgentCommand::Check { agent } => check(agent.as_deref(), context, ui),
        AgentCommand::Run(args) => run_one(args, context, ui),
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
    let named = unknown_tools(&setup);
    for name in &named {
        if ui.is_json() {
            ui.json_line(&serde_json::json!({ "name": name, "found": null, "how_to_get": no_command(name) }));
        }
        table.row([name.as_str(), "no", "-", "no command", ""].map(str::to_owned));
    }
    if !ui.is_json() {
        ui.table(&table);
    }
    for name in &named {
        ui.status(format_args!("{}: {}", one_line(name), no_command(name)));
    }
    for probe in &probes {
        if let Some(remedy) = probe.remedy() {
            ui.status(format_args!("{}: {}", one_line(&probe.name), one_line(&remedy)));
        }
    }
    Ok(Exit::Done)
}

fn no_command(name: &str) -> String {
    format!("named by cli-tools.json, no command: set [agents.{}]", one_line(name))
}

/// What an agent is asked to show that it works.
const CHECK: &str = "This is a test of the connection. Answer with the one word: ok";

fn check(agent: Option<&str>, context: &Context, ui: &mut Ui) -> Result<Exit> {
    if context.common.dry_run {
        return Err(CliError::usage("`planex agent check` runs jobs; there is nothing to show without")
            .hint("`planex agent list` starts none"));
    }
    let setup = Setup::trusted(context, ui)?;
    let folder = scratch(&setup)?;
    let host = Host::new(setup, context, ui, "agent check")?;
    let names = match agent {
        Some(name) => vec![name.to_owned()],
        None => host.run(|engine| async {
            let names = engine.agents.names();
            let probes = engine.agents.probe_all(names.iter().map(String::as_str)).await;
            probes.into_iter().filter(|p| p.usable() && p.name != NATIVE).map(|p| p.name).collect()
        }),
    };
    let paths = SessionPaths::new(folder.clone());
    let mut exit = if names.is_empty() { Exit::NoAgent } else { Exit::Done };
    for name in &names {
        let single = Single { agent: Some(name.clone()), ..single(CHECK.to_owned(), Mode::Analysis, context) };
        let outcome = host.run(|engine| planex_engine::single::run(engine, &single, &paths, |_| {}));
        let (works, said) = match outcome {
            Ok(outcome) if outcome.status == JobStatus::Completed => (true, format!("{:.1} s", outcome.duration_s)),
            Ok(outcome) => (false, outcome.cause.map_or_else(|| "failed".to_owned(), |cause| cause.to_string())),
            Err(error) if agent.is_some() => return Err(error.into()),
            Err(error) => (false, error.to_string()),
        };
        if ui.is_json() {
            ui.json_line(&serde_json::json!({ "agent": name, "works": works, "said": said }));
        } else {
            let word = if works { "works" } else { "fails" };
            ui.result(format_args!("{}  {word}  {}", planex_core::text::pad(name, 10), one_line(&said)));
        }
        if !works {
            exit = Exit::NoAgent;
        }
    }
    if names.is_empty() {
        return Err(CliError::new(Exit::NoAgent, "no agent was found").hint("`planex agent list` says how to get one"));
    }
    planex_sys::fs::remove_dir_all(&folder)?;
    Ok(exit)
}

/// A folder for runs that nobody wants to keep.
fn scratch(setup: &Setup) -> Result<Utf8PathBuf> {
    let base = setup
        .folders
        .cache
        .clone()
        .ok_or_else(|| CliError::failed("there is no cache folder to work in").hint("set HOME"))?;
    Ok(base.join(format!("check-{}", std::process::id())))
}

fn single(prompt: String, mode: Mode, context: &Context) -> Single {
    Single { prompt, rule: None, agent: None, mode, id: None, resume: None, model: None, cwd: context.dir.clone() }
}

fn run_one(args: &AgentRunArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let prompt = match (&args.prompt, &args.file) {
        (Some(prompt), _) => prompt.clone(),
        (None, Some(file)) if file == "-" => input::from_stdin()?,
        (None, Some(file)) => input::from_file(&context.path(file))?,
        (None, None) => return Err(CliError::usage("no prompt given").hint("give one with -p or --file")),
    };
    let dry = context.common.dry_run;
    let setup = if dry { Setup::read(context)? } else { Setup::trusted(context, ui)? };
    if !dry {
        setup.project.exclude_workflow(&context.env)?;
    }
    let host = Host::new(setup, context, ui, "agent run")?;
    let job = Single {
        rule: args.rule.clone(),
        agent: args.tool.clone(),
        id: args.id.clone(),
        resume: args.resume.clone(),
        model: args.model.clone(),
        ..single(prompt, args.mode.into(), context)
    };
    let paths = planex_engine::single::store(&host.engine);
    if dry {
        let mcp = mcp_server();
        let preview = host.run(|engine| planex_engine::single::preview(engine, &job, &paths, mcp.as_ref()))?;
        crate::preview::single(&preview, ui);
        return Ok(Exit::Done);
    }
    let mut told = ui.clone();
    let outcome =
        host.run(|engine| planex_engine::single::run(engine, &job, &paths, |text| told.detail(one_line(text))))?;
    show_outcome(&outcome, ui)
}

fn show_outcome(outcome: &JobOutcome, ui: &mut Ui) -> Result<Exit> {
    if ui.is_json() {
        ui.json_line(outcome);
    } else if !outcome.text.is_empty() {
        ui.result(safe(outcome.text.trim_end()));
    }
    for note in &outcome.notes {
        ui.detail(safe(note));
    }
    ui.status(format_args!("run {} ({})", outcome.run_id, outcome.agent));
    if outcome.status == JobStatus::Completed {
        return Ok(Exit::Done);
    }
    let cause = outcome.cause.as_ref().map_or_else(|| format!("{:?}", outcome.status), ToString::to_string);
    let kind = match (outcome.status, outcome.cause.as_ref().map(|cause| cause.kind)) {
        (JobStatus::Cancelled, _) => Exit::Interrupted,
        (_, Some(CauseKind::AgentNotUsable | CauseKind::Auth)) => Exit::NoAgent,
        _ => Exit::TasksFailed,
    };
    let error = CliError::new(kind, cause);
    Err(match &outcome.agent_session {
        Some(_) => error.hint(format!("go on with: {}", resume_command(&outcome.run_id, &outcome.agent))),
        None => error,
    })
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
