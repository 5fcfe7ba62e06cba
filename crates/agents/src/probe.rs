//! Finding out whether an agent is there and logged in: cheap, in parallel, time-limited, nothing secret read.
//!
//! A login is told by environment variables that are set, by the agent's own status command, and by the existence of
//! its credential files; no content of such a file is ever read.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::env::Environment;
use planex_sys::process::{CommandSpec, run_async};
use planex_sys::{fs, program};
use serde::Serialize;

use crate::adapter::Capabilities;
use crate::known::{Known, LoginBase};
use crate::set::{Agent, AgentSet};

/// Longest time that one question to an agent's program may take.
pub const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of a version that are shown.
const MAX_VERSION: usize = 80;

/// Whether someone is logged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Login {
    /// Yes, as far as can be told without asking the provider.
    LoggedIn,
    /// No.
    NotLoggedIn {
        /// How to log in.
        how: String,
    },
    /// It cannot be told.
    Unknown,
}

/// What is known about one agent on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The agent.
    pub name: String,
    /// Its program; `None` when it is not installed. In-process agents have `planex` itself.
    pub found: Option<Utf8PathBuf>,
    /// Its version, where it tells one in time.
    pub version: Option<String>,
    /// Whether someone is logged in.
    pub login: Login,
    /// What it can do.
    pub capabilities: Option<Capabilities>,
    /// How to get it, when it is not there.
    pub how_to_get: Option<String>,
}

impl Probe {
    /// Whether a job can be tried: it is there, and not known to be logged out.
    #[must_use]
    pub fn usable(&self) -> bool {
        self.found.is_some() && !matches!(self.login, Login::NotLoggedIn { .. })
    }

    /// What to do to make it usable; `None` when it is.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match (&self.found, &self.login) {
            (None, _) => Some(self.how_to_get.clone().unwrap_or_else(|| "check its `command`".to_owned())),
            (Some(_), Login::NotLoggedIn { how }) => Some(how.clone()),
            (Some(_), Login::LoggedIn | Login::Unknown) => None,
        }
    }
}

impl AgentSet {
    /// Looks at one agent. Takes at most about [`PROBE_LIMIT`]. An unknown name is an agent that is not found.
    pub async fn probe(&self, name: &str) -> Probe {
        match self.resolve(name) {
            Ok(agent) => probe_agent(&agent, &self.environment).await,
            Err(error) => Probe {
                name: name.to_owned(),
                found: None,
                version: None,
                login: Login::Unknown,
                capabilities: None,
                how_to_get: Some(error.to_string()),
            },
        }
    }

    /// Looks at several agents at once; the answers are in the order asked.
    pub async fn probe_all<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<Probe> {
        let start = |name: &str| {
            let (set, name) = (self.clone(), name.to_owned());
            tokio::spawn(async move { set.probe(&name).await })
        };
        let tasks: Vec<_> = names.into_iter().map(start).collect();
        let mut probes = Vec::with_capacity(tasks.len());
        for task in tasks {
            // A task that panicked is one agent that cannot be told about.
            if let Ok(probe) = task.await {
                probes.push(probe);
            }
        }
        probes
    }
}

async fn probe_agent(agent: &Agent, environment: &Environment) -> Probe {
    let mut probe = Probe {
        name: agent.name().to_owned(),
        found: None,
        version: None,
        login: Login::Unknown,
        capabilities: Some(agent.capabilities()),
        how_to_get: None,
    };
    if agent.is_in_process() {
        probe.found = Some(Utf8PathBuf::from("planex"));
        probe.login = Login::LoggedIn;
        return probe;
    }
    let Some(path) = find_program(agent, environment) else {
        probe.how_to_get = Some(match agent.known {
            Some(known) if agent.settings.command.is_empty() => known.install_hint(),
            _ => format!("the program `{}` is not on the path", agent.program.first().map_or("", String::as_str)),
        });
        return probe;
    };
    probe.found = Some(path);
    if let Some(known) = agent.known {
        let (version, login) = tokio::join!(version(agent, environment), login(known, agent, environment));
        probe.version = version;
        probe.login = login;
    }
    probe
}

/// The file that the agent's program is.
pub(crate) fn find_program(agent: &Agent, environment: &Environment) -> Option<Utf8PathBuf> {
    program::find(agent.program.first()?, environment.get("PATH"), Utf8Path::new("."))
}

async fn ask(agent: &Agent, words: &[&str], environment: &Environment) -> Option<(bool, String)> {
    let argv = agent.program.iter().cloned().chain(words.iter().map(|&word| word.to_owned())).collect();
    let mut env = environment.clone().into_vars();
    env.extend(agent.settings.env.clone());
    let cwd = environment.non_empty("HOME").map_or_else(|| Utf8PathBuf::from("/"), Utf8PathBuf::from);
    let cwd = if fs::is_dir(&cwd) { cwd } else { Utf8PathBuf::from(".") };
    let spec = CommandSpec { argv, env, cwd, stdin: Vec::new(), limit: PROBE_LIMIT, output_cap: 4096 };
    let output = run_async(spec).await.ok().filter(|output| !output.timed_out)?;
    Some((output.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

async fn version(agent: &Agent, environment: &Environment) -> Option<String> {
    let (well, text) = ask(agent, &["--version"], environment).await?;
    well.then(|| version_in(&text)).flatten()
}

/// The first word of the first line that looks like a version: `codex-cli 0.171.0`, `2.1.197 (Claude Code)`.
fn version_in(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let is_version = |word: &&str| {
        let word = word.trim_start_matches('v');
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
    };
    let word = line.split_whitespace().find(is_version)?;
    let clean: String = word.trim_start_matches('v').chars().filter(|c| !c.is_control()).take(MAX_VERSION).collect();
    Some(clean)
}

async fn login(known: &Known, agent: &Agent, environment: &Environment) -> Login {
    let set = |name: &str| {
        let own = agent.settings.env.get(name).is_some_and(|value| !value.is_empty());
        own || environment.non_empty(name).is_some()
    };
    let exists = |files: &[(LoginBase, &str)]| {
        files.iter().any(|(base, name)| base_folder(*base, environment).is_some_and(|dir| fs::exists(&dir.join(name))))
    };
    if known.login_vars.iter().any(|name| set(name)) || exists(known.login_files) {
        return Login::LoggedIn;
    }
    let asked = match known.login_command {
        [] => None,
        words => ask(agent, words, environment).await,
    };
    match asked {
        Some((true, _)) => Login::LoggedIn,
        _ if known.login_optional || exists(known.config_files) => Login::Unknown,
        _ => Login::NotLoggedIn { how: known.login.to_owned() },
    }
}

fn base_folder(base: LoginBase, environment: &Environment) -> Option<Utf8PathBuf> {
    let name = match base {
        LoginBase::Home => "HOME",
        LoginBase::Var(name) => name,
    };
    environment.non_empty(name).map(Utf8PathBuf::from)
}
