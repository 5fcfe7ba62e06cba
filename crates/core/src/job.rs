//! A job: one run of one agent, as plain data (spec 10, *A job*).
//!
//! [`JobSpec`] is all that goes in, [`JobOutcome`] all that comes out. The outcome is what `runs/<job>/result.json`
//! holds: once that file is flushed the job counts as finished.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a job may do to the files of its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Read-only.
    Analysis,
    /// May change files below its working folder.
    Write,
}

impl Mode {
    /// The word of the interface: `analysis` or `write`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Analysis => "analysis",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a job is for; configuration (model, time limit, fall-backs) hangs on it (spec 10, *Roles*).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation; spec 10 explains each by its result schema")]
pub enum Role {
    Assess,
    Explore,
    Clarify,
    Structure,
    Context,
    Conflict,
    Plan,
    Execute,
    Verify,
    Replan,
    Review,
    Converge,
    Fix,
    Job,
}

impl Role {
    /// Every role, in the order of the specification.
    pub const ALL: [Self; 14] = [
        Self::Assess,
        Self::Explore,
        Self::Clarify,
        Self::Structure,
        Self::Context,
        Self::Conflict,
        Self::Plan,
        Self::Execute,
        Self::Verify,
        Self::Replan,
        Self::Review,
        Self::Converge,
        Self::Fix,
        Self::Job,
    ];

    /// The word of the interface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assess => "assess",
            Self::Explore => "explore",
            Self::Clarify => "clarify",
            Self::Structure => "structure",
            Self::Context => "context",
            Self::Conflict => "conflict",
            Self::Plan => "plan",
            Self::Execute => "execute",
            Self::Verify => "verify",
            Self::Replan => "replan",
            Self::Review => "review",
            Self::Converge => "converge",
            Self::Fix => "fix",
            Self::Job => "job",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.as_str() == s).ok_or_else(|| UnknownRole(s.to_owned()))
    }
}

/// A word that names no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown role `{0}`")]
pub struct UnknownRole(pub String);

/// Everything one run of one agent is given.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSpec {
    /// Fixed id of the run: `{session}-{group or task}`, retries `…-retry`, `…-retry-2`; checked by [`crate::id`].
    pub run_id: String,
    /// What it is for.
    pub role: Role,
    /// What it may do.
    pub mode: Mode,
    /// The whole prompt, already capped.
    pub prompt: String,
    /// Working folder, absolute.
    pub cwd: Utf8PathBuf,
    /// The session's folder, absolute (`PLANEX_SESSION_DIR`).
    pub session_dir: Utf8PathBuf,
    /// Folder of this run's own files (prompt, log, result), absolute: `<session>/.planex/runs/<run_id>`.
    pub run_dir: Utf8PathBuf,
    /// JSON Schema that the result must satisfy; `None`: the final text is the result.
    pub schema: Option<Value>,
    /// The id a report must carry (`id`, when it carries one at all), for tasks and rows.
    pub expected_id: Option<String>,
    /// The row or task as a JSON object (`PLANEX_ROW_FILE`, `PLANEX_FIELD_<COLUMN>`).
    pub item: Option<serde_json::Map<String, Value>>,
    /// Hard limit of wall-clock time.
    pub limit: Duration,
    /// Limit of silence (spec 10, *Running*); zero switches it off.
    pub idle: Duration,
    /// Time between asking to end and killing.
    pub grace: Duration,
    /// Model to ask for, if not the agent's default.
    pub model: Option<String>,
    /// Extra arguments from the role's configuration.
    pub extra_args: Vec<String>,
    /// Extra environment from the role's configuration.
    pub env: BTreeMap<String, String>,
    /// The agent's own session to go on with.
    pub resume: Option<String>,
}

/// How a job ended (spec 10, *A job*).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobStatus {
    /// It ended well: its end condition was met and a valid result is there.
    Completed,
    /// It did not.
    Failed,
    /// Its time limit, or its idle limit, ended it.
    Timeout,
    /// Someone ended it.
    Cancelled,
}

