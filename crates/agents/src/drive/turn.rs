//! One process of an agent, from its start until nothing of it is left.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8PathBuf;
use planex_core::job::{Exit, Usage};
use planex_sys::process::{CHUNK, Child, Clean, Ended, drain, next_bytes};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::context::{DriveContext, Update, one_line};
use super::idle::Watchdog;
use super::output::Stream;
use crate::adapter::{AgentEvent, EndBy, Ending, Reader};
use crate::fault::Fault;

/// Between looks at the clock, at reports and at the idle limit.
const TICK: Duration = Duration::from_millis(250);

/// How long an agent may go on after its report came, or after it said that it is done, while it is silent.
const LINGER: Duration = Duration::from_secs(10);

/// How long in all.
const LINGER_MOST: Duration = Duration::from_secs(60);

/// Least time between two lines of activity.
const ACTIVITY_EVERY: Duration = Duration::from_millis(150);

/// Tool calls that are remembered as open; more are not.
const MAX_OPEN: usize = 1000;

/// Why planex ended a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Why {
    /// Someone cancelled the job.
    Cancelled,
    /// The idle limit.
    Idle(Duration),
    /// It would not get anywhere.
    GaveUp(Fault),
    /// Its report is there, or it said that it is done, but it did not end.
    Lingered,
}

/// How one process went.
#[derive(Debug)]
pub(crate) struct TurnEnd {
    pub(crate) ending: Ending,
    pub(crate) exit: Exit,
    /// The hard limit ended it.
    pub(crate) limit: bool,
    /// Planex ended it.
    pub(crate) why: Option<Why>,
    pub(crate) left: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// What one process is watched by.
pub(crate) struct Turn<'a> {
    pub(crate) reader: Box<dyn Reader>,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
    pub(crate) context: &'a DriveContext,
    pub(crate) updates: &'a mpsc::Sender<Update>,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) end_by: EndBy,
    pub(crate) grace: Duration,
    pub(crate) idle: Watchdog,
    /// Where a report would appear, and whether what is there is valid.
    pub(crate) reports: Utf8PathBuf,
    pub(crate) report_is_valid: &'a (dyn Fn() -> bool + Sync),
    /// Taken off what the agent reports, for agents that count the whole thread.
    pub(crate) usage_before: Usage,
    pub(crate) state: State,
}

/// What is known so far.
#[derive(Debug)]
pub(crate) struct State {
    open: BTreeSet<String>,
    last_output: Instant,
    last_activity: Option<Instant>,
    pending_activity: Option<String>,
    done_at: Option<Instant>,
    reports_len: u64,
    give_up: Option<Fault>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            open: BTreeSet::new(),
            last_output: Instant::now(),
            last_activity: None,
            pending_activity: None,
            done_at: None,
            reports_len: 0,
            give_up: None,
        }
    }
}

/// Which stream bytes came from.
#[derive(Debug, Clone, Copy)]
enum From {
    Out,
    Err,
}

