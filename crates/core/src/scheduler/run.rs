//! The machine.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::limits::{Lane, Limits};
use super::{Action, End, Event, Item, Verdict};
use crate::job::CauseKind;

/// Where an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Dependencies are not completed.
    Blocked,
    /// Waits for a slot.
    Ready,
    /// Waits for a time.
    Waiting(Timestamp),
    /// Runs.
    Running,
    /// Over.
    Ended,
}

#[derive(Debug)]
struct Entry {
    item: Item,
    state: State,
    /// Index of the agent that is to run it.
    agent: usize,
    /// Dependencies that are not completed.
    missing: usize,
    dependents: Vec<usize>,
    attempts: u32,
    /// Failures on this agent.
    failures: u32,
    waits: u32,
    cancelled: bool,
}

/// Whether anything may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    Open,
    Held,
    Closed,
}

/// All items of a batch. See the module for the rules.
#[derive(Debug)]
pub struct Scheduler {
    limits: Limits,
    entries: Vec<Entry>,
    index: HashMap<String, usize>,
    lanes: BTreeMap<String, Lane>,
    /// Ready items by agent, so that a full agent costs one look.
    ready: BTreeMap<String, BTreeSet<usize>>,
    waiting: BTreeSet<(Timestamp, usize)>,
    running: usize,
    left: usize,
    gate: Gate,
    /// The time of the last [`Action::Wake`].
    wake: Option<Timestamp>,
    finished: bool,
    /// [`Action::Idle`] was said and still holds.
    idle: bool,
    actions: Vec<Action>,
}

impl Scheduler {
    /// A batch that has not begun. Items whose key is taken are left out.
    #[must_use]
    pub fn new(items: Vec<Item>, limits: Limits) -> Self {
        let mut scheduler = Self {
            limits,
            entries: Vec::with_capacity(items.len()),
            index: HashMap::with_capacity(items.len()),
            lanes: BTreeMap::new(),
            ready: BTreeMap::new(),
            waiting: BTreeSet::new(),
            running: 0,
            left: 0,
            gate: Gate::Open,
            wake: None,
            finished: false,
            idle: false,
            actions: Vec::new(),
        };
        for item in items {
            scheduler.add(item);
        }
        scheduler.link();
        scheduler
    }

    /// Takes in what happened at `now`; what is to be done, in this order.
    #[must_use]
    pub fn on(&mut self, now: Timestamp, event: Event) -> Vec<Action> {
        match event {
            Event::Begin => self.begin(),
            Event::Finished { key, verdict } => self.finish(now, &key, verdict),
            // A timer may fire early: what is next is said again.
            Event::Timer => self.wake = None,
            Event::CancelAll => self.cancel_all(),
            Event::CancelItem { key } => {
                if let Some(&at) = self.index.get(&key) {
                    self.cancel(at);
                }
            }
            Event::StopRest => self.stop(),
            Event::Hold if self.gate == Gate::Open => self.gate = Gate::Held,
            Event::Release if self.gate == Gate::Held => self.gate = Gate::Open,
            Event::Hold | Event::Release => {}
        }
        self.due(now);
        self.start(now);
        self.close(now);
        std::mem::take(&mut self.actions)
    }

    fn add(&mut self, item: Item) {
        let at = self.entries.len();
        if self.index.contains_key(&item.key) {
            return;
        }
        for agent in &item.agents {
            let most = self.limits.per_agent.get(agent).copied().unwrap_or(usize::MAX);
            let most = most.min(self.limits.concurrency);
            self.lanes.entry(agent.clone()).or_insert_with(|| Lane::new(most));
        }
        self.index.insert(item.key.clone(), at);
        self.left += 1;
        self.entries.push(Entry {
            item,
            state: State::Blocked,
            agent: 0,
            missing: 0,
            dependents: Vec::new(),
            attempts: 0,
            failures: 0,
            waits: 0,
            cancelled: false,
        });
    }

    fn link(&mut self) {
        for at in 0..self.entries.len() {
            let deps: BTreeSet<String> = self.entries[at].item.deps.iter().cloned().collect();
            self.entries[at].missing = deps.len();
            for to in deps.iter().filter_map(|dep| self.index.get(dep).copied()) {
                self.entries[to].dependents.push(at);
            }
        }
    }

