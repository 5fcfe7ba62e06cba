//! One job of one agent, outside of any session: `planex agent run` and `planex agent check` (spec 10, *Registry of
//! runs*).
//!
//! Its files lie in a folder that is laid out like a session's, so that the registry finds them.

use camino::Utf8PathBuf;
use planex_agents::adapter::{Invocation, Launch, RunFiles, StdinPlan};
use planex_agents::{Adapter, Known, McpServer, Update, adapters};
use planex_core::id;
use planex_core::job::{JobOutcome, JobSpec, Mode, Role};
use planex_core::prompt::apply_override;
use planex_core::settings::AgentSettings;
use planex_core::text::one_line;
use planex_sys::fs;
use tokio::sync::mpsc;

use crate::engine::Engine;
use crate::error::{EngineError, ErrorKind, Result};
use crate::registry::{self, Run, RunRecord};
use crate::run::Execution;
use crate::session;
use crate::store::{RunPaths, SessionPaths};

/// Updates that wait to be shown.
const UPDATES: usize = 64;

/// What one job is.
#[derive(Debug, Clone, PartialEq)]
pub struct Single {
    /// What the agent is asked.
    pub prompt: String,
    /// Name of a template in `.workflow/prompts/`.
    pub rule: Option<String>,
    /// The agent; `None`: as configured, else the first usable one.
    pub agent: Option<String>,
    /// What it may do.
    pub mode: Mode,
    /// Id to keep the run under; `None`: a free one.
    pub id: Option<String>,
    /// Id of the run to go on with.
    pub resume: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Working folder, absolute.
    pub cwd: Utf8PathBuf,
}

/// Where runs outside of sessions are kept.
#[must_use]
pub fn store(engine: &Engine) -> SessionPaths {
    SessionPaths::new(engine.project.workflow().join(".runs"))
}

/// Runs the job; `told` gets what the agent is doing, line by line.
///
/// # Errors
/// The id is taken or none, the run to resume is unknown, the prompt is too long or its template wrong, no agent is
/// usable, or the disk fails. A job that fails is no error: see the outcome.
pub async fn run(
    engine: &Engine,
    single: &Single,
    paths: &SessionPaths,
    mut told: impl FnMut(&str),
) -> Result<JobOutcome> {
    let before = single.resume.as_deref().map(|old| find_run(engine, paths, old)).transpose()?;
    let named = single.agent.as_deref().or_else(|| before.as_ref().and_then(Run::agent));
    let chain = engine.chain(Role::Job, single.mode, named).await?;
    let Some(agent) = chain.into_iter().next() else {
        return Err(EngineError::new(ErrorKind::NoAgent, "no agent is usable"));
    };
    let spec = spec_of(engine, single, paths, before.as_ref())?;
    fs::create_dir_all(&spec.run_dir)?;
    let record = RunRecord {
        run_id: spec.run_id.clone(),
        role: spec.role,
        mode: spec.mode,
        agent: agent.agent.clone(),
        model: spec.model.clone(),
        item: None,
        title: one_line(&single.prompt).chars().take(60).collect(),
        attempt: 1,
        cwd: spec.cwd.clone(),
        started_at: engine.now(),
        agent_session: spec.resume.clone(),
        input: String::new(),
    };
    registry::save_record(&spec.run_dir, &record)?;
    let (updates, mut heard) = mpsc::channel(UPDATES);
    let (end, kill) = (engine.cancel.end().clone(), engine.cancel.kill().clone());
    let result = RunPaths::new(spec.run_dir.clone()).result();
    let mut running = engine.executor.execute(Execution { agent, spec, updates, end, kill });
    let mut open = true;
    let outcome = loop {
        tokio::select! {
            outcome = &mut running => break outcome,
            update = heard.recv(), if open => match update {
                Some(Update::Activity(text)) => told(&text),
                Some(Update::Started { .. } | Update::Session(_) | Update::Usage(_)) => {}
                None => open = false,
            },
        }
    };
    let text = serde_json::to_vec_pretty(&outcome).map_err(EngineError::internal)?;
    fs::write_atomic(&result, &text)?;
    Ok(outcome)
}

/// What [`run`] would start.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SinglePreview {
    /// The run's id.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// Its working folder.
    pub cwd: Utf8PathBuf,
    /// Program and arguments; empty for agents inside planex.
    pub argv: Vec<String>,
    /// Whether the prompt goes to its standard input.
    pub prompt_on_stdin: bool,
    /// Time limit in seconds.
    pub limit_s: u64,
    /// The prompt.
    pub prompt: String,
}

/// What [`run`] would start, and nothing started or written. `mcp` is planex's own server, where it is offered.
///
/// # Errors
/// As [`run`], up to where the agent would start.
pub async fn preview(
    engine: &Engine,
    single: &Single,
    paths: &SessionPaths,
    mcp: Option<&McpServer>,
) -> Result<SinglePreview> {
    let before = single.resume.as_deref().map(|old| find_run(engine, paths, old)).transpose()?;
    let named = single.agent.as_deref().or_else(|| before.as_ref().and_then(Run::agent));
    let chain = engine.chain(Role::Job, single.mode, named).await?;
    let Some(agent) = chain.into_iter().next() else {
        return Err(EngineError::new(ErrorKind::NoAgent, "no agent is usable"));
    };
    let mut spec = spec_of(engine, single, paths, before.as_ref())?;
    spec.model = spec.model.or_else(|| agent.model.clone());
    let invocation = invocation(engine, &agent.agent, &mut spec, mcp);
    Ok(SinglePreview {
        run: spec.run_id,
        agent: agent.agent,
        cwd: spec.cwd,
        prompt_on_stdin: invocation.as_ref().is_some_and(|started| started.stdin == StdinPlan::Prompt),
        argv: invocation.map(|started| started.argv).unwrap_or_default(),
        limit_s: spec.limit.as_secs(),
        prompt: spec.prompt,
    })
}

