//! The dispatcher: drives a batch of jobs to its end. Decisions are the [`Queue`]'s; this is the loop around it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use planex_agents::AgentRef;
use planex_core::event::{EventKind, Level};
use planex_core::job::{Cause, CauseKind, JobOutcome, JobStatus};
use planex_core::time::Zone;
use planex_sys::clock::Clock;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::attempt::{self, Shared};
use super::queue::{Follow, Queue, Start};
use super::{BatchReport, BudgetState, Ended, Executor, Finished, JobRequest, LimitBook, Next, Policy, Stop, Watch};
use crate::cancel::Cancel;
use crate::error::{EngineError, Result};
use crate::gate::{GateResult, Gates};
use crate::journal::EventSink;
use crate::registry;
use crate::store::SessionPaths;

/// What a dispatcher is made of.
#[derive(Clone)]
pub struct Parts {
    /// The session's files.
    pub paths: SessionPaths,
    /// Who runs the jobs.
    pub executor: Arc<dyn Executor>,
    /// Where it is told.
    pub events: EventSink,
    /// The session's gates, for budgets; `None`: a used-up budget just stops.
    pub gates: Option<Gates>,
    /// The time.
    pub clock: Clock,
    /// The zone of stored times.
    pub zone: Zone,
    /// Ends everything.
    pub cancel: Cancel,
    /// What may be used up.
    pub budget: BudgetState,
    /// Times and counts.
    pub policy: Policy,
    /// What the workflow does around each run.
    pub watch: Option<Arc<dyn Watch>>,
}

/// Runs batches of jobs, one batch at a time.
pub struct Dispatcher {
    pub(super) parts: Parts,
    shared: Shared,
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher").field("session", &self.parts.paths.dir()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("jobs", &self.jobs.len()).field("stop", &self.stop).finish_non_exhaustive()
    }
}

/// A batch on its way.
pub struct Batch {
    pub(super) jobs: Vec<Arc<JobRequest>>,
    /// Attempts of each job so far, those of earlier planexes included.
    pub(super) attempts: Vec<u32>,
    pub(super) queue: Queue,
    running: JoinSet<(usize, AgentRef, Result<JobOutcome>)>,
    pub(super) tokens: HashMap<usize, CancellationToken>,
    by_task: HashMap<tokio::task::Id, (usize, AgentRef)>,
    /// Jobs that another process asked to end: what they end with is final.
    pub(super) ended_by_request: HashSet<usize>,
    pub(super) stop: Option<Stop>,
    pub(super) end: CancellationToken,
}

