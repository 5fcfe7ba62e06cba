//! What other processes ask for while a batch runs.
//!
//! A request's file is removed once its effect is on disk and never before: killed at any instant, planex finds either
//! the request or what it led to. So a look may see the same request many times, and acting on it twice changes nothing.

use planex_core::job::{Cause, CauseKind, JobOutcome, JobStatus};

use super::attempt;
use super::dispatch::{Batch, Dispatcher, deliver};
use super::{Ended, Finished, Next, Stop};
use crate::error::Result;
use crate::registry;
use crate::requests::{self, Request};

impl Dispatcher {
    pub(super) fn look_at_requests<F>(&self, batch: &mut Batch, each: &mut F) -> Result<()>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        for placed in requests::waiting(&self.parts.paths)? {
            let settled = match &placed.request {
                // Whoever drives the session writes that it is cancelled, and removes the request then.
                Request::Cancel { tasks } if tasks.is_empty() => {
                    batch.stop = Some(Stop::Cancelled);
                    batch.end.cancel();
                    false
                }
                Request::Cancel { tasks } | Request::Skip { tasks } => self.end_items(batch, each, tasks)?,
                // Nothing of these has to outlive this process: one that was killed has paused.
                Request::Pause => {
                    batch.stop.get_or_insert(Stop::Paused);
                    true
                }
                Request::Unpause => {
                    if batch.stop == Some(Stop::Paused) {
                        batch.stop = None;
                    }
                    true
                }
                Request::Retry { .. } => false,
            };
            if settled {
                placed.done()?;
            }
        }
        Ok(())
    }

    /// After the batch: requests whose last run ended just now.
    pub(super) fn settle_requests(&self, batch: &Batch) -> Result<()> {
        for placed in requests::waiting(&self.parts.paths)? {
            let settled = match &placed.request {
                Request::Cancel { tasks } | Request::Skip { tasks } => {
                    let ended = |item: &String| place(batch, item).is_some_and(|index| !batch.queue.is_open(index));
                    !tasks.is_empty() && tasks.iter().all(ended)
                }
                Request::Pause | Request::Unpause | Request::Retry { .. } => false,
            };
            if settled {
                placed.done()?;
            }
        }
        Ok(())
    }

    /// Ends these items. Whether all of them are in this batch, and what they came to is on disk.
    fn end_items<F>(&self, batch: &mut Batch, each: &mut F, items: &[String]) -> Result<bool>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let mut settled = true;
        for item in items {
            let Some(index) = place(batch, item) else {
                settled = false;
                continue;
            };
            if batch.queue.is_running(index) {
                settled = false;
                batch.ended_by_request.insert(index);
                if let Some(token) = batch.tokens.get(&index) {
                    token.cancel();
                }
            } else if batch.queue.is_open(index) {
                self.skip(batch, each, index)?;
            }
        }
        Ok(settled)
    }

    /// Skips a job that does not run.
    fn skip<F>(&self, batch: &mut Batch, each: &mut F, index: usize) -> Result<()>
    where
        F: FnMut(Finished) -> Result<Next> + Send,
    {
        let Some(job) = batch.jobs.get(index) else { return Ok(()) };
        let cause = Cause::new(CauseKind::Cancelled, "skipped by the user");
        let attempts = batch.attempts.get(index).copied().unwrap_or(0);
        let outcome = attempt::not_started(job, JobStatus::Cancelled, cause, attempts, &self.parts.clock);
        self.keep_skip(batch, index, &outcome)?;
        batch.queue.finish(index);
        deliver(batch, each, Finished { index, outcome, attempts, ended: Ended::Skipped })
    }

    /// Writes down that the user ended a job, so that no later planex runs it.
    pub(super) fn keep_skip(&self, batch: &Batch, index: usize, outcome: &JobOutcome) -> Result<()> {
        let Some(job) = batch.jobs.get(index) else { return Ok(()) };
        registry::skip(&self.parts.paths, &job.spec.run_id, outcome)
    }
}

fn place(batch: &Batch, item: &str) -> Option<usize> {
    batch.jobs.iter().position(|job| job.item.as_deref() == Some(item))
}
