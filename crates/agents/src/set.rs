//! Which agents there are: known ones, configured ones, and those inside planex.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use planex_core::job::Mode;
use planex_core::settings::{AgentSettings, Settings};
use planex_core::suggest;
use planex_sys::env::Environment;

use crate::adapter::{Adapter, Capabilities, Sources};
use crate::adapters::custom::Custom;
use crate::inprocess::InProcess;
use crate::known::{KNOWN, Known};

/// The name that stands for the first usable agent.
pub const ANY_AGENT: &str = "agent";

/// What runs a job: a process by an adapter, or planex itself.
#[derive(Clone)]
pub(crate) enum Engine {
    /// A process.
    Process(Arc<dyn Adapter>),
    /// Inside planex.
    InProcess(Arc<dyn InProcess>),
}

/// One agent, ready to be driven. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) engine: Engine,
    /// Program and leading arguments; empty for in-process agents.
    pub(crate) program: Vec<String>,
    pub(crate) settings: AgentSettings,
    pub(crate) known: Option<&'static Known>,
    model: Option<String>,
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("name", &self.name).field("program", &self.program).finish_non_exhaustive()
    }
}

impl Agent {
    /// An agent inside planex.
    #[must_use]
    pub fn in_process(agent: Arc<dyn InProcess>) -> Self {
        Self {
            name: agent.name().to_owned(),
            engine: Engine::InProcess(agent),
            program: Vec::new(),
            settings: AgentSettings::default(),
            known: None,
            model: None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model to ask for, unless the job names one.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref().or(self.settings.model.as_deref())
    }

    /// Whether it runs inside planex.
    #[must_use]
    pub fn is_in_process(&self) -> bool {
        matches!(self.engine, Engine::InProcess(_))
    }

    /// At most this many jobs of it at once, where configured.
    #[must_use]
    pub fn concurrency(&self) -> Option<usize> {
        self.settings.concurrency
    }

    /// What it can do.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        match &self.engine {
            Engine::Process(adapter) => {
                Capabilities { resume: adapter.capabilities().resume, ..adapter.capabilities() }
            }
            Engine::InProcess(agent) => Capabilities {
                write: agent.can_write(),
                mcp: false,
                structured: true,
                resume: false,
                resume_same_folder: false,
                cost: false,
                tokens: false,
                sandbox: false,
            },
        }
    }

    /// Whether it can be given jobs of `mode`.
    #[must_use]
    pub fn can(&self, mode: Mode) -> bool {
        match mode {
            Mode::Analysis => true,
            Mode::Write => self.capabilities().write,
        }
    }

    /// Where a result may come from beside MCP.
    pub(crate) fn sources(&self) -> Sources {
        match &self.engine {
            Engine::Process(adapter) => adapter.sources(),
            Engine::InProcess(_) => Sources::All,
        }
    }
}

/// Why a name is no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No such agent.
    #[error("unknown agent `{name}`{}", .suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name.
        suggestion: Option<String>,
    },
    /// A custom agent without a command.
    #[error("the agent `{name}` has no command; set `command` in [agents.{name}]")]
    NoCommand {
        /// Its name.
        name: String,
    },
}

/// A link of a fall-back chain: `agent` or `agent:model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRef {
    /// The agent.
    pub agent: String,
    /// The model, where one is named.
    pub model: Option<String>,
}

impl AgentRef {
    /// Reads `agent` or `agent:model`; a model may contain further colons.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        match text.split_once(':') {
            Some((agent, model)) if !model.trim().is_empty() => {
                Self { agent: agent.trim().to_owned(), model: Some(model.trim().to_owned()) }
            }
            Some((agent, _)) => Self { agent: agent.trim().to_owned(), model: None },
            None => Self { agent: text.to_owned(), model: None },
        }
    }
}

impl fmt::Display for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{}:{model}", self.agent),
            None => f.write_str(&self.agent),
        }
    }
}

/// All agents of one run of planex.
#[derive(Clone)]
pub struct AgentSet {
    settings: BTreeMap<String, AgentSettings>,
    in_process: BTreeMap<String, Arc<dyn InProcess>>,
    pub(crate) environment: Environment,
}

impl fmt::Debug for AgentSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSet").field("names", &self.names()).finish_non_exhaustive()
    }
}

impl AgentSet {
    /// The known agents, those of `[agents.NAME]`, and the given ones inside planex.
    ///
    /// `environment` is what agents inherit and what programs are looked for in.
    #[must_use]
    pub fn new(
        settings: &Settings,
        environment: &Environment,
        native: Option<Arc<dyn InProcess>>,
        others: impl IntoIterator<Item = Arc<dyn InProcess>>,
    ) -> Self {
        let in_process = native.into_iter().chain(others).map(|agent| (agent.name().to_owned(), agent)).collect();
        Self { settings: settings.agents.clone(), in_process, environment: environment.clone() }
    }

    /// Every name, known ones first in their order, then configured ones, then those inside planex.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = KNOWN.iter().map(|known| known.name.to_owned()).collect();
        for name in self.settings.keys().chain(self.in_process.keys()) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// The agent called `name`, or `name:model`. Does not look whether it is installed: see
    /// [`probe`](Self::probe). For [`ANY_AGENT`] use [`first_usable`](Self::first_usable).
    ///
    /// # Errors
    /// There is none of that name, or it has no command.
    pub fn resolve(&self, name: &str) -> Result<Agent, ResolveError> {
        let wanted = AgentRef::parse(name);
        let mut agent = match self.settings.contains_key(name) {
            // A configured name may contain a colon.
            true => self.by_name(name)?,
            false => self.by_name(&wanted.agent)?,
        };
        if !self.settings.contains_key(name) {
            agent.model = wanted.model;
        }
        Ok(agent)
    }

    fn by_name(&self, name: &str) -> Result<Agent, ResolveError> {
        if let Some(agent) = self.in_process.get(name) {
            return Ok(Agent::in_process(Arc::clone(agent)));
        }
        let settings = self.settings.get(name).cloned().unwrap_or_default();
        let (engine, known): (Arc<dyn Adapter>, _) = match Known::find(name) {
            Some(known) => (Arc::from((known.adapter)()), Some(known)),
            None if !self.settings.contains_key(name) => return Err(self.unknown(name)),
            None if settings.command.is_empty() => return Err(ResolveError::NoCommand { name: name.to_owned() }),
            None => (Arc::new(Custom::new(settings.clone())), None),
        };
        let program = match (settings.command.is_empty(), known) {
            (true, Some(known)) => vec![known.program.to_owned()],
            _ => settings.command.clone(),
        };
        Ok(Agent { name: name.to_owned(), engine: Engine::Process(engine), program, settings, known, model: None })
    }

    fn unknown(&self, name: &str) -> ResolveError {
        let names = self.names();
        let suggestion = suggest::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        ResolveError::Unknown { name: name.to_owned(), suggestion }
    }

    /// The first agent of the specification's order that is installed and not known to be logged out, and that can do
    /// jobs of `mode`. Agents inside planex are never picked. `None`: none is usable; [`probe`](Self::probe) tells why.
    pub async fn first_usable(&self, mode: Mode) -> Option<Agent> {
        let probes = self.probe_all(KNOWN.iter().map(|known| known.name)).await;
        let usable = probes.iter().filter(|probe| probe.usable());
        usable.filter_map(|probe| self.by_name(&probe.name).ok()).find(|agent| agent.can(mode))
    }
}