impl Dispatcher {
    /// A dispatcher of one session.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let shared = Shared {
            paths: parts.paths.clone(),
            board: crate::board::Writer::new(parts.paths.clone()),
            executor: Arc::clone(&parts.executor),
            events: parts.events.clone(),
            clock: parts.clock.clone(),
            zone: parts.zone.clone(),
            watch: parts.watch.clone(),
            activity: parts.policy.activity,
        };
        Self { parts, shared }
    }

    /// What the session has used so far.
    #[must_use]
    pub fn budget(&self) -> &BudgetState {
        &self.parts.budget
    }

    /// Runs `jobs` to their end and gives each final outcome to `each`, those of earlier planexes first.
    ///
    /// Jobs start in the given order. `each` is called on the caller's task; it may read and write session files.
    ///
    /// # Errors
    /// `each` failed, or a run's files could not be written: what runs is ended, its results are kept. Jobs that fail are
    /// no errors.
    pub async fn run<F>(&mut self, jobs: Vec<JobRequest>, mut each: F) -> Result<BatchReport>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let batch = self.enqueue(jobs, &mut each)?;
        self.finish(batch, each).await
    }

    /// Drives what [`Self::enqueue`] made to its end; see [`Self::run`].
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn finish<F>(&mut self, mut batch: Batch, mut each: F) -> Result<BatchReport>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let driven = self.drive(&mut batch, &mut each).await;
        if driven.is_err() {
            batch.end.cancel();
            while batch.running.join_next().await.is_some() {}
        }
        driven?;
        self.settle_requests(&batch)?;
        self.parts.events.check()?;
        Ok(BatchReport { open: batch.queue.open(), stop: batch.stop })
    }

    /// The first half of [`Self::run`]: gives the outcomes of earlier planexes to `each` and starts nothing.
    ///
    /// # Errors
    /// `each` failed, or what earlier planexes left cannot be read.
    pub fn enqueue<F>(&self, jobs: Vec<JobRequest>, each: &mut F) -> Result<Batch>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let mut batch = Batch {
            jobs: jobs.into_iter().map(Arc::new).collect(),
            attempts: Vec::new(),
            queue: Queue::new(self.parts.policy.clone()),
            running: JoinSet::new(),
            tokens: HashMap::new(),
            by_task: HashMap::new(),
            ended_by_request: HashSet::new(),
            stop: None,
            end: self.parts.cancel.end().child_token(),
        };
        let book = LimitBook::load(self.parts.paths.limits(), self.parts.clock.now())?;
        for (index, job) in batch.jobs.iter().enumerate() {
            if job.chain.is_empty() {
                return Err(EngineError::internal(format!("the job {} names no agent", job.spec.run_id)));
            }
            for link in &job.chain {
                batch.queue.set_most(&link.agent, self.parts.executor.concurrency(&link.agent));
                let key = link.to_string();
                if let Some(until) = book.until(&key, self.parts.clock.now()) {
                    batch.queue.limit(&key, until);
                }
            }
            let before = attempt::before(&self.parts.paths, &job.spec)?;
            batch.queue.push(job.chain.clone(), job.retries, before.tries);
            batch.attempts.push(before.attempts);
            let attempts = before.attempts;
            if let Some(outcome) = registry::skipped(&self.parts.paths, &job.spec.run_id)? {
                // One that ended by itself before it heard of the request keeps what it came to.
                let cancelled = outcome.status == JobStatus::Cancelled;
                let ended = if cancelled { Ended::Skipped } else { Ended::Reused };
                each(Finished { index, outcome, attempts, ended })?;
                continue;
            }
            let last = before.last.filter(|outcome| {
                outcome.status == JobStatus::Completed
                    || Queue::is_exhausted(job.chain.len(), job.retries, before.tries)
            });
            match last {
                Some(outcome) => {
                    let finished = Finished { index, outcome, attempts, ended: Ended::Reused };
                    if each(finished)? == Next::Stop {
                        batch.stop = Some(Stop::Asked);
                    }
                }
                None => batch.queue.make_ready(index),
            }
        }
        Ok(batch)
    }

    async fn drive<F>(&mut self, batch: &mut Batch, each: &mut F) -> Result<()>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let mut poll = tokio::time::interval(self.parts.policy.poll);
        poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let end = self.parts.cancel.end().clone();
        // What was asked for before this batch is heeded before anything of it starts.
        self.look_at_requests(batch, each)?;
        loop {
            if end.is_cancelled() && !matches!(batch.stop, Some(Stop::Interrupted)) {
                batch.stop = Some(Stop::Interrupted);
            }
            self.start_what_fits(batch, each)?;
            if batch.queue.running() == 0 && (batch.stop.is_some() || !batch.queue.has_pending()) {
                if self.may_go_on(batch)? {
                    continue;
                }
                return Ok(());
            }
            let due = self.until_due(batch);
            tokio::select! {
                biased;
                Some(done) = batch.running.join_next_with_id(), if !batch.running.is_empty() => {
                    self.take(batch, done, each)?;
                }
                () = end.cancelled(), if batch.stop != Some(Stop::Interrupted) => {}
                () = tokio::time::sleep(due), if batch.stop.is_none() && due < Duration::MAX => {}
                _ = poll.tick() => self.look_at_requests(batch, each)?,
            }
        }
    }

    /// After everything stopped by a budget: asks whether to raise it.
    fn may_go_on(&mut self, batch: &mut Batch) -> Result<bool> {
        let (Some(Stop::Budget(cause)), Some(gates)) = (&batch.stop, &self.parts.gates) else { return Ok(false) };
        if batch.queue.open().is_empty() {
            return Ok(false);
        }
        let gate = self.parts.budget.gate(gates.id("budget", None)?, cause, self.parts.clock.now());
        match gates.open_strict(gate)? {
            GateResult::Passed(answer) if answer.option("budget") == Some("raise") => {
                self.parts.budget.raise();
                batch.stop = None;
                Ok(true)
            }
            GateResult::Passed(_) | GateResult::Deferred(_) => Ok(false),
        }
    }

    fn until_due(&self, batch: &Batch) -> Duration {
        let Some(at) = batch.queue.next_due() else { return Duration::MAX };
        let wait = at.duration_since(self.parts.clock.now());
        Duration::try_from(wait).unwrap_or(Duration::ZERO).max(Duration::from_millis(1))
    }

    fn start_what_fits<F>(&mut self, batch: &mut Batch, each: &mut F) -> Result<()>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        loop {
            for (index, cause) in batch.queue.doomed() {
                let (Some(job), Some(attempts)) = (batch.jobs.get(index), batch.attempts.get(index)) else { continue };
                let outcome = attempt::not_started(job, JobStatus::Failed, cause, *attempts, &self.parts.clock);
                deliver(batch, each, Finished { index, outcome, attempts: 0, ended: Ended::NotRun })?;
            }
            if batch.stop.is_some() {
                return Ok(());
            }
            if let Some(cause) = self.parts.budget.exceeded().filter(|_| batch.queue.has_pending()) {
                self.parts.events.notice(Level::Warning, format!("no new job starts: {}", cause.message));
                batch.stop = Some(Stop::Budget(cause));
                return Ok(());
            }
            let mut waits = Vec::new();
            let start = batch.queue.next(self.parts.clock.now(), &mut waits);
            for (index, until) in waits {
                self.say_waiting(batch, index, None, until);
            }
            let Some(start) = start else { return Ok(()) };
            self.spawn(batch, start);
        }
    }

    fn spawn(&self, batch: &mut Batch, start: Start) {
        let Start { index, link } = start;
        let (Some(job), Some(attempts)) = (batch.jobs.get(index), batch.attempts.get_mut(index)) else { return };
        *attempts = attempts.saturating_add(1);
        let (shared, job, attempt) = (self.shared.clone(), Arc::clone(job), *attempts);
        let (end, kill) = (batch.end.child_token(), self.parts.cancel.kill().clone());
        batch.tokens.insert(index, end.clone());
        let key = (index, link.clone());
        let handle = batch.running.spawn(async move {
            let outcome = shared.run(&job, link.clone(), attempt, end, kill).await;
            (index, link, outcome)
        });
        batch.by_task.insert(handle.id(), key);
    }

    fn take<F>(&mut self, batch: &mut Batch, done: Joined, each: &mut F) -> Result<()>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let (index, link, outcome) = match done {
            Ok((id, done)) => {
                batch.by_task.remove(&id);
                done
            }
            // A panic in one run takes down no other.
            Err(error) => {
                let Some((index, link)) = batch.by_task.remove(&error.id()) else { return Ok(()) };
                let Some(job) = batch.jobs.get(index) else { return Ok(()) };
                let cause = Cause::new(CauseKind::Failed, format!("planex failed while it ran this job: {error}"));
                let outcome = attempt::not_started(job, JobStatus::Failed, cause, 1, &self.parts.clock);
                (index, link, Ok(outcome))
            }
        };
        batch.tokens.remove(&index);
        let outcome = outcome?;
        self.parts.budget.add(&outcome.usage);
        let now = self.parts.clock.now();
        let follow = batch.queue.ended(index, &link, &outcome, now);
        self.note_limit(&link, &outcome, &follow)?;
        let by_request = batch.ended_by_request.contains(&index);
        match follow {
            // Ended because everything ends: it is run again at resume.
            Follow::Final if outcome.status == JobStatus::Cancelled && batch.end.is_cancelled() && !by_request => {
                batch.queue.make_ready(index);
                Ok(())
            }
            _ if by_request => {
                batch.queue.finish(index);
                if outcome.status != JobStatus::Completed {
                    self.keep_skip(batch, index, &outcome)?;
                }
                // One that ended by itself before it heard of the request keeps what it came to.
                let ended = if outcome.status == JobStatus::Cancelled { Ended::Skipped } else { Ended::Ran };
                self.final_outcome(batch, each, index, outcome, ended)
            }
            Follow::Final => self.final_outcome(batch, each, index, outcome, Ended::Ran),
            Follow::Again => Ok(()),
            Follow::Wait(until) => {
                self.say_waiting(batch, index, outcome.cause, until);
                Ok(())
            }
        }
    }

    fn final_outcome<F>(
        &self,
        batch: &mut Batch,
        each: &mut F,
        index: usize,
        outcome: JobOutcome,
        ended: Ended,
    ) -> Result<()>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let attempts = batch.attempts.get(index).copied().unwrap_or(1);
        deliver(batch, each, Finished { index, outcome, attempts, ended })
    }

    /// Keeps a limit beyond this process.
    fn note_limit(&self, link: &AgentRef, outcome: &JobOutcome, follow: &Follow) -> Result<()> {
        let kind = outcome.cause.as_ref().map(|cause| cause.kind);
        let told = outcome.cause.as_ref().and_then(|cause| cause.retry_at);
        let until = match (kind, follow) {
            (Some(CauseKind::RateLimited | CauseKind::Quota), Follow::Wait(until)) => told.unwrap_or(*until),
            (Some(CauseKind::RateLimited | CauseKind::Quota), _) => match told {
                Some(at) => at,
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let mut book = LimitBook::load(self.parts.paths.limits(), self.parts.clock.now())?;
        book.note(&link.to_string(), until)
    }

    fn say_waiting(&self, batch: &Batch, index: usize, cause: Option<Cause>, until: Timestamp) {
        let Some(job) = batch.jobs.get(index) else { return };
        let cause = cause.unwrap_or_else(|| Cause::new(CauseKind::RateLimited, "its agent is limited"));
        let until = self.parts.zone.stamp(until);
        self.parts.events.emit(EventKind::JobWaiting { run: job.spec.run_id.clone(), cause, until });
    }
}

type Joined = std::result::Result<(tokio::task::Id, (usize, AgentRef, Result<JobOutcome>)), tokio::task::JoinError>;

pub(super) fn deliver<F>(batch: &mut Batch, each: &mut F, finished: Finished) -> Result<()>
where
    F: FnMut(Finished) -> Result<Next> + Send,
{
    if each(finished)? == Next::Stop {
        batch.stop.get_or_insert(Stop::Asked);
    }
    Ok(())
}
