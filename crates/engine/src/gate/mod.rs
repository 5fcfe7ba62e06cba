//! Gates: written before they are asked, answered on disk before anything acts (spec 80, *Gates*).
//!
//! [`Gates::open`] is the only way through: an answer that is there already for exactly what is approved now, one from
//! whoever is asked, one that another process places meanwhile, or `-y`. What lies in the session's folder counts only with
//! its record outside the project ([`Approvals`]).

mod approvals;
mod files;
mod render;

use std::sync::{Arc, Mutex, PoisonError};

use planex_core::event::{EventKind, Level};
use planex_core::gate::{Answer, Answerer, Gate};
use planex_core::settings::GatePolicy;
use planex_sys::clock::Clock;
use planex_sys::fs;

pub use approvals::{ApprovalStore, Approvals};
pub use files::{answer_gate, load_answer, load_gate, open_gates};
pub use render::{answer_line, render_text};

use files::Standing;

use crate::error::{EngineError, Result};
use crate::journal::EventSink;
use crate::store::SessionPaths;

/// What asking came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// Someone answered.
    Answered(Answer),
    /// Nobody is there to ask.
    Defer,
    /// Ctrl-C at the prompt.
    Interrupted,
}

/// Whoever is asked: the terminal, a test. Blocks until there is an answer.
pub trait Asker: Send {
    /// Asks. `outside` tells, as often as it is called, whether another process has answered meanwhile; an asker that
    /// can look while it waits returns that answer, others ignore it (it is looked at again afterwards).
    fn ask(&mut self, gate: &Gate, outside: &dyn Fn() -> Option<Answer>) -> Asked;
}

/// Nobody: every gate is deferred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nobody;

impl Asker for Nobody {
    fn ask(&mut self, _gate: &Gate, _outside: &dyn Fn() -> Option<Answer>) -> Asked {
        Asked::Defer
    }
}

/// The asker, shared with the engine.
pub type SharedAsker = Arc<Mutex<Box<dyn Asker>>>;

/// What a gate came to.
#[derive(Debug, Clone, PartialEq)]
pub enum GateResult {
    /// It is passed.
    Passed(Answer),
    /// It stays open; the session stops with exit 4.
    Deferred(Gate),
}

/// The gates of one session.
#[derive(Clone)]
pub struct Gates {
    pub(crate) paths: SessionPaths,
    pub(crate) events: EventSink,
    pub(crate) clock: Clock,
    pub(crate) policy: GatePolicy,
    pub(crate) asker: SharedAsker,
    pub(crate) approvals: Approvals,
}

impl Gates {
    /// A free id for a gate: `name`, `name-2`, …; one that is open already (asked before a stop) is used again.
    ///
    /// # Errors
    /// The gates cannot be read.
    pub fn id(&self, name: &str, approves: Option<&str>) -> Result<String> {
        for number in 1..u32::MAX {
            let id = numbered(name, number);
            let standing = self.standing(&id)?;
            if standing.used {
                continue;
            }
            let Some(gate) = load_gate(&self.paths, &id)? else { return Ok(id) };
            // Answered from outside while nobody drove: it counts once, for the same content.
            let same = |answer: &Answer| gate.approves.as_deref() == approves && answer.approves.as_deref() == approves;
            if standing.answer.as_ref().is_none_or(same) {
                return Ok(id);
            }
        }
        Err(EngineError::internal(format!("no id is left for the gate {name}")))
    }

    /// Opens a gate and waits for its answer.
    ///
    /// An answer to the same gate, for the same [`Gate::approves`], that was placed before (by `planex answer`) passes
    /// it; one for other content does not. `-y` takes the defaults. The answer is on disk and in the journal when this
    /// returns.
    ///
    /// # Errors
    /// A file cannot be written, or the prompt was interrupted (exit 130).
    pub fn open(&self, gate: Gate) -> Result<GateResult> {
        self.open_with(gate, self.policy == GatePolicy::Yes)
    }

    /// Opens a gate that `-y` does not pass (budgets, wider scopes, trust).
    ///
    /// # Errors
    /// As [`Gates::open`].
    pub fn open_strict(&self, gate: Gate) -> Result<GateResult> {
        self.open_with(gate, false)
    }