/// How the agent called `name` would be started; `None` for those inside planex.
fn invocation(engine: &Engine, name: &str, spec: &mut JobSpec, mcp: Option<&McpServer>) -> Option<Invocation> {
    let settings = engine.settings.agents.get(name).cloned().unwrap_or_default();
    let adapter = adapter(name, &settings)?;
    let program = match Known::find(name) {
        Some(known) if settings.command.is_empty() => vec![known.program.to_owned()],
        _ => settings.command.clone(),
    };
    spec.model = spec.model.take().or_else(|| settings.model.clone());
    let files = RunFiles::new(spec);
    let launch = Launch { program: &program, settings: &settings, mcp, environment: &engine.env };
    Some(adapter.command(spec, &files, &launch))
}

fn adapter(name: &str, settings: &AgentSettings) -> Option<Box<dyn Adapter>> {
    Some(match name {
        "claude" => Box::new(adapters::claude::Claude),
        "codex" => Box::new(adapters::codex::Codex),
        "gemini" => Box::new(adapters::gemini::Gemini),
        "qwen" => Box::new(adapters::qwen::Qwen),
        "opencode" => Box::new(adapters::opencode::Opencode),
        _ if settings.command.is_empty() => return None,
        _ => Box::new(adapters::custom::Custom::new(settings.clone())),
    })
}

fn spec_of(engine: &Engine, single: &Single, paths: &SessionPaths, before: Option<&Run>) -> Result<JobSpec> {
    let settings = &engine.settings;
    let prompt = whole_prompt(engine, single)?;
    if prompt.len() > settings.limits.prompt_bytes {
        let message =
            format!("the prompt has {} bytes; at most {} are sent", prompt.len(), settings.limits.prompt_bytes);
        return Err(EngineError::new(ErrorKind::Input, message).hint("name files to read instead of pasting them"));
    }
    let run_id = free_id(engine, single, paths)?;
    let of_role = settings.roles.get(&Role::Job).cloned().unwrap_or_default();
    // Some agents can go on only where they were; the folder may be gone, then the new one has to do.
    let old_cwd = before.and_then(|run| run.record.as_ref()).map(|record| record.cwd.clone());
    Ok(JobSpec {
        run_dir: paths.run(&run_id),
        run_id,
        role: Role::Job,
        mode: single.mode,
        prompt,
        cwd: old_cwd.filter(|dir| fs::is_dir(dir)).unwrap_or_else(|| single.cwd.clone()),
        session_dir: paths.dir().to_owned(),
        schema: None,
        expected_id: None,
        item: None,
        limit: settings.limit_of(Role::Job),
        idle: settings.limits.idle,
        grace: settings.limits.grace,
        model: single.model.clone().or(of_role.model),
        extra_args: of_role.args,
        env: of_role.env,
        resume: before.and_then(Run::agent_session).map(str::to_owned),
    })
}

fn whole_prompt(engine: &Engine, single: &Single) -> Result<String> {
    let Some(rule) = &single.rule else { return Ok(single.prompt.clone()) };
    id::check_id(rule).map_err(|error| EngineError::usage(format!("`{}` names no rule: {error}", one_line(rule))))?;
    let folder = engine.project.workflow().join("prompts");
    let file = folder.join(format!("{rule}.md"));
    let Some(bytes) = fs::read_if_exists(&file)? else {
        let mut error =
            EngineError::usage(format!("there is no rule `{rule}`")).hint(format!("rules are files {folder}/NAME.md"));
        if fs::is_dir(&folder) {
            error.faults =
                fs::list(&folder)?.iter().filter_map(|e| e.name.strip_suffix(".md")).map(str::to_owned).collect();
        }
        return Err(error);
    };
    apply_override(&String::from_utf8_lossy(&bytes), &single.prompt, "", &serde_json::Map::new())
        .map_err(|error| EngineError::input(format!("{file} cannot be used"), vec![format!("{file}: {error}")]))
}

fn free_id(engine: &Engine, single: &Single, paths: &SessionPaths) -> Result<String> {
    match &single.id {
        Some(id) => {
            id::check_run_id(id)
                .map_err(|error| EngineError::usage(format!("`{}` is no id: {error}", one_line(id))))?;
            if fs::exists(&paths.run(id)) {
                return Err(EngineError::usage(format!("there is a run `{id}` already"))
                    .hint(format!("go on with it by --resume {id}, or choose another --id")));
            }
            Ok(id.clone())
        }
        None => {
            let base = format!("run-{}", engine.zone.date_compact(engine.now()));
            Ok(id::first_free(&base, |name| fs::exists(&paths.run(name))))
        }
    }
}

/// The run that `--resume` means: one of those outside of sessions, else one of any session, newest first.
fn find_run(engine: &Engine, paths: &SessionPaths, old: &str) -> Result<Run> {
    let sessions = session::find_all(&engine.project.root)?;
    let all: Vec<SessionPaths> =
        std::iter::once(paths.clone()).chain(sessions.iter().map(session::Found::paths)).collect();
    registry::resolve(&all, old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_agent_can_be_previewed() {
        for known in &planex_agents::KNOWN {
            assert!(adapter(known.name, &AgentSettings::default()).is_some(), "{}", known.name);
        }
        assert!(adapter("native", &AgentSettings::default()).is_none());
    }
}
