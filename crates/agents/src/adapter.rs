//! What an agent is to planex: a pure builder of its command and a pure reader of its lines.
//!
//! Adapters do no I/O, read no clock and no environment. Exact flags, events and end conditions are those measured for
//! the pinned versions; they move, so each adapter is small and in one file.

use std::collections::BTreeMap;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::job::{Exit, JobSpec, Usage};
use planex_core::settings::AgentSettings;
use planex_sys::env::Environment;
use serde_json::Value;

use crate::fault::Fault;

/// Largest argument that Linux takes is 128 KiB; what could be longer than this many bytes goes by file or not at all.
pub const MAX_ARGUMENT: usize = 96 * 1024;

/// The tools of planex's own MCP server that a job may call.
pub const MCP_TOOLS: [&str; 2] = ["report_agent_job_result", "discovery_add"];

/// The name under which planex's MCP server is given to agents.
pub const MCP_SERVER: &str = "planex";

/// The server that takes reports and discoveries of one run: started by the agent, over stdio.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServer {
    /// Its program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables it is given explicitly, since some agents hand none down. The driver adds the run's `PLANEX_*`.
    pub env: BTreeMap<String, String>,
}

/// Files of one run, absolute paths. The driver writes them; adapters only name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFiles {
    /// The run's folder.
    pub dir: Utf8PathBuf,
    /// The prompt (`PLANEX_PROMPT_FILE`).
    pub prompt: Utf8PathBuf,
    /// The result schema (`PLANEX_SCHEMA_FILE`), where there is one.
    pub schema: Option<Utf8PathBuf>,
    /// The row or task as JSON (`PLANEX_ROW_FILE`), where there is one.
    pub item: Option<Utf8PathBuf>,
    /// Where the agent may leave its result (`PLANEX_RESULT_FILE`).
    pub result: Utf8PathBuf,
    /// Where `planex mcp` appends reports.
    pub reports: Utf8PathBuf,
    /// The run's own temporary folder (`TMPDIR`), removed afterwards.
    pub tmp: Utf8PathBuf,
}

impl RunFiles {
    /// The names below `spec.run_dir`.
    #[must_use]
    pub fn new(spec: &JobSpec) -> Self {
        let at = |name: &str| spec.run_dir.join(name);
        Self {
            dir: spec.run_dir.clone(),
            prompt: at("prompt.md"),
            schema: spec.schema.as_ref().map(|_| at("schema.json")),
            item: spec.item.as_ref().map(|_| at("item.json")),
            result: at("answer.json"),
            reports: at("reports.ndjson"),
            tmp: at("tmp"),
        }
    }
}

/// What is known about this start beside the job itself.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The program and its leading arguments, never empty.
    pub program: &'a [String],
    /// The configuration `[agents.NAME]`; default where there is none.
    pub settings: &'a AgentSettings,
    /// Planex's MCP server for this run, if it is offered.
    pub mcp: Option<&'a McpServer>,
    /// The environment the agent inherits, configured variables included (to merge into, never to drop from).
    pub environment: &'a Environment,
}

/// What goes to the agent's standard input, which is closed afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinPlan {
    /// The prompt.
    Prompt,
    /// Nothing: `/dev/null`.
    Null,
}

/// How an agent is started for one job: plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments; never a shell line, never the prompt.
    pub argv: Vec<String>,
    /// Added to the inherited environment.
    pub env: BTreeMap<String, String>,
    /// Removed from the inherited environment.
    pub env_remove: Vec<String>,
    /// Standard input.
    pub stdin: StdinPlan,
    /// Files to write first: absolute path below the run's folder, content.
    pub files: Vec<(Utf8PathBuf, String)>,
}

impl Invocation {
    /// An invocation of `argv` with the prompt on standard input and nothing else.
    #[must_use]
    pub fn of(argv: Vec<String>) -> Self {
        Self { argv, env: BTreeMap::new(), env_remove: Vec::new(), stdin: StdinPlan::Prompt, files: Vec::new() }
    }
}

