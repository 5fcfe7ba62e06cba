//! One run of one job: its folder, its events, its flushed result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use planex_agents::{AgentRef, Update};
use planex_core::event::{EventKind, Level};
use planex_core::id;
use planex_core::job::{Cause, CauseKind, JobOutcome, JobSpec, JobStatus};
use planex_core::time::Zone;
use planex_sys::clock::Clock;
use planex_sys::fs;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Execution, Executor, JobRequest, Watch};
use crate::board;
use crate::error::{EngineError, Result};
use crate::journal::EventSink;
use crate::registry::{self, RunRecord};
use crate::store::{RunPaths, SessionPaths};

/// Updates of one run that wait to be read.
const UPDATES: usize = 64;

/// What every attempt of a batch shares.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) paths: SessionPaths,
    pub(super) board: board::Writer,
    pub(super) executor: Arc<dyn Executor>,
    pub(super) events: EventSink,
    pub(super) clock: Clock,
    pub(super) zone: Zone,
    pub(super) watch: Option<Arc<dyn Watch>>,
    pub(super) activity: Duration,
}

/// What earlier planexes left of a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Before {
    /// Attempts that have a folder.
    pub(super) attempts: u32,
    /// How many of them failed for a reason that counts as a try, since the last retry by the user.
    pub(super) tries: u32,
    /// The newest outcome, if it is a final one of the same job.
    pub(super) last: Option<JobOutcome>,
}

/// Hash of what makes two jobs the same: role, mode, item. (Prompts differ from run to run by the board's digest.)
pub(super) fn fingerprint(spec: &JobSpec) -> String {
    let item = spec.item.as_ref().map(|item| serde_json::Value::Object(item.clone()).to_string()).unwrap_or_default();
    let text = format!("{}\n{}\n{:?}\n{item}", spec.role, spec.mode, spec.expected_id);
    id::sha256_hex(text.as_bytes()).chars().take(16).collect()
}

/// Reads what earlier planexes left of a job.
pub(super) fn before(paths: &SessionPaths, spec: &JobSpec) -> Result<Before> {
    let attempts = registry::attempts(paths, &spec.run_id);
    let wanted = fingerprint(spec);
    let mut before = Before { attempts, tries: 0, last: None };
    for n in 0..attempts {
        let dir = paths.run(&id::retry_of(&spec.run_id, n));
        before.last = None;
        if registry::is_superseded(&dir) {
            before.tries = 0;
            continue;
        }
        let run = registry::load_run(&dir)?;
        let same = run.record.as_ref().is_none_or(|record| record.input == wanted);
        let Some(outcome) = run.outcome.filter(|_| same) else { continue };
        if outcome.status == JobStatus::Completed {
            before.last = Some(outcome);
        } else if counts_as_try(&outcome) {
            before.tries += 1;
            before.last = Some(outcome);
        }
    }
    Ok(before)
}

/// Whether a failure used up a try; limits, logins and cancellations don't, and are tried anew after a resume.
fn counts_as_try(outcome: &JobOutcome) -> bool {
    match (outcome.status, outcome.cause.as_ref().map(|cause| cause.kind)) {
        (JobStatus::Completed | JobStatus::Cancelled, _) => false,
        (
            JobStatus::Failed | JobStatus::Timeout,
            Some(
                CauseKind::RateLimited
                | CauseKind::Quota
                | CauseKind::Auth
                | CauseKind::AgentNotUsable
                | CauseKind::Budget
                | CauseKind::Cancelled,
            ),
        ) => false,
        (JobStatus::Failed | JobStatus::Timeout, _) => true,
    }
}

/// The outcome of a job that was never started.
pub(super) fn not_started(
    job: &JobRequest,
    status: JobStatus,
    cause: Cause,
    attempt: u32,
    clock: &Clock,
) -> JobOutcome {
    let agent = job.chain.first().map(|link| link.agent.clone()).unwrap_or_default();
    JobOutcome { status, attempt, ..JobOutcome::not_run(&job.spec, agent, cause, clock.now()) }
}

impl Shared {
    /// Runs one attempt to its flushed outcome.
    ///
    /// # Errors
    /// The run's folder or result cannot be written: the run does not count, and the batch must end.
    pub(super) async fn run(
        &self,
        job: &Arc<JobRequest>,
        link: AgentRef,
        attempt: u32,
        end: CancellationToken,
        kill: CancellationToken,
    ) -> Result<JobOutcome> {
        let spec = self.begin(job, &link, attempt).await?;
        let mut record = self.record(job, &link, &spec, attempt);
        registry::save_record(&spec.run_dir, &record)?;
        self.events.emit(EventKind::JobStarted {
            run: spec.run_id.clone(),
            role: spec.role,
            agent: link.to_string(),
            item: job.item.clone(),
            title: job.title.clone(),
            attempt,
        });
        let (updates, receiver) = mpsc::channel(UPDATES);
        let run_dir = spec.run_dir.clone();
        let running = self.executor.execute(Execution { agent: link, spec, updates, end: end.clone(), kill });
        let mut outcome = self.follow(running, receiver, &mut record, &run_dir).await?;
        outcome.attempt = attempt;
        if outcome.agent_session.is_none() {
            outcome.agent_session.clone_from(&record.agent_session);
        }
        let outcome = self.flush(job, outcome, run_dir, end).await?;
        self.events.emit(EventKind::JobFinished {
            run: outcome.run_id.clone(),
            item: job.item.clone(),
            status: outcome.status,
            cause: outcome.cause.clone(),
            usage: outcome.usage,
            duration_s: outcome.duration_s,
            agent_session: outcome.agent_session.clone(),
        });
        Ok(outcome)
    }