    /// The newest answer to the gates of this name, if something has acted on it. `None` also where that cannot be told:
    /// a later gate's answer is gone, or is one that nothing vouches for.
    ///
    /// # Errors
    /// The gates cannot be read.
    pub fn newest(&self, name: &str) -> Result<Option<Answer>> {
        let mut newest = None;
        for number in 1..u32::MAX {
            let id = numbered(name, number);
            let standing = self.standing(&id)?;
            if !standing.used && load_gate(&self.paths, &id)?.is_none() {
                break;
            }
            if standing.used && standing.foreign {
                self.say_foreign(&id);
            }
            // An answer that nothing has acted on yet goes through the gate, so that the journal names who gave it.
            if standing.used || standing.foreign || standing.answer.is_some() {
                newest = standing.answer.filter(|_| standing.used);
            }
        }
        Ok(newest)
    }

    fn standing(&self, id: &str) -> Result<Standing> {
        files::standing(&self.paths, &self.approvals, id)
    }

    fn open_with(&self, gate: Gate, yes: bool) -> Result<GateResult> {
        if let Some((gate, answer)) = self.answered_before(&gate)? {
            self.tell_opened(&gate)?;
            return self.pass(&gate, answer);
        }
        // A left-over answer for other content must not count for this one.
        fs::remove_file(&self.paths.answer(&gate.id))?;
        self.keep(|approvals| approvals.asked(&gate));
        files::save_gate(&self.paths, &gate)?;
        self.tell_opened(&gate)?;
        if yes {
            return self.pass(&gate, gate.defaults(Answerer::Yes, self.clock.now()));
        }
        let asked = match self.policy {
            GatePolicy::Defer | GatePolicy::Yes => Asked::Defer,
            GatePolicy::Ask => {
                let outside = || self.outside(&gate);
                self.asker.lock().unwrap_or_else(PoisonError::into_inner).ask(&gate, &outside)
            }
        };
        // Whoever answers first answers: what another process placed meanwhile is older than what was typed.
        match (self.outside(&gate), asked) {
            (Some(answer), _) | (None, Asked::Answered(answer)) => self.pass(&gate, answer),
            (None, Asked::Defer) => Ok(GateResult::Deferred(gate)),
            (None, Asked::Interrupted) => {
                Err(EngineError::new(crate::ErrorKind::Interrupted, "interrupted at a gate; the session is kept"))
            }
        }
    }

    fn tell_opened(&self, gate: &Gate) -> Result<()> {
        self.events.emit(EventKind::GateOpened { gate: gate.clone() });
        self.events.flush()
    }

    /// An answer for the same content that was placed while nobody drove, with the gate as it was answered.
    fn answered_before(&self, gate: &Gate) -> Result<Option<(Gate, Answer)>> {
        let standing = self.standing(&gate.id)?;
        if standing.foreign {
            self.say_foreign(&gate.id);
        }
        let answer = standing.answer.filter(|answer| !standing.used && answer.approves == gate.approves);
        Ok(load_gate(&self.paths, &gate.id)?.filter(|shown| shown.approves == gate.approves).zip(answer))
    }

    fn say_foreign(&self, id: &str) {
        let text = format!(
            "the answer to the gate `{id}` in the session's folder was not given to planex here, or was changed since: it \
             does not count, and the gate is asked again"
        );
        self.say(Level::Warning, text);
    }

    fn outside(&self, gate: &Gate) -> Option<Answer> {
        let standing = self.standing(&gate.id).ok()?;
        standing.answer.filter(|answer| !standing.used && answer.approves == gate.approves)
    }

    fn pass(&self, gate: &Gate, answer: Answer) -> Result<GateResult> {
        self.keep(|approvals| approvals.answered(gate, &answer, true));
        files::record_answer(&self.paths, &answer)?;
        self.events.emit(EventKind::GateAnswered { answer: answer.clone() });
        self.events.flush()?;
        Ok(GateResult::Passed(answer))
    }

    /// Keeps something outside the project; where that fails, this run goes on, and the user is told once.
    fn keep(&self, write: impl FnOnce(&Approvals) -> Result<()>) {
        let first = self.approvals.is_kept();
        if let Err(error) = write(&self.approvals)
            && first
        {
            let mend = error.hints.join("; ");
            let text =
                format!("answers count for this run only, they cannot be kept outside the project: {error} ({mend})");
            self.say(Level::Warning, text);
        }
    }

    /// Says something beside a gate.
    pub fn say(&self, level: Level, text: impl Into<String>) {
        self.events.notice(level, text);
    }
}

/// `name`, `name-2`, …
fn numbered(name: &str, number: u32) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}-{number}") }
}

impl std::fmt::Debug for Gates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gates").field("paths", &self.paths).field("policy", &self.policy).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