    /// The only place where a state changes; keeps the queues and counts in step.
    fn set(&mut self, at: usize, state: State) {
        let old = std::mem::replace(&mut self.entries[at].state, state);
        let agent = self.agent(at);
        match old {
            State::Ready => {
                self.ready.get_mut(&agent).map(|queue| queue.remove(&at));
            }
            State::Waiting(until) => {
                self.waiting.remove(&(until, at));
            }
            State::Running => {
                self.running -= 1;
                self.lane(&agent, |lane| lane.running -= 1);
            }
            State::Blocked | State::Ended => {}
        }
        match state {
            State::Ready => {
                self.ready.entry(agent).or_default().insert(at);
            }
            State::Waiting(until) => {
                self.waiting.insert((until, at));
            }
            State::Running => {
                self.running += 1;
                self.lane(&agent, |lane| lane.running += 1);
            }
            State::Ended => self.left -= 1,
            State::Blocked => {}
        }
    }

    fn agent(&self, at: usize) -> String {
        let entry = &self.entries[at];
        entry.item.agents.get(entry.agent).cloned().unwrap_or_default()
    }

    fn lane(&mut self, agent: &str, change: impl FnOnce(&mut Lane)) {
        if let Some(lane) = self.lanes.get_mut(agent) {
            change(lane);
        }
    }

    fn begin(&mut self) {
        for at in 0..self.entries.len() {
            if self.entries[at].state != State::Blocked {
                continue;
            }
            let unknown = self.entries[at].item.deps.iter().find(|dep| !self.index.contains_key(*dep)).cloned();
            if let Some(because) = unknown {
                self.end(at, End::Skipped { because });
            } else if self.entries[at].missing == 0
                && let Some(end) = self.line_up(at)
            {
                self.end(at, end);
            }
        }
        self.break_cycles();
    }

