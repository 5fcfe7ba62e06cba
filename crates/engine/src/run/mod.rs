//! Running jobs: the dispatcher (spec 10, *Running*).
//!
//! [`Dispatcher::run`] takes a batch of [`JobRequest`]s and drives it to its end: rolling slots in the given order,
//! limits per agent, waits for rate limits, fall-backs, retries, budgets, requests of other processes, cancellation. The
//! decisions are in [`queue`] (pure), the running in [`executor`], the files of each run in [`attempt`].
//!
//! An outcome counts once its `result.json` is flushed. A run folder that already holds one for the same job is not run
//! again, so a batch that was killed goes on where it was. What other processes ask for meanwhile is [`asked`]'s.

mod asked;
mod attempt;
mod budget;
mod dispatch;
mod executor;
mod limits;
mod queue;

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_agents::AgentRef;
use planex_core::job::{Cause, JobOutcome, JobSpec};
use tokio_util::sync::CancellationToken;

pub use budget::BudgetState;
pub use dispatch::{Batch, Dispatcher, Parts};
pub use executor::{Execution, Executor, LocalExecutor, Running};
pub use limits::LimitBook;

use crate::error::Result;

/// One job of a batch.
#[derive(Debug, Clone)]
pub struct JobRequest {
    /// The job. `run_id` is the base; the attempt's id, folder and model are filled in for each try.
    pub spec: JobSpec,
    /// Who runs it: the first, then the fall-backs in order. Never empty.
    pub chain: Vec<AgentRef>,
    /// The row or task.
    pub item: Option<String>,
    /// What is shown for it.
    pub title: String,
    /// How often a failed job is tried again (rate limits have their own count).
    pub retries: u32,
}

/// How a job of a batch came to its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It ran.
    Ran,
    /// An earlier planex had finished it.
    Reused,
    /// The user skipped it, or ended it while it ran.
    Skipped,
    /// No agent of its chain is usable any more; it was not started.
    NotRun,
}

/// Where a run works, beside what its job says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Its working folder; `None`: the job's own.
    pub cwd: Option<Utf8PathBuf>,
    /// Variables that are added to the job's.
    pub env: BTreeMap<String, String>,
}

/// What a workflow does around each run, on a thread where blocking is fine: making its tree, observing the files it
/// changes, running commands that verify it.
pub trait Watch: Send + Sync {
    /// A run of this job is about to start: where it works.
    ///
    /// # Errors
    /// It cannot be started, and neither can others: the batch ends.
    fn started(&self, job: &JobRequest) -> Result<Place>;

    /// It ended; what is put into `outcome` here is flushed with it. `end` is set when planex is to end.
    ///
    /// # Errors
    /// What was observed cannot be written: the run does not count, and the batch ends.
    fn ended(
        &self,
        job: &JobRequest,
        run_dir: &Utf8Path,
        outcome: &mut JobOutcome,
        end: &CancellationToken,
    ) -> Result<()>;
}

/// One job that is done for good: no retry or fall-back follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its place in the batch.
    pub index: usize,
    /// What came out, flushed to its folder (unless it was never started).
    pub outcome: JobOutcome,
    /// How many runs it took, those of earlier planexes included.
    pub attempts: u32,
    /// How.
    pub ended: Ended,
}

/// What the caller wants after one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Go on.
    GoOn,
    /// Start nothing new; what runs goes on to its end.
    Stop,
}

/// Why a batch ended before all of its jobs did.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The caller asked for it.
    Asked,
    /// Ctrl-C or a signal.
    Interrupted,
    /// Another process asked to cancel the session.
    Cancelled,
    /// Another process asked to pause it.
    Paused,
    /// A budget is used up; the gate to raise it is open or was answered with "stop".
    Budget(Cause),
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchReport {
    /// Why it ended early.
    pub stop: Option<Stop>,
    /// Places of the jobs without a final outcome, in order.
    pub open: Vec<usize>,
}

/// Times and counts of the dispatcher.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Jobs at once.
    pub concurrency: usize,
    /// How often a rate-limited job is tried again.
    pub rate_limit_retries: u32,
    /// First wait after a rate limit that names no time; doubles each time.
    pub rate_limit_base: Duration,
    /// First wait before a retry of a failed job; doubles each time.
    pub retry_base: Duration,
    /// Longest wait that planex chooses itself.
    pub longest_wait: Duration,
    /// How often requests of other processes are looked for.
    pub poll: Duration,
    /// Shortest time between two activities of one run that are shown.
    pub activity: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            concurrency: 4,
            rate_limit_retries: 5,
            rate_limit_base: Duration::from_secs(5),
            retry_base: Duration::from_secs(2),
            longest_wait: Duration::from_secs(600),
            poll: Duration::from_millis(250),
            activity: Duration::from_millis(400),
        }
    }
}

#[cfg(test)]
mod tests;