impl Turn<'_> {
    /// Watches `child` to its end.
    pub(crate) async fn run(mut self, mut child: Child) -> TurnEnd {
        let mut out = std::mem::replace(&mut child.stdout, Box::new(tokio::io::empty()));
        let mut err = std::mem::replace(&mut child.stderr, Box::new(tokio::io::empty()));
        let (mut out_open, mut err_open) = (true, true);
        let (mut out_buffer, mut err_buffer) = (vec![0; CHUNK], vec![0; CHUNK]);
        let mut why = None;
        let mut killed = false;
        let mut tick = tokio::time::interval(TICK);
        let clean = loop {
            let ending = why.is_some() || self.context.kill.is_cancelled();
            tokio::select! {
                clean = child.clean() => break clean,
                got = next_bytes(&mut out, &mut out_buffer), if out_open => match got {
                    Some(bytes) => self.take(From::Out, bytes),
                    None => out_open = false,
                },
                got = next_bytes(&mut err, &mut err_buffer), if err_open => match got {
                    Some(bytes) => self.take(From::Err, bytes),
                    None => err_open = false,
                },
                () = self.cancel.cancelled(), if why.is_none() => {
                    why = Some(Why::Cancelled);
                    self.end(&mut child).await;
                }
                () = self.context.kill.cancelled(), if !killed => {
                    killed = true;
                    why.get_or_insert(Why::Cancelled);
                    child.kill();
                }
                _ = tick.tick(), if !ending => {
                    if let Some(reason) = self.look(&child) {
                        why = Some(reason);
                        self.end(&mut child).await;
                    }
                }
            }
        };
        if out_open {
            drain(&mut out, |bytes| self.take(From::Out, bytes)).await;
        }
        if err_open {
            drain(&mut err, |bytes| self.take(From::Err, bytes)).await;
        }
        self.close(child.wait().await, why, clean)
    }

    /// The agent's own way first, then SIGTERM and SIGKILL to all.
    async fn end(&mut self, child: &mut Child) {
        if self.end_by == EndBy::Interrupt {
            child.signal(2);
            let wait = self.grace.min(Duration::from_secs(2));
            // Reading goes on afterwards; a full pipe for two seconds harms nobody.
            let _ = tokio::time::timeout(wait, child.wait()).await;
        }
        child.terminate();
    }

    /// What the clock says: a reason to end the process.
    fn look(&mut self, child: &Child) -> Option<Why> {
        self.flush_activity();
        if let Some(fault) = self.state.give_up.take() {
            return Some(Why::GaveUp(fault));
        }
        self.see_reports();
        if let Some(done) = self.state.done_at {
            let silent = self.state.last_output.max(done).elapsed() >= LINGER && self.state.open.is_empty();
            if silent || done.elapsed() >= LINGER_MOST {
                return Some(Why::Lingered);
            }
        }
        let busy = !self.state.open.is_empty();
        self.idle.look(self.state.last_output, busy, child).map(Why::Idle)
    }

    fn see_reports(&mut self) {
        if self.state.done_at.is_some() {
            return;
        }
        let length = planex_sys::fs::metadata(&self.reports).map_or(0, |metadata| metadata.len());
        if length != self.state.reports_len {
            self.state.reports_len = length;
            if (self.report_is_valid)() {
                self.state.done_at = Some(Instant::now());
            }
        }
    }

    fn take(&mut self, from: From, bytes: &[u8]) {
        self.state.last_output = Instant::now();
        let mut events = Vec::new();
        let reader = &mut self.reader;
        match from {
            From::Out => {
                let skipped = self.stdout.skipped();
                self.stdout.push(bytes, |line| events.extend(reader.line(line)));
                if self.stdout.skipped() > skipped {
                    // It may have been the end of a tool call.
                    self.state.open.clear();
                }
            }
            From::Err => self.stderr.push(bytes, |line| events.extend(reader.error_line(line))),
        }
        for event in events {
            self.hear(event);
        }
    }

    fn hear(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Session(id) => self.tell(Update::Session(id)),
            AgentEvent::Activity(text) => self.activity(text),
            AgentEvent::ToolStarted(id) => {
                if self.state.open.len() < MAX_OPEN {
                    self.state.open.insert(id);
                }
            }
            AgentEvent::ToolFinished(id) => {
                self.state.open.remove(&id);
            }
            AgentEvent::Usage(usage) => {
                let usage = minus(usage, &self.usage_before);
                self.tell(Update::Usage(usage));
            }
            AgentEvent::Finished => {
                self.state.open.clear();
                self.state.done_at.get_or_insert_with(Instant::now);
            }
            AgentEvent::GiveUp(fault) => {
                self.state.give_up.get_or_insert(fault);
            }
        }
    }

    /// A receiver that does not keep up misses it; the outcome tells all that counts again.
    fn tell(&self, update: Update) {
        let _ = self.updates.try_send(update);
    }

    fn activity(&mut self, text: String) {
        if self.state.last_activity.is_some_and(|at| at.elapsed() < ACTIVITY_EVERY) {
            self.state.pending_activity = Some(text);
            return;
        }
        self.state.pending_activity = None;
        let line = one_line(&self.context.masker.mask(&text));
        if !line.is_empty() {
            self.state.last_activity = Some(Instant::now());
            self.tell(Update::Activity(line));
        }
    }

    fn flush_activity(&mut self) {
        if let Some(text) = self.state.pending_activity.take() {
            self.activity(text);
        }
    }

    fn close(mut self, ended: Ended, why: Option<Why>, clean: Clean) -> TurnEnd {
        let reader = &mut self.reader;
        let mut events = Vec::new();
        self.stdout.finish(|line| events.extend(reader.line(line)));
        self.stderr.finish(|line| events.extend(reader.error_line(line)));
        for event in events {
            self.hear(event);
        }
        self.flush_activity();
        let mut notes = Vec::new();
        let skipped = self.stdout.skipped();
        if skipped > 0 {
            notes.push(format!("{skipped} lines of output were too long to be looked at"));
        }
        for stream in [&self.stdout, &self.stderr] {
            if let Some(error) = stream.broken() {
                notes.push(format!("the run's log is not complete: {error}"));
            }
        }
        let ending = self.reader.finish(&ended.exit, &self.stderr.tail());
        let left = match clean {
            Clean::None => Vec::new(),
            Clean::Left(left) => left.iter().map(|process| format!("{} {}", process.pid, process.command)).collect(),
        };
        TurnEnd { ending, exit: ended.exit, limit: ended.limit, why, left, notes }
    }
}

/// What `usage` counts beyond `before`.
pub(crate) fn minus(usage: Usage, before: &Usage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens.saturating_sub(before.input_tokens),
        cached_input_tokens: usage.cached_input_tokens.saturating_sub(before.cached_input_tokens),
        output_tokens: usage.output_tokens.saturating_sub(before.output_tokens),
        cost_usd: match (usage.cost_usd, before.cost_usd) {
            (Some(now), Some(then)) => Some((now - then).max(0.0)),
            (now, _) => now,
        },
    }
}
