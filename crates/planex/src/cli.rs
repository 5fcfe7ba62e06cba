//! What may be typed: the command line as data, nothing resolved yet.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    agent, answer, cancel, completions, config, demo, discoveries, doctor, explore, fanout, init, logs, man, mcp, note,
    patch, pause, resume, schema, sessions, skip, spec, trust, undo, usage, waves,
};

/// Plan, run and check coding-agent work in waves.
///
/// planex turns a requirement into verified changes in a codebase: it explores the code, plans tasks, asks for your
/// approval, runs them in dependency waves on the coding agents you already have, and reports. Everything it knows is
/// plain files under `.workflow/`.
#[derive(Debug, Parser)]
#[command(name = "planex", version, propagate_version = false, max_term_width = 110, subcommand_required = true)]
#[command(arg_required_else_help = true, infer_subcommands = false, args_conflicts_with_subcommands = false)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub(crate) common: Common,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Shown below every `planex --help`.
const EXIT_CODES: &str = "\
Exit codes:
  0  done                       5  finished, tasks failed or were skipped
  1  planex itself failed       6  blocked by the quality gate
  2  wrong usage                7  no usable agent
  3  invalid input            130  interrupted
  4  stopped at a gate, or cancelled";

/// The commands of planex.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(alias = "workflow-lite-planex")]
    Waves(waves::WavesArgs),
    Fanout(fanout::FanoutArgs),
    Explore(explore::ExploreArgs),
    Resume(resume::ResumeArgs),
    Answer(answer::AnswerArgs),
    Sessions(sessions::SessionsArgs),
    Logs(logs::LogsArgs),
    Usage(usage::UsageArgs),
    Cancel(cancel::CancelArgs),
    Skip(skip::SkipArgs),
    Undo(undo::UndoArgs),
    Patch(patch::PatchArgs),
    Pause(pause::PauseArgs),
    Note(note::NoteArgs),
    Discoveries(discoveries::DiscoveriesArgs),
    Agent(agent::AgentArgs),
    Spec(spec::SpecArgs),
    Config(config::ConfigArgs),
    Trust(trust::TrustArgs),
    Schema(schema::SchemaArgs),
    Mcp(mcp::McpArgs),
    Init(init::InitArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Options that every command takes, before or after its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Answer planex's gates by their defaults; grants no trust, widens nothing
    #[arg(short = 'y', long, global = true)]
    pub(crate) yes: bool,
    /// Jobs at once [default: 4]
    #[arg(short, long, global = true, value_name = "N")]
    pub(crate) concurrency: Option<String>,
    /// Ask at the terminal, or stop with exit 4 [default: ask]
    #[arg(long, global = true, value_name = "HOW")]
    pub(crate) gates: Option<Gates>,
    /// This agent for every role, or for one role; may be given more than once
    #[arg(long, global = true, value_name = "[ROLE=]NAME")]
    pub(crate) agent: Vec<String>,
    /// Limit of each agent job: `90`, `90s`, `10m`
    #[arg(long, global = true, value_name = "DURATION")]
    pub(crate) timeout: Option<String>,
    /// Limit of the session's wall-clock time
    #[arg(long, global = true, value_name = "DURATION")]
    pub(crate) max_time: Option<String>,
    /// Limit of the session's cost in US dollars, where agents tell it
    #[arg(long, global = true, value_name = "USD")]
    pub(crate) max_cost: Option<String>,
    /// Limit of the session's tokens, sent and received
    #[arg(long, global = true, value_name = "N")]
    pub(crate) max_tokens: Option<String>,
    /// Tasks of one wave whose scopes overlap: move the later one, or refuse [default: serialize]
    #[arg(long, global = true, value_name = "HOW")]
    pub(crate) overlap: Option<Overlap>,
    /// A tree of its own for each task wherever there is git, or none [default: auto]
    #[arg(long, global = true, value_name = "HOW", value_parser = ["auto", "worktree", "none"])]
    pub(crate) isolation: Option<String>,
    /// A change outside of a task's scope: fail the task, or report it [default: enforce]
    #[arg(long, global = true, value_name = "HOW", value_parser = ["enforce", "warn"])]
    pub(crate) scope: Option<String>,
    /// Where results go: tree, patch, or branch=NAME [default: tree]
    #[arg(long, global = true, value_name = "WHERE")]
    pub(crate) into: Option<String>,
    /// Believe tasks: do not run their commands
    #[arg(long, global = true)]
    pub(crate) no_verify: bool,
    /// Do not run the project's tests before the first task counts
    #[arg(long, global = true)]
    pub(crate) no_baseline: bool,
    /// Start no agent: show prompts, batches and commands
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Events as JSON Lines on stdout, everything human on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Where the search for the project starts and agents work
    #[arg(short = 'C', long = "cd", global = true, value_name = "DIR")]
    pub(crate) cd: Option<Utf8PathBuf>,
    /// Trust this repository's configuration for this run
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    /// Say more; twice: everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Say only what is needed
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Colours [default: auto]
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<ColorWhen>,
    /// No moving progress display
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// `--gates`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Gates {
    /// Ask at the terminal; without one the same as defer
    Ask,
    /// Stop with exit 4 and say how to answer
    Defer,
}

/// `--overlap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Overlap {
    /// The later task moves to a later wave
    Serialize,
    /// The plan is refused
    Error,
}

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// At a terminal, unless `NO_COLOR` or `CI` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