/// Why a job did not complete. The word in front of an `error` cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// The agent said that it failed, or ended with an error.
    Failed,
    /// The time limit.
    Timeout,
    /// Silent for longer than the idle limit.
    Idle,
    /// It ended without any report.
    NoResult,
    /// Reports came, none fits the schema.
    InvalidResult,
    /// Not installed, cannot be started, or cannot fill the role.
    AgentNotUsable,
    /// 429, 529, overload, "try again at …".
    RateLimited,
    /// A quota that does not come back soon.
    Quota,
    /// Not logged in, or credentials refused.
    Auth,
    /// The session's budget is used up.
    Budget,
    /// Ended by the user or by a signal.
    Cancelled,
}

impl CauseKind {
    /// The word of the interface, for people and for `error` columns.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Idle => "idle",
            Self::NoResult => "no result",
            Self::InvalidResult => "invalid result",
            Self::AgentNotUsable => "agent not usable",
            Self::RateLimited => "rate limited",
            Self::Quota => "quota",
            Self::Auth => "not logged in",
            Self::Budget => "budget",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why a job did not complete, with the words for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Its kind.
    pub kind: CauseKind,
    /// What happened and what to do, one sentence, secrets masked.
    pub message: String,
    /// For rate limits: when the agent says to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<jiff::Timestamp>,
}

impl Cause {
    /// A cause without a time to try again.
    #[must_use]
    pub fn new(kind: CauseKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_at: None }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

/// Tokens and money of one or more runs. Fields that an agent does not tell stay zero; money stays `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, cached ones included.
    #[serde(default)]
    pub input_tokens: u64,
    /// Of the tokens sent, those read from a cache.
    #[serde(default)]
    pub cached_input_tokens: u64,
    /// Tokens received, reasoning included.
    #[serde(default)]
    pub output_tokens: u64,
    /// US dollars, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Tokens sent and received together.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds `other`; a cost that only one side tells is kept.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

/// Where a result came from, best first (spec 10, *The result*).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultSource {
    /// The MCP tool `report_agent_job_result`.
    Mcp,
    /// The agent's native structured output.
    Native,
    /// The file at `PLANEX_RESULT_FILE`.
    File,
    /// The last fitting JSON value of the final text.
    Text,
    /// planex itself (agents native and replay).
    InProcess,
}

/// How the agent's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Unknown: the process that watched it was killed.
    Lost,
}

/// Everything that came out of one run: the content of `runs/<job>/result.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// The run's id.
    pub run_id: String,
    /// Its role.
    pub role: Role,
    /// The adapter that really ran.
    pub agent: String,
    /// The model that ran, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it ended.
    pub status: JobStatus,
    /// Why it did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The validated result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ResultSource>,
    /// What was said beside the result: repairs of JSON, foreign ids, later reports, denied permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The final text (capped).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The agent's own session id, to resume by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<String>,
    /// Tokens and cost of this run alone.
    #[serde(default)]
    pub usage: Usage,
    /// Start of the run.
    pub started_at: jiff::Timestamp,
    /// Wall-clock seconds.
    pub duration_s: f64,
    /// How the process ended; `None` for in-process agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// Files changed as observed by planex, relative to the project root (filled by the engine).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<Utf8PathBuf>,
    /// 1 for the first try.
    #[serde(default)]
    pub attempt: u32,
    /// Processes that could not be ended, as `pid command`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
}

impl JobOutcome {
    /// The failed outcome of a job whose agent was never started: no result, no usage, attempt 0.
    #[must_use]
    pub fn not_run(spec: &JobSpec, agent: String, cause: Cause, at: jiff::Timestamp) -> Self {
        Self {
            run_id: spec.run_id.clone(),
            role: spec.role,
            agent,
            model: None,
            status: JobStatus::Failed,
            cause: Some(cause),
            result: None,
            source: None,
            notes: Vec::new(),
            text: String::new(),
            agent_session: None,
            usage: Usage::default(),
            started_at: at,
            duration_s: 0.0,
            exit: None,
            files_changed: Vec::new(),
            attempt: 0,
            left_running: Vec::new(),
        }
    }
}
