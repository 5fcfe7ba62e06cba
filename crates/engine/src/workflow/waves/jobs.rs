//! From rows to jobs: what every job of this workflow has in common.

use std::sync::Arc;

use planex_agents::AgentRef;
use planex_core::event::Level;
use planex_core::guide::Category;
use planex_core::job::{JobOutcome, JobSpec, Mode, Role};
use planex_core::prompt::apply_override;
use planex_core::prompt::waves::{Prompt, Surroundings};
use planex_core::schema;
use planex_core::text::truncate_bytes;
use planex_sys::fs;
use serde_json::{Map, Value};

use super::{Flow, Leave, Walk, off_thread};
use crate::board;
use crate::engine::{Engine, NATIVE};
use crate::error::{EngineError, ErrorKind, Result};
use crate::run::{BatchReport, Finished, JobRequest, Next, Stop, Watch};

/// Bytes of the board and of project-tech.json that a prompt carries.
const DIGEST: usize = 6 * 1024;

/// One job, as a phase describes it.
pub(super) struct Wanted<'a> {
    pub role: Role,
    pub mode: Mode,
    /// Row id, or the phase's name.
    pub item: &'a str,
    pub title: &'a str,
    pub prompt: Prompt,
    /// Name of the result's schema.
    pub schema: &'a str,
    /// Whether a report must carry `item` as its id.
    pub is_row: bool,
    /// The row, or the input of a phase's job.
    pub fields: Map<String, Value>,
}

impl Flow<'_> {
    /// The request for a job.
    pub(super) fn request(&self, wanted: Wanted<'_>, chain: Vec<AgentRef>) -> Result<JobRequest> {
        let known = schema::schema(wanted.schema)
            .ok_or_else(|| EngineError::internal(format!("there is no schema `{}`", wanted.schema)))?;
        let spec = JobSpec {
            prompt: self.with_override(wanted.role, &wanted.prompt, &wanted.fields)?,
            schema: Some(known.as_ref().clone()),
            expected_id: wanted.is_row.then(|| wanted.item.to_owned()),
            item: Some(wanted.fields),
            ..self.driver.spec(self.engine, wanted.role, wanted.mode, wanted.item)
        };
        let item = wanted.is_row.then(|| wanted.item.to_owned());
        Ok(JobRequest { spec, chain, item, title: wanted.title.to_owned(), retries: 0 })
    }

    /// Runs one job and gives its outcome.
    pub(super) async fn run_one(&mut self, job: JobRequest) -> Walk<JobOutcome> {
        let mut outcome = None;
        let report = self
            .run_batch(vec![job], None, |_, finished| {
                outcome = Some(finished.outcome);
                Ok(Next::GoOn)
            })
            .await?;
        leave_if_stopped(&report)?;
        outcome.ok_or_else(|| Leave::Error(EngineError::internal("a job ended without an outcome")))
    }

    /// Runs a batch; `each` gets every final outcome, `watch` is told of every run.
    pub(super) async fn run_batch<F>(
        &mut self,
        jobs: Vec<JobRequest>,
        watch: Option<Arc<dyn Watch>>,
        mut each: F,
    ) -> Walk<BatchReport>
    where
        F: FnMut(&mut Self, Finished) -> Result<Next> + Send,
    {
        let mut dispatcher = self.driver.dispatcher(watch);
        let report = dispatcher.run(jobs, |finished| each(self, finished)).await;
        self.driver.account(&dispatcher);
        Ok(report?)
    }

    /// What every prompt of `role` shares.
    pub(super) fn surroundings(&self, role: Role) -> Result<Surroundings> {
        let board = board::digest(&board::load(&self.driver.session.paths)?, DIGEST);
        surroundings(self.engine, &self.driver.session.meta.requirement, board, role)
    }

    /// Files that planex's own explorer finds for `text`, for the prompts of other agents.
    pub(super) async fn evidence(&self, text: String, angle: Option<String>) -> Result<String> {
        let native = Arc::clone(&self.engine.native);
        off_thread(move || native.evidence(&text, angle.as_deref())).await
    }

    fn with_override(&self, role: Role, prompt: &Prompt, fields: &Map<String, Value>) -> Result<String> {
        with_override(self.engine, role, prompt, fields)
    }

    /// Who runs jobs that only read; planex itself where no agent is usable.
    pub(super) async fn reader(&mut self, role: Role) -> Walk<Vec<AgentRef>> {
        let chain = self.engine.chain(role, Mode::Analysis, None).await?;
        let named = self.engine.settings.agent_for(role).is_some();
        if !named && chain.first().is_some_and(|link| link.agent == NATIVE) {
            self.say_once(Level::Info, "no agent is usable here: planex explores and plans by itself");
        }
        Ok(chain)
    }

    /// Who runs tasks.
    ///
    /// # Errors
    /// No agent is usable (exit 7), with how to get one.
    pub(super) async fn executor(&self) -> Result<AgentRef> {
        let chain = self.engine.chain(Role::Execute, Mode::Write, None).await?;
        chain.into_iter().next().ok_or_else(|| EngineError::new(ErrorKind::NoAgent, "no agent can execute tasks"))
    }

    /// Says something that would be tiresome twice.
    pub(super) fn say_once(&mut self, level: Level, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.say(level, text);
        }
    }
}

/// What every prompt of `role` shares; `board` is the digest of what was discovered.
pub(super) fn surroundings(engine: &Engine, requirement: &str, board: String, role: Role) -> Result<Surroundings> {
    let root = &engine.project.root;
    let tech = root.join(".workflow/project-tech.json");
    let tech = if fs::exists(&tech) { fs::read_to_string(&tech).unwrap_or_default() } else { String::new() };
    let categories: &[Category] = match role {
        Role::Explore | Role::Assess => &[Category::Exploration],
        Role::Plan => &[Category::Planning],
        _ => &[Category::Execution, Category::Planning],
    };
    let words = requirement.split(|c: char| !c.is_alphanumeric());
    let keywords: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    Ok(Surroundings {
        root: root.to_string(),
        tech: truncate_bytes(&tech, DIGEST),
        board,
        guidelines: crate::guidelines::load(root)?.render(categories, &keywords),
        protect: engine.settings.protect.clone(),
        cap: engine.settings.limits.prompt_bytes,
        limit: engine.settings.limit_of(role),
    })
}

/// The prompt as the project's `.workflow/prompts/{role}.md` wants it, where there is one.
pub(super) fn with_override(
    engine: &Engine,
    role: Role,
    prompt: &Prompt,
    fields: &Map<String, Value>,
) -> Result<String> {
    let file = engine.project.root.join(format!(".workflow/prompts/{role}.md"));
    if !fs::exists(&file) {
        return Ok(prompt.text.clone());
    }
    let template = fs::read_to_string(&file)?;
    apply_override(&template, &prompt.text, &prompt.report, fields).map_err(|error| {
        EngineError::input(
            "a prompt of the project can't be used",
            vec![format!("{file}:{}:1: {}", error.line, error.message)],
        )
    })
}

/// Leaves the walk if the batch was stopped from outside.
pub(super) fn leave_if_stopped(report: &BatchReport) -> Walk {
    match &report.stop {
        None | Some(Stop::Asked) => Ok(()),
        Some(Stop::Interrupted) => Err(Leave::Interrupted),
        Some(Stop::Cancelled) => Err(Leave::Cancelled),
        Some(Stop::Paused) => Err(Leave::Paused),
        Some(Stop::Budget(cause)) => Err(Leave::Budget(cause.message.clone())),
    }
}
