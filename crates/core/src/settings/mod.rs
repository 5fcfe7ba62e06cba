//! Settings: what configuration files, variables and flags come to (spec 00, *Project root and configuration*).
//!
//! [`Settings`] is the resolved value that the engine works with. Where each value came from is kept by the loader
//! ([`load`]), not here: files ([`file`]), variables and flags are checked against one table of [`keys`], merged with
//! later winning, and the parts of a repository's file that need [`trust`] are withheld until they have it.

pub mod edit;
pub mod file;
pub mod isolation;
pub mod keys;
pub mod load;
pub mod origin;
pub mod tools;
pub mod trust;
pub mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

pub use isolation::{Into, IsolationPolicy, IsolationSettings, ScopePolicy, Worktree};

use crate::job::Role;

/// How planex's gates are passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GatePolicy {
    /// Ask whoever is there; without a terminal the same as [`GatePolicy::Defer`].
    #[default]
    Ask,
    /// Stop with exit 4 and say how to answer.
    Defer,
    /// `-y`: take the defaults.
    Yes,
}

/// What to do with tasks of one wave whose scopes overlap (spec 20, *Overlap*).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OverlapPolicy {
    /// The later one moves to a later wave.
    #[default]
    Serialize,
    /// Refuse the plan.
    Error,
}

/// A custom agent, or changes to a known one: the table `[agents.NAME]` (spec 10, *A custom agent*).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSettings {
    /// Argument list. For a known agent: replaces its program (and leading arguments).
    pub command: Vec<String>,
    /// Appended in mode analysis.
    pub analysis_args: Vec<String>,
    /// Appended in mode write.
    pub write_args: Vec<String>,
    /// Appended when a run is resumed, `{session}` replaced; `None`: cannot resume.
    pub resume_args: Option<Vec<String>>,
    /// How the prompt gets there.
    pub prompt: PromptVia,
    /// Where the result is.
    pub result: ResultVia,
    /// Added to the inherited environment.
    pub env: BTreeMap<String, String>,
    /// Jobs of this agent at once.
    pub concurrency: Option<usize>,
    /// Default model.
    pub model: Option<String>,
    /// Explicit permission to run without the agent's own sandbox (never a default).
    pub full_access: bool,
}

/// How a custom agent gets its prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PromptVia {
    /// On standard input.
    #[default]
    Stdin,
    /// In a file whose path replaces `{prompt_file}` in the command.
    File,
}

/// Where a custom agent leaves its result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResultVia {
    /// The result file if written, else the JSON in stdout.
    #[default]
    Auto,
    /// Only the result file.
    File,
    /// Only stdout.
    Stdout,
}

/// The table `[roles.NAME]`: what a role's jobs run on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleSettings {
    /// Agent for this role.
    pub agent: Option<String>,
    /// Model for this role.
    pub model: Option<String>,
    /// Extra arguments.
    pub args: Vec<String>,
    /// Extra environment.
    pub env: BTreeMap<String, String>,
    /// Time limit of each job.
    pub timeout: Option<Duration>,
    /// Tried in order on failure, limit or quota: `agent` or `agent:model`.
    pub fallback: Vec<String>,
}

/// The table `[limits]`, with its defaults (spec 10, *Running*).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time between asking a job to end and killing it.
    pub grace: Duration,
    /// Silence that ends a job; zero switches it off.
    pub idle: Duration,
    /// Explore jobs (and every other analysis job without its own).
    pub explore: Duration,
    /// Execute jobs.
    pub execute: Duration,
    /// Review and fix jobs.
    pub review: Duration,
    /// Test commands.
    pub tests: Duration,
    /// Bytes of a prompt.
    pub prompt_bytes: usize,
    /// Bytes of a run's log on disk, head and tail kept.
    pub log_bytes: u64,
    /// How often a rate-limited job is tried again.
    pub rate_limit_retries: u32,
    /// Whether a clarification gate ends by itself, and when.
    pub gate_timeout: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(5),
            idle: Duration::from_secs(300),
            explore: Duration::from_secs(300),
            execute: Duration::from_secs(600),
            review: Duration::from_secs(600),
            tests: Duration::from_secs(300),
            prompt_bytes: 200 * 1024,
            log_bytes: 64 * 1024 * 1024,
            rate_limit_retries: 5,
            gate_timeout: None,
        }
    }
}

/// What a session may use up (spec 10, *Budget*). `None`: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub max_cost: Option<f64>,
    /// Tokens sent and received.
    pub max_tokens: Option<u64>,
    /// Wall-clock time of the session.
    pub max_time: Option<Duration>,
}

/// Which offset stored times have (spec 00, *Time*).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ZoneSetting {
    /// `+08:00`, as the seeds.
    #[default]
    Seed,
    /// The machine's zone.
    Local,
    /// UTC.
    Utc,
    /// A fixed offset in seconds east of UTC.
    Fixed(i32),
}

/// Language of what people read (spec 80, *Terminal*).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
    /// Chinese.
    Zh,
}

/// Everything the engine needs to know, resolved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Jobs at once; 0 is never stored (the default is 4).
    pub concurrency: Concurrency,
    /// How gates are passed.
    pub gates: GatePolicy,
    /// `--agent NAME`: for every role that needs one.
    pub agent: Option<String>,
    /// `--agent ROLE=NAME`: beats `agent`, assignments and methods.
    pub agent_by_role: BTreeMap<Role, String>,
    /// `[agents.NAME]`.
    pub agents: BTreeMap<String, AgentSettings>,
    /// `[roles.NAME]`.
    pub roles: BTreeMap<Role, RoleSettings>,
    /// `--timeout`: each agent job, over the role defaults.
    pub timeout: Option<Duration>,
    /// `[limits]`.
    pub limits: Limits,
    /// `--max-cost`, `--max-tokens`, `--max-time`.
    pub budget: Budget,
    /// `--overlap`.
    pub overlap: OverlapPolicy,
    /// How tasks are kept apart and their claims checked.
    pub isolation: IsolationSettings,
    /// Files no agent may read or write, as globs.
    pub protect: Vec<String>,
    /// Offset of stored times.
    pub timezone: ZoneSetting,
    /// Language of messages.
    pub lang: Language,
    /// `[test] command`: beats what the manifests say.
    pub test_command: Option<String>,
}

/// Jobs at once, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Concurrency(pub usize);

impl Default for Concurrency {
    fn default() -> Self {
        Self(4)
    }
}

impl Settings {
    /// Time limit of a job of `role`: `--timeout`, else the role's, else the default of its kind.
    #[must_use]
    pub fn limit_of(&self, role: Role) -> Duration {
        let of_role = self.roles.get(&role).and_then(|r| r.timeout);
        self.timeout.or(of_role).unwrap_or(match role {
            Role::Execute | Role::Job => self.limits.execute,
            Role::Review | Role::Fix | Role::Converge => self.limits.review,
            Role::Assess
            | Role::Explore
            | Role::Clarify
            | Role::Structure
            | Role::Context
            | Role::Conflict
            | Role::Plan
            | Role::Verify
            | Role::Replan => self.limits.explore,
        })
    }

    /// The agent that configuration or flags name for `role`.
    #[must_use]
    pub fn agent_for(&self, role: Role) -> Option<&str> {
        self.agent_by_role
            .get(&role)
            .or(self.agent.as_ref())
            .or_else(|| self.roles.get(&role).and_then(|r| r.agent.as_ref()))
            .map(String::as_str)
    }
}