/// What one line of an agent's output says.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// The agent's own session id.
    Session(String),
    /// What it is doing right now, one line, not yet masked.
    Activity(String),
    /// A tool call began; the idle watchdog rests while one is open.
    ToolStarted(String),
    /// It ended.
    ToolFinished(String),
    /// Tokens and cost so far; cumulative per thread where [`Adapter::usage_is_cumulative`].
    Usage(Usage),
    /// The end condition is met: nothing more is to come but the end of the process.
    Finished,
    /// The agent will not get anywhere by itself (it retries what planex must decide, or loops): end it, with this.
    GiveUp(Fault),
}

/// What the whole output came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ending {
    /// The agent's end condition was met, with a clean error field.
    pub well: bool,
    /// What went wrong, when it did not end well.
    pub fault: Option<Fault>,
    /// The final text (bounded by the reader).
    pub text: String,
    /// The native structured output.
    pub structured: Option<Value>,
    /// The agent's own session id.
    pub session: Option<String>,
    /// Tokens and cost; cumulative per thread where [`Adapter::usage_is_cumulative`].
    pub usage: Usage,
    /// The model that ran, where the agent tells.
    pub model: Option<String>,
    /// Things to say: denied permissions, warnings, a failed MCP server.
    pub notes: Vec<String>,
}

/// Reads the output of one run, line by line. Never panics, keeps bounded memory.
pub trait Reader: Send {
    /// One line of standard output, without its end.
    fn line(&mut self, line: &str) -> Vec<AgentEvent>;

    /// One line of standard error, without its end.
    fn error_line(&mut self, line: &str) -> Vec<AgentEvent> {
        let _ = line;
        Vec::new()
    }

    /// After the last line. `stderr_tail` holds the last few KiB of standard error.
    fn finish(&mut self, exit: &Exit, stderr_tail: &str) -> Ending;
}

/// How an agent is asked to end, before SIGTERM and SIGKILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndBy {
    /// SIGINT to the agent itself.
    Interrupt,
    /// SIGTERM at once: SIGINT would do harm or nothing.
    Terminate,
}

/// Where a result may come from beside MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sources {
    /// Native output, result file, text.
    All,
    /// The result file only.
    File,
    /// The text only.
    Text,
}

/// What an agent can do; shown by `planex agent list`, and asked before a phase needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent facts, shown as such")]
pub struct Capabilities {
    /// May be given jobs of mode write.
    pub write: bool,
    /// Takes planex's MCP server per run.
    pub mcp: bool,
    /// Has native structured output.
    pub structured: bool,
    /// Can go on with an earlier session.
    pub resume: bool,
    /// A session can be gone on with only in the same working folder.
    pub resume_same_folder: bool,
    /// Tells what a run costs.
    pub cost: bool,
    /// Tells the tokens of a run.
    pub tokens: bool,
    /// Holds its commands in a sandbox of the operating system.
    pub sandbox: bool,
}

/// An agent that runs as a process.
pub trait Adapter: Send + Sync + fmt::Debug {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// The command for one job. Pure.
    fn command(&self, spec: &JobSpec, files: &RunFiles, launch: &Launch<'_>) -> Invocation;

    /// A fresh reader for one run of `spec`.
    fn reader(&self, spec: &JobSpec) -> Box<dyn Reader>;

    /// How it is asked to end.
    fn end_by(&self) -> EndBy {
        EndBy::Terminate
    }

    /// Whether its usage counts the whole thread, earlier processes included.
    fn usage_is_cumulative(&self) -> bool {
        false
    }

    /// Where a result may come from beside MCP.
    fn sources(&self) -> Sources {
        Sources::All
    }

    /// Whether a run that did not end well still counts when a valid report came by MCP or the result file.
    fn report_beats_exit(&self) -> bool {
        false
    }
}

/// `path` as an argument.
pub(crate) fn arg(path: &Utf8Path) -> String {
    path.as_str().to_owned()
}

/// The program followed by `rest`.
pub(crate) fn argv(launch: &Launch<'_>, rest: &[&str]) -> Vec<String> {
    launch.program.iter().cloned().chain(rest.iter().map(|&word| word.to_owned())).collect()
}

impl Ending {
    /// Native structured output that comes as the final text: the text, if it is JSON as a whole.
    pub(crate) fn with_text_as_structured(mut self) -> Self {
        let trimmed = self.text.trim();
        if self.structured.is_none() && trimmed.starts_with(['{', '[']) {
            self.structured = serde_json::from_str(trimmed).ok();
        }
        self
    }
}
