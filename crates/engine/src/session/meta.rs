//! `.planex/meta.json`: what a session is and how it was started.

use std::fmt;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::fs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// Version of the session format that this planex writes. One more whenever an older planex would misread it.
pub const FORMAT: u32 = 1;

/// What a session is a run of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workflow {
    /// `planex plan`.
    Plan,
    /// `planex execute`.
    Execute,
    /// `planex review`.
    Review,
    /// `planex waves`.
    Waves,
    /// `planex flow`.
    Flow,
    /// `planex fanout`.
    Fanout,
}

impl Workflow {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Plan, Self::Execute, Self::Review, Self::Waves, Self::Flow, Self::Fanout];

    /// Its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Execute => "execute",
            Self::Review => "review",
            Self::Waves => "waves",
            Self::Flow => "flow",
            Self::Fanout => "fanout",
        }
    }

    /// The folder that holds its sessions, below the project's root.
    #[must_use]
    pub fn folder(self, root: &Utf8Path) -> Utf8PathBuf {
        let name = match self {
            Self::Plan | Self::Execute | Self::Review | Self::Waves => ".lite-plan",
            Self::Flow => "active",
            Self::Fanout => ".fanout",
        };
        root.join(".workflow").join(name)
    }
}

impl fmt::Display for Workflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Workflow {
    type Err = EngineError;

    fn from_str(s: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|w| w.as_str() == s)
            .ok_or_else(|| EngineError::usage(format!("unknown workflow `{s}`")))
    }
}

/// How a session came to its end. Absent: it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// All done.
    Completed,
    /// Done, with failed or skipped tasks.
    Failed,
    /// Cancelled at a gate or by request; taken up again only by `--reopen`.
    Cancelled,
}

impl Ending {
    /// The word in the journal and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The content of `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// [`FORMAT`] of the planex that wrote it.
    pub format: u32,
    /// Version of that planex.
    pub planex: String,
    /// What the session is a run of.
    pub workflow: Workflow,
    /// Its id.
    pub session: String,
    /// The requirement, or the input's name.
    pub requirement: String,
    /// When it was made, RFC 3339 with offset.
    pub created: String,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ending>,
    /// Options of its start that a resume needs (concurrency, agents, `no_explore`, paths, …), by name.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// Fields of other versions, kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Meta {
    /// What a new session is.
    #[must_use]
    pub fn new(
        workflow: Workflow,
        session: impl Into<String>,
        requirement: impl Into<String>,
        created: String,
    ) -> Self {
        Self {
            format: FORMAT,
            planex: env!("CARGO_PKG_VERSION").to_owned(),
            workflow,
            session: session.into(),
            requirement: requirement.into(),
            created,
            ended: None,
            options: Map::new(),
            extra: Map::new(),
        }
    }

    /// An option as text.
    #[must_use]
    pub fn option_str(&self, name: &str) -> Option<&str> {
        self.options.get(name).and_then(Value::as_str)
    }

    /// Reads it. A session without one (made by the reference system or by hand) is taken as `workflow`.
    ///
    /// # Errors
    /// It was written by a newer planex, or is not readable.
    pub fn load(paths: &SessionPaths, workflow: Workflow) -> Result<Self> {
        let file = paths.meta();
        let Some(bytes) = fs::read_if_exists(&file)? else {
            let id = paths.dir().file_name().unwrap_or_default();
            return Ok(Self { planex: String::new(), ..Self::new(workflow, id, "", String::new()) });
        };
        let broken = |error: serde_json::Error| {
            EngineError::internal(format!("{file}:{}:{}: {error}", error.line(), error.column()))
                .hint("the file was changed by hand or by another program; mend it or remove it")
        };
        // The version first: a newer format may not even have the fields below.
        let value: Value = serde_json::from_slice(&bytes).map_err(broken)?;
        let format = value.get("format").and_then(Value::as_u64).unwrap_or(0);
        if format > u64::from(FORMAT) {
            let by = value.get("planex").and_then(Value::as_str).unwrap_or("?");
            return Err(EngineError::internal(format!(
                "{} was written by planex {by} in format {format}; this planex reads up to {FORMAT}",
                paths.dir()
            ))
            .hint("install that version of planex or a newer one"));
        }
        serde_json::from_value(value).map_err(broken)
    }

    /// Writes it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, paths: &SessionPaths) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(EngineError::internal)?;
        Ok(fs::write_atomic(&paths.meta(), &text)?)
    }
}
