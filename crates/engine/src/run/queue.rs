//! Which job starts next, and what follows an outcome. Pure: the time is handed in.
//!
//! A job's try number `k` begins with link `k mod n` of its chain of `n` agents; after `n × (1 + retries)` tries that
//! failed it is done for good. Links that are limited or unusable are passed over without counting as tries.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use planex_agents::AgentRef;
use planex_core::job::{Cause, CauseKind, JobOutcome, JobStatus};

use super::Policy;

/// What follows an outcome.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Follow {
    /// Nothing: it is final.
    Final,
    /// It is tried again as soon as there is a slot.
    Again,
    /// It is tried again, but not before.
    Wait(Timestamp),
}

/// A job that may start now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) index: usize,
    pub(super) link: AgentRef,
}

#[derive(Debug)]
struct Job {
    chain: Vec<AgentRef>,
    retries: u32,
    /// Tries that failed.
    tries: u32,
    /// Waits for limits so far.
    limits: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    Waiting(Timestamp),
    Running,
    Done,
}

#[derive(Debug, Default)]
struct Agent {
    running: usize,
    /// Configured limit.
    most: Option<usize>,
    /// Limit that rate limits taught; grows again with each success.
    throttle: Option<usize>,
    /// Why no further job may start.
    dead: Option<Cause>,
}

impl Agent {
    fn has_room(&self) -> bool {
        self.running < self.most.unwrap_or(usize::MAX).min(self.throttle.unwrap_or(usize::MAX))
    }
}

/// All jobs of a batch.
#[derive(Debug)]
pub(super) struct Queue {
    policy: Policy,
    jobs: Vec<Job>,
    agents: BTreeMap<String, Agent>,
    /// Until when a link is limited, by its name.
    limited: BTreeMap<String, Timestamp>,
    /// Links whose quota is used up.
    spent: BTreeMap<String, Cause>,
    /// Ready jobs by their first link's agent, so that a full agent costs one look and not one a job.
    ready: BTreeMap<String, BTreeSet<usize>>,
    waiting: BTreeSet<(Timestamp, usize)>,
    running: usize,
}