    /// [`Self::prepare`] on a thread where blocking is fine: a watch may look at the whole tree.
    async fn begin(&self, job: &Arc<JobRequest>, link: &AgentRef, attempt: u32) -> Result<JobSpec> {
        let (shared, job, link) = (self.clone(), Arc::clone(job), link.clone());
        tokio::task::spawn_blocking(move || shared.prepare(&job, &link, attempt))
            .await
            .map_err(|error| EngineError::internal(format!("a run could not be prepared: {error}")))?
    }

    fn prepare(&self, job: &JobRequest, link: &AgentRef, attempt: u32) -> Result<JobSpec> {
        let run_id = id::retry_of(&job.spec.run_id, attempt.saturating_sub(1));
        id::check_run_id(&run_id)
            .map_err(|error| EngineError::internal(format!("`{run_id}` names no run: {error}")))?;
        let run_dir = self.paths.run(&run_id);
        fs::create_dir_all(&run_dir)?;
        let place = self.watch.as_ref().map(|watch| watch.started(job)).transpose()?.unwrap_or_default();
        let session_dir = self.paths.dir().to_owned();
        let mut spec = JobSpec { run_id, run_dir, session_dir, ..job.spec.clone() };
        spec.cwd = place.cwd.unwrap_or(spec.cwd);
        // What the configuration sets for the role is stronger.
        for (name, value) in place.env {
            spec.env.entry(name).or_insert(value);
        }
        // Model and arguments of a role are for its own agent; a fall-back knows neither.
        if job.chain.first().is_some_and(|first| first.agent == link.agent) {
            let model = link.model.clone().or(spec.model);
            return Ok(JobSpec { model, ..spec });
        }
        Ok(JobSpec { model: link.model.clone(), extra_args: Vec::new(), ..spec })
    }

    fn record(&self, job: &JobRequest, link: &AgentRef, spec: &JobSpec, attempt: u32) -> RunRecord {
        RunRecord {
            run_id: spec.run_id.clone(),
            role: spec.role,
            mode: spec.mode,
            agent: link.agent.clone(),
            model: spec.model.clone(),
            item: job.item.clone(),
            title: job.title.clone(),
            attempt,
            cwd: spec.cwd.clone(),
            started_at: self.clock.now(),
            agent_session: spec.resume.clone(),
            input: fingerprint(spec),
        }
    }

    /// Waits for the run and passes on what it tells: sessions to its record, activities as events, not too many.
    async fn follow(
        &self,
        mut running: super::executor::Running,
        mut updates: mpsc::Receiver<Update>,
        record: &mut RunRecord,
        run_dir: &camino::Utf8Path,
    ) -> Result<JobOutcome> {
        let mut shown: Option<Instant> = None;
        let mut open = true;
        loop {
            let update = tokio::select! {
                biased;
                update = updates.recv(), if open => update,
                outcome = &mut running => return Ok(outcome),
            };
            match update {
                Some(Update::Session(session)) => {
                    if record.agent_session.as_ref() != Some(&session) {
                        record.agent_session = Some(session);
                        registry::save_record(run_dir, record)?;
                    }
                }
                Some(Update::Activity(text)) => {
                    if shown.is_none_or(|at| at.elapsed() >= self.activity) {
                        shown = Some(Instant::now());
                        self.events.emit(EventKind::JobActivity { run: record.run_id.clone(), text });
                    }
                }
                Some(Update::Started { .. } | Update::Usage(_)) => {}
                None => open = false,
            }
        }
    }

    /// Lets the workflow look, then writes `result.json` to the disk, then the board.
    async fn flush(
        &self,
        job: &Arc<JobRequest>,
        mut outcome: JobOutcome,
        run_dir: camino::Utf8PathBuf,
        end: CancellationToken,
    ) -> Result<JobOutcome> {
        let (shared, job) = (self.clone(), Arc::clone(job));
        let write = move || {
            if let Some(watch) = &shared.watch {
                watch.ended(&job, &run_dir, &mut outcome, &end)?;
            }
            let text = serde_json::to_vec_pretty(&outcome).map_err(EngineError::internal)?;
            fs::write_atomic(&RunPaths::new(run_dir).result(), &text)?;
            shared.post(&job, &outcome);
            Ok(outcome)
        };
        tokio::task::spawn_blocking(write)
            .await
            .map_err(|error| EngineError::internal(format!("a result could not be written: {error}")))?
    }

    /// Puts the result's discoveries on the board. A board that cannot be written fails no job.
    fn post(&self, job: &JobRequest, outcome: &JobOutcome) {
        let Some(result) = &outcome.result else { return };
        let worker = job.item.as_deref().unwrap_or(&outcome.run_id);
        let (good, bad) = board::of_result(result, worker, self.clock.now(), &self.zone);
        if bad > 0 {
            let text = format!("{worker}: {bad} malformed discoveries were left out");
            self.events.notice(Level::Warning, text);
        }
        match self.board.add_all(&good) {
            Ok(board::Tally { too_long: 0, .. }) => {}
            Ok(board::Tally { too_long, .. }) => {
                let text =
                    format!("{worker}: {too_long} discoveries of more than {} bytes were left out", board::MAX_LINE);
                self.events.notice(Level::Warning, text);
            }
            Err(error) => {
                self.events.notice(Level::Warning, format!("{worker}: its discoveries are not on the board: {error}"));
            }
        }
    }
}