    /// Items on a cycle would wait for ever: they are skipped, each because of a dependency on it.
    fn break_cycles(&mut self) {
        let mut missing: Vec<usize> = self.entries.iter().map(|entry| entry.missing).collect();
        let mut open: Vec<usize> = (0..missing.len()).filter(|at| missing[*at] == 0).collect();
        let mut reached = vec![false; missing.len()];
        while let Some(at) = open.pop() {
            reached[at] = true;
            for next in &self.entries[at].dependents {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    open.push(*next);
                }
            }
        }
        for at in (0..reached.len()).filter(|at| !reached[*at]) {
            if self.entries[at].state == State::Blocked {
                let because = self.entries[at].item.deps.first().cloned().unwrap_or_default();
                self.end(at, End::Skipped { because });
            }
        }
    }

    /// An item whose dependencies are completed gets in line for its first agent that lives; its end if none does.
    fn line_up(&mut self, at: usize) -> Option<End> {
        let entry = &self.entries[at];
        let lane = |agent: &String| self.lanes.get(agent);
        let alive = |agent: &String| lane(agent).is_some_and(|lane| lane.dead.is_none());
        let Some(agent) = entry.item.agents.iter().position(alive) else {
            let last = entry.item.agents.last().and_then(lane).and_then(|lane| lane.dead);
            return Some(End::Failed(last.unwrap_or(CauseKind::AgentNotUsable)));
        };
        let not_before = entry.item.not_before;
        self.entries[at].agent = agent;
        self.set(at, not_before.map_or(State::Ready, State::Waiting));
        None
    }

    fn due(&mut self, now: Timestamp) {
        while let Some(&(until, at)) = self.waiting.first() {
            if until > now {
                break;
            }
            self.set(at, State::Ready);
        }
    }

    fn start(&mut self, now: Timestamp) {
        while self.gate == Gate::Open && self.running < self.limits.concurrency.max(1) {
            let free = |agent: &str| self.lanes.get(agent).is_some_and(|lane| lane.has_room(now));
            let heads = self.ready.iter().filter(|(agent, _)| free(agent)).filter_map(|(_, queue)| queue.first());
            let Some(&at) = heads.min() else { break };
            self.set(at, State::Running);
            let agent = self.agent(at);
            let entry = &mut self.entries[at];
            entry.attempts += 1;
            self.actions.push(Action::Start { key: entry.item.key.clone(), agent, attempt: entry.attempts });
        }
    }

    /// What is to be said once nothing more can start for now.
    fn close(&mut self, now: Timestamp) {
        if self.left == 0 {
            if !std::mem::replace(&mut self.finished, true) {
                self.actions.push(Action::Finished);
            }
            return;
        }
        let idle = self.gate == Gate::Held && self.running == 0;
        if idle && !self.idle {
            self.actions.push(Action::Idle);
        }
        self.idle = idle;
        if self.gate == Gate::Held {
            return;
        }
        let next = self.next_time(now);
        if next != self.wake {
            self.wake = next;
            self.actions.extend(next.map(|at| Action::Wake { at }));
        }
    }

    /// When an item stops waiting, or an agent that is waited for is asked again.
    fn next_time(&self, now: Timestamp) -> Option<Timestamp> {
        let queued = self.ready.iter().filter(|(_, queue)| !queue.is_empty());
        let agents = queued.filter_map(|(agent, _)| self.lanes.get(agent)?.limited_until(now));
        self.waiting.first().map(|(until, _)| *until).into_iter().chain(agents).min()
    }

    fn finish(&mut self, now: Timestamp, key: &str, verdict: Verdict) {
        let Some(&at) = self.index.get(key) else { return };
        if self.entries[at].state != State::Running {
            return;
        }
        let agent = self.agent(at);
        match own_verdict(verdict) {
            Verdict::Done => {
                self.lane(&agent, Lane::recover);
                self.end(at, End::Completed);
            }
            _ if self.entries[at].cancelled => self.end(at, End::Cancelled),
            Verdict::Cancelled => self.end(at, End::Cancelled),
            Verdict::Failed(kind) => self.failed(now, at, kind),
            Verdict::RateLimited { retry_at } => {
                self.lane(&agent, |lane| lane.limit(retry_at));
                self.limited(now, at, retry_at);
                if retry_at.is_some() {
                    self.pass_on(&agent);
                }
            }
            Verdict::AuthFailed => self.bury(at, &agent, CauseKind::Auth),
            Verdict::NotUsable => self.bury(at, &agent, CauseKind::AgentNotUsable),
        }
    }

    fn failed(&mut self, now: Timestamp, at: usize, kind: CauseKind) {
        let entry = &mut self.entries[at];
        entry.failures += 1;
        let failures = entry.failures;
        // A quota does not come back by trying.
        let again = kind != CauseKind::Quota && failures <= self.limits.retries;
        if self.gate == Gate::Closed {
            self.end(at, End::Failed(kind));
        } else if again {
            self.wait(now, at, failures, None);
        } else {
            self.next_agent(at, kind);
        }
    }

    fn limited(&mut self, now: Timestamp, at: usize, retry_at: Option<Timestamp>) {
        if self.gate == Gate::Closed {
            self.end(at, End::Stopped);
            return;
        }
        self.entries[at].waits += 1;
        let waits = self.entries[at].waits;
        if self.living_after(at).is_some() {
            self.next_agent(at, CauseKind::RateLimited);
        } else if waits > self.limits.waits {
            self.end(at, End::Failed(CauseKind::RateLimited));
        } else {
            self.wait(now, at, waits, retry_at);
        }
    }

    /// What waits for an agent that will be limited for long goes on with another, where there is one.
    fn pass_on(&mut self, agent: &str) {
        let queued: Vec<usize> = self.ready.get(agent).into_iter().flatten().copied().collect();
        for at in queued {
            if self.living_after(at).is_some() {
                self.next_agent(at, CauseKind::RateLimited);
            }
        }
    }

    fn wait(&mut self, now: Timestamp, at: usize, tries: u32, retry_at: Option<Timestamp>) {
        // Another job may have found meanwhile that the agent cannot be used.
        if let Some(dead) = self.lanes.get(&self.agent(at)).and_then(|lane| lane.dead) {
            self.next_agent(at, dead);
            return;
        }
        let pause = self.limits.backoff.wait(self.limits.seed, at, tries);
        let pause = jiff::SignedDuration::try_from(pause).unwrap_or(jiff::SignedDuration::MAX);
        let until = now.saturating_add(pause).unwrap_or(Timestamp::MAX);
        // An agent that names a time in the past is not asked again at once.
        self.set(at, State::Waiting(retry_at.map_or(until, |told| told.max(until))));
    }

    /// The next agent of the item that can still be started.
    fn living_after(&self, at: usize) -> Option<usize> {
        let entry = &self.entries[at];
        let alive = |agent: &String| self.lanes.get(agent).is_some_and(|lane| lane.dead.is_none());
        (entry.agent + 1..entry.item.agents.len()).find(|index| alive(&entry.item.agents[*index]))
    }

    /// The item goes on with its next agent, or is given up.
    fn next_agent(&mut self, at: usize, kind: CauseKind) {
        let next = self.living_after(at).filter(|_| self.gate != Gate::Closed);
        let Some(next) = next else {
            self.end(at, End::Failed(kind));
            return;
        };
        // Out of all queues under the old agent first: they are kept by it.
        self.set(at, State::Blocked);
        self.entries[at].agent = next;
        self.entries[at].failures = 0;
        self.set(at, State::Ready);
    }

    /// No further job of this agent starts; what waits for it goes on with another, or is given up.
    fn bury(&mut self, at: usize, agent: &str, kind: CauseKind) {
        self.lane(agent, |lane| lane.dead = Some(kind));
        let mut stranded: Vec<usize> = self.ready.get(agent).into_iter().flatten().copied().collect();
        stranded.extend(self.waiting.iter().map(|(_, item)| *item).filter(|item| self.agent(*item) == agent));
        stranded.push(at);
        stranded.sort_unstable();
        for item in stranded {
            self.next_agent(item, kind);
        }
    }

    fn cancel_all(&mut self) {
        self.gate = Gate::Closed;
        for at in 0..self.entries.len() {
            self.cancel(at);
        }
    }

    fn cancel(&mut self, at: usize) {
        match self.entries[at].state {
            State::Ended => {}
            State::Running => {
                if !std::mem::replace(&mut self.entries[at].cancelled, true) {
                    self.actions.push(Action::Abort { key: self.entries[at].item.key.clone() });
                }
            }
            State::Blocked | State::Ready | State::Waiting(_) => self.end(at, End::Cancelled),
        }
    }

    fn stop(&mut self) {
        self.gate = Gate::Closed;
        for at in 0..self.entries.len() {
            match self.entries[at].state {
                State::Blocked | State::Ready | State::Waiting(_) => self.end(at, End::Stopped),
                State::Running | State::Ended => {}
            }
        }
    }

    /// Ends an item and what follows from it: its dependents get in line, or end too.
    fn end(&mut self, at: usize, end: End) {
        let mut open = vec![(at, end)];
        while let Some((at, end)) = open.pop() {
            if self.entries[at].state == State::Ended {
                continue;
            }
            self.set(at, State::Ended);
            let entry = &self.entries[at];
            let key = entry.item.key.clone();
            let dependents = entry.dependents.clone();
            self.actions.push(Action::Ended { key: key.clone(), end: end.clone(), attempts: entry.attempts });
            for next in dependents.into_iter().rev() {
                if self.entries[next].state != State::Blocked {
                    continue;
                }
                match end {
                    End::Completed => self.unblock(next, &mut open),
                    End::Stopped => open.push((next, End::Stopped)),
                    End::Failed(_) | End::Skipped { .. } | End::Cancelled => {
                        open.push((next, End::Skipped { because: key.clone() }));
                    }
                }
            }
        }
    }

    fn unblock(&mut self, at: usize, open: &mut Vec<(usize, End)>) {
        self.entries[at].missing -= 1;
        if self.entries[at].missing > 0 {
            return;
        }
        if let Some(end) = self.line_up(at) {
            open.push((at, end));
        }
    }
}

/// Kinds of failure that have a verdict of their own.
fn own_verdict(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Failed(CauseKind::RateLimited) => Verdict::RateLimited { retry_at: None },
        Verdict::Failed(CauseKind::Auth) => Verdict::AuthFailed,
        Verdict::Failed(CauseKind::AgentNotUsable) => Verdict::NotUsable,
        Verdict::Failed(CauseKind::Cancelled) => Verdict::Cancelled,
        Verdict::Done
        | Verdict::Failed(_)
        | Verdict::RateLimited { .. }
        | Verdict::AuthFailed
        | Verdict::NotUsable
        | Verdict::Cancelled => verdict,
    }
}