impl Queue {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy,
            jobs: Vec::new(),
            agents: BTreeMap::new(),
            limited: BTreeMap::new(),
            spent: BTreeMap::new(),
            ready: BTreeMap::new(),
            waiting: BTreeSet::new(),
            running: 0,
        }
    }

    /// Adds the next job; `tries` of it have failed before.
    pub(super) fn push(&mut self, chain: Vec<AgentRef>, retries: u32, tries: u32) -> usize {
        let index = self.jobs.len();
        self.jobs.push(Job { chain, retries, tries, limits: 0, state: State::Done });
        index
    }

    pub(super) fn set_most(&mut self, agent: &str, most: Option<usize>) {
        self.agents.entry(agent.to_owned()).or_default().most = most;
    }

    pub(super) fn limit(&mut self, link: &str, until: Timestamp) {
        self.limited.insert(link.to_owned(), until);
    }

    /// Whether a job with so many failed tries has none left.
    pub(super) fn is_exhausted(chain: usize, retries: u32, tries: u32) -> bool {
        let allowed = u64::from(retries).saturating_add(1).saturating_mul(chain as u64);
        u64::from(tries) >= allowed
    }

    /// The one place where a job changes its state.
    fn set(&mut self, index: usize, state: State) {
        let Some(job) = self.jobs.get_mut(index) else { return };
        let agent = first_link(job).map(|link| link.agent.clone()).unwrap_or_default();
        match job.state {
            State::Ready => drop(self.ready.get_mut(&agent).map(|set| set.remove(&index))),
            State::Waiting(at) => drop(self.waiting.remove(&(at, index))),
            State::Running => self.running -= 1,
            State::Done => {}
        }
        job.state = state;
        match state {
            State::Ready => drop(self.ready.entry(agent).or_default().insert(index)),
            State::Waiting(at) => drop(self.waiting.insert((at, index))),
            State::Running => self.running += 1,
            State::Done => {}
        }
    }

    pub(super) fn make_ready(&mut self, index: usize) {
        self.set(index, State::Ready);
    }

    pub(super) fn finish(&mut self, index: usize) {
        self.set(index, State::Done);
    }

    pub(super) fn is_open(&self, index: usize) -> bool {
        self.jobs.get(index).is_some_and(|job| job.state != State::Done)
    }

    pub(super) fn is_running(&self, index: usize) -> bool {
        self.jobs.get(index).is_some_and(|job| job.state == State::Running)
    }

    pub(super) fn running(&self) -> usize {
        self.running
    }

    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.jobs.len()).filter(|index| self.is_open(*index)).collect()
    }

    /// Whether anything could start now or later.
    pub(super) fn has_pending(&self) -> bool {
        !self.waiting.is_empty() || self.ready.values().any(|set| !set.is_empty())
    }

    /// When the next waiting job may start.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.waiting.first().map(|(at, _)| *at)
    }

    /// The next job that may start now, in the order of the batch.
    ///
    /// Jobs found to have to wait on the way are set waiting and given in `waits` with the reason.
    pub(super) fn next(&mut self, now: Timestamp, waits: &mut Vec<(usize, Timestamp)>) -> Option<Start> {
        while let Some((at, index)) = self.waiting.first().copied().filter(|(at, _)| *at <= now) {
            debug_assert!(at <= now);
            self.set(index, State::Ready);
        }
        if self.running >= self.policy.concurrency.max(1) {
            return None;
        }
        let mut full: BTreeSet<String> = BTreeSet::new();
        loop {
            let index = self.first_ready(&full)?;
            match self.link_of(index, now) {
                Link::Free(link) => {
                    self.set(index, State::Running);
                    self.agents.entry(link.agent.clone()).or_default().running += 1;
                    return Some(Start { index, link });
                }
                // The first agent of this job is full (or limited and its fall-back full): so it is for all behind it.
                Link::Full => {
                    let first = self.jobs.get(index).and_then(first_link).map(|link| link.agent.clone());
                    full.insert(first?);
                }
                Link::Limited(until) => {
                    self.set(index, State::Waiting(until));
                    waits.push((index, until));
                }
                // `doomed` finds these.
                Link::None => return None,
            }
        }
    }

    fn first_ready(&self, full: &BTreeSet<String>) -> Option<usize> {
        let sets = self.ready.iter().filter(|(agent, _)| !full.contains(*agent));
        sets.filter_map(|(_, set)| set.first().copied()).min()
    }

    fn link_of(&self, index: usize, now: Timestamp) -> Link {
        let Some(job) = self.jobs.get(index) else { return Link::None };
        let (mut full, mut limited) = (false, None::<Timestamp>);
        for link in links(job) {
            if self.why_dead(link).is_some() {
                continue;
            }
            if let Some(until) = self.limited.get(&link.to_string()).filter(|until| **until > now) {
                limited = Some(limited.map_or(*until, |at| at.min(*until)));
                continue;
            }
            if self.agents.get(&link.agent).is_none_or(Agent::has_room) {
                return Link::Free(link.clone());
            }
            // Its turn comes as soon as a slot is free: no reason to use a fall-back.
            full = true;
            break;
        }
        match (full, limited) {
            (true, _) => Link::Full,
            (false, Some(until)) => Link::Limited(until),
            (false, None) => Link::None,
        }
    }

    fn why_dead(&self, link: &AgentRef) -> Option<&Cause> {
        let agent = self.agents.get(&link.agent).and_then(|agent| agent.dead.as_ref());
        agent.or_else(|| self.spent.get(&link.to_string()))
    }

    /// Jobs that wait for a slot although no agent of their chain is usable any more, with why; they are done.
    pub(super) fn doomed(&mut self) -> Vec<(usize, Cause)> {
        if self.spent.is_empty() && self.agents.values().all(|agent| agent.dead.is_none()) {
            return Vec::new();
        }
        let candidates = self.ready.values().flatten().copied().chain(self.waiting.iter().map(|(_, index)| *index));
        let mut doomed: Vec<(usize, Cause)> = Vec::new();
        for index in candidates {
            let Some(job) = self.jobs.get(index) else { continue };
            let causes: Vec<&Cause> = job.chain.iter().filter_map(|link| self.why_dead(link)).collect();
            if let (true, Some(first)) = (causes.len() == job.chain.len(), causes.first()) {
                doomed.push((index, (*first).clone()));
            }
        }
        doomed.sort_by_key(|(index, _)| *index);
        doomed.iter().for_each(|(index, _)| self.set(*index, State::Done));
        doomed
    }

    /// Takes an outcome of a running job and says what follows.
    pub(super) fn ended(&mut self, index: usize, link: &AgentRef, outcome: &JobOutcome, now: Timestamp) -> Follow {
        let agent = self.agents.entry(link.agent.clone()).or_default();
        agent.running = agent.running.saturating_sub(1);
        let kind = outcome.cause.as_ref().map(|cause| cause.kind);
        let follow = match (outcome.status, kind) {
            (JobStatus::Completed, _) => {
                agent.throttle = agent.throttle.map(|most| most.saturating_add(1));
                Follow::Final
            }
            (JobStatus::Cancelled, _) | (_, Some(CauseKind::Cancelled | CauseKind::Budget)) => Follow::Final,
            (_, Some(CauseKind::RateLimited)) => self.limited(index, link, outcome, now),
            (_, Some(CauseKind::Quota)) => match outcome.cause.as_ref().and_then(|cause| cause.retry_at) {
                Some(_) => self.limited(index, link, outcome, now),
                None => {
                    self.spent.insert(link.to_string(), cause_of(outcome));
                    self.other_link(index, now)
                }
            },
            (_, Some(CauseKind::Auth | CauseKind::AgentNotUsable)) => {
                agent.dead = Some(cause_of(outcome));
                self.other_link(index, now)
            }
            (
                JobStatus::Failed | JobStatus::Timeout,
                None
                | Some(
                    CauseKind::Failed
                    | CauseKind::Timeout
                    | CauseKind::Idle
                    | CauseKind::NoResult
                    | CauseKind::InvalidResult,
                ),
            ) => self.failed(index, now),
        };
        self.set(
            index,
            match follow {
                Follow::Final => State::Done,
                Follow::Again => State::Ready,
                Follow::Wait(until) => State::Waiting(until),
            },
        );
        follow
    }

    fn failed(&mut self, index: usize, now: Timestamp) -> Follow {
        let base = self.policy.retry_base;
        let Some(job) = self.jobs.get_mut(index) else { return Follow::Final };
        job.tries = job.tries.saturating_add(1);
        let chain = u32::try_from(job.chain.len()).unwrap_or(u32::MAX).max(1);
        if Self::is_exhausted(job.chain.len(), job.retries, job.tries) {
            return Follow::Final;
        }
        // A fall-back starts at once, a new round after a while.
        if job.tries % chain != 0 {
            return Follow::Again;
        }
        let round = job.tries / chain - 1;
        Follow::Wait(self.after(now, base, round, index))
    }

    fn limited(&mut self, index: usize, link: &AgentRef, outcome: &JobOutcome, now: Timestamp) -> Follow {
        let (base, most) = (self.policy.rate_limit_base, self.policy.rate_limit_retries);
        let Some(job) = self.jobs.get_mut(index) else { return Follow::Final };
        job.limits = job.limits.saturating_add(1);
        let (limits, single) = (job.limits, job.chain.len() == 1);
        let agent = self.agents.entry(link.agent.clone()).or_default();
        let was = agent.throttle.unwrap_or(agent.running + 1);
        agent.throttle = Some((was / 2).max(1));
        let told = outcome.cause.as_ref().and_then(|cause| cause.retry_at).filter(|at| *at > now);
        let until = told.unwrap_or_else(|| self.after(now, base, limits - 1, index));
        let known = self.limited.entry(link.to_string()).or_insert(until);
        *known = (*known).max(until);
        let until = *known;
        if limits > most {
            return Follow::Final;
        }
        if single { Follow::Wait(until) } else { self.other_link(index, now) }
    }

    /// After a link was found unusable: the next one, the wait for one, or the end.
    fn other_link(&self, index: usize, now: Timestamp) -> Follow {
        match self.link_of(index, now) {
            Link::Free(_) | Link::Full => Follow::Again,
            Link::Limited(until) => Follow::Wait(until),
            Link::None => Follow::Final,
        }
    }

    /// Exponential backoff with jitter of up to a quarter, spread by the job's place.
    fn after(&self, now: Timestamp, base: Duration, round: u32, index: usize) -> Timestamp {
        let doubled = base.saturating_mul(2_u32.saturating_pow(round.min(20))).min(self.policy.longest_wait);
        let quarter = u64::try_from(doubled.as_millis() / 4).unwrap_or(u64::MAX).max(1);
        let spread = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) % quarter;
        let wait = doubled + Duration::from_millis(spread);
        now.checked_add(SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX)).unwrap_or(Timestamp::MAX)
    }
}

enum Link {
    Free(AgentRef),
    Full,
    Limited(Timestamp),
    None,
}

fn cause_of(outcome: &JobOutcome) -> Cause {
    outcome.cause.clone().unwrap_or_else(|| Cause::new(CauseKind::Failed, "it failed"))
}

/// The links of a job, beginning with that of its present try.
fn links(job: &Job) -> impl Iterator<Item = &AgentRef> {
    let count = job.chain.len().max(1);
    let start = job.tries as usize % count;
    job.chain.iter().cycle().skip(start).take(job.chain.len())
}

fn first_link(job: &Job) -> Option<&AgentRef> {
    links(job).next()
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
