//! The script as data; what each word means is in the module above.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::Context;

/// Rules in the order of their precedence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentScript {
    /// The rules.
    pub rules: Vec<AgentRule>,
}

/// When to do what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRule {
    /// Which runs.
    #[serde(default)]
    pub when: AgentWhen,
    /// What to do, in order.
    #[serde(rename = "do")]
    pub actions: Vec<Action>,
}

/// Which runs a rule is for; what is absent fits all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentWhen {
    /// `PLANEX_ROLE`.
    pub role: Option<String>,
    /// Id of the row or task.
    pub id: Option<String>,
    /// Number of the run of this role and id.
    pub attempt: Option<u32>,
    /// `PLANEX_MODE`.
    pub mode: Option<String>,
    /// Whether started with `--resume`.
    pub resumed: Option<bool>,
    /// Is in the prompt.
    pub prompt_contains: Option<String>,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the table of the module above says what each does")]
pub enum Action {
    Reply(Value),
    Completed,
    Fenced(Value),
    Prose(Value),
    Say(String),
    SayErr(String),
    ResultFile(Value),
    ResultText(String),
    Report(Value),
    AppendLine {
        path: String,
        value: Value,
    },
    Mcp {
        command: Vec<String>,
        tool: String,
        args: Value,
    },
    SleepMs(u64),
    BusyMs(u64),
    Hang,
    IgnoreTerm,
    Spawn(Spawn),
    Flood {
        bytes: u64,
        #[serde(default)]
        to: Stream,
        #[serde(default)]
        lines: bool,
    },
    InvalidUtf8,
    Write {
        path: String,
        content: String,
    },
    Append {
        path: String,
        content: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
    },
    Delete(String),
    Touch(String),
    WaitFor(String),
    Run(Vec<String>),
    RateLimit {
        times: u32,
        #[serde(default)]
        message: Option<String>,
    },
    AuthFailure,
    Exit(u8),
}

/// Where to print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    #[default]
    Stdout,
    Stderr,
}

/// A process that the agent leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    /// How far away from the agent.
    pub kind: SpawnKind,
    /// How long it lives.
    pub sleep_ms: u64,
    /// It ignores SIGTERM, SIGINT and SIGHUP.
    #[serde(default)]
    pub ignore_term: bool,
    /// It keeps the agent's standard output open.
    #[serde(default)]
    pub hold_output: bool,
    /// Its process id is written here before the agent goes on.
    #[serde(default)]
    pub pid_file: Option<String>,
    /// It appends a line here every 20 ms: shows that it lives.
    #[serde(default)]
    pub beat_file: Option<String>,
}

/// How far away from the agent a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpawnKind {
    /// A child in the same group.
    Child,
    /// A child in a session of its own.
    Setsid,
    /// A grandchild in a session of its own, whose parent has ended.
    DoubleFork,
}

impl AgentScript {
    /// What the first rule that fits wants to be done.
    pub(super) fn actions(&self, context: &Context) -> Option<&[Action]> {
        self.rules.iter().find(|rule| rule.when.fits(context)).map(|rule| rule.actions.as_slice())
    }
}

impl AgentWhen {
    fn fits(&self, context: &Context) -> bool {
        let Self { role, id, attempt, mode, resumed, prompt_contains } = self;
        role.as_ref().is_none_or(|role| *role == context.role)
            && id.as_ref().is_none_or(|id| *id == context.id)
            && attempt.is_none_or(|attempt| attempt == context.attempt)
            && mode.as_ref().is_none_or(|mode| *mode == context.mode)
            && resumed.is_none_or(|resumed| resumed == context.session.is_some())
            && prompt_contains.as_ref().is_none_or(|text| context.prompt.contains(text))
    }
}
