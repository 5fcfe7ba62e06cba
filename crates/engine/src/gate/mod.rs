//! Gates: written before they are asked, answered on disk before anything acts (spec 80, *Gates*).
//!
//! [`Gates::open`] is the only way through: an answer that is there already for exactly what is approved now, one from
//! whoever is asked, one that another process places meanwhile, or `-y`.

mod files;
mod render;

use std::sync::{Arc, Mutex, PoisonError};

use planex_core::event::{EventKind, Level};
use planex_core::gate::{Answer, Answerer, Gate};
use planex_core::settings::GatePolicy;
use planex_sys::clock::Clock;
use planex_sys::fs;

pub use files::{answer_gate, is_used, load_answer, load_gate, open_gates, record_answer};
pub use render::{answer_line, render_text};

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
}

impl Gates {
    /// A free id for a gate: `name`, `name-2`, …; one that is open already (asked before a stop) is used again.
    ///
    /// # Errors
    /// The gates cannot be read.
    pub fn id(&self, name: &str, approves: Option<&str>) -> Result<String> {
        for suffix in 1..u32::MAX {
            let id = if suffix == 1 { name.to_owned() } else { format!("{name}-{suffix}") };
            let Some(gate) = load_gate(&self.paths, &id)? else { return Ok(id) };
            let answered = load_answer(&self.paths, &id)?;
            let same = gate.approves.as_deref() == approves;
            match answered {
                None => return Ok(id),
                // Answered from outside while nobody drove: it counts once, for the same content.
                Some(answer) if same && answer.approves.as_deref() == approves && !is_used(&self.paths, &id) => {
                    return Ok(id);
                }
                Some(_) => {}
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

    fn open_with(&self, gate: Gate, yes: bool) -> Result<GateResult> {
        let before = load_answer(&self.paths, &gate.id)?.filter(|answer| answer.approves == gate.approves);
        if before.is_none() {
            // A left-over answer for other content must not count for this one.
            fs::remove_file(&self.paths.answer(&gate.id))?;
        }
        files::save_gate(&self.paths, &gate)?;
        self.events.emit(EventKind::GateOpened { gate: gate.clone() });
        self.events.flush()?;
        if let Some(answer) = before {
            return self.pass(answer);
        }
        if yes {
            return self.pass(gate.defaults(Answerer::Yes, self.clock.now()));
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
            (Some(answer), _) | (None, Asked::Answered(answer)) => self.pass(answer),
            (None, Asked::Defer) => Ok(GateResult::Deferred(gate)),
            (None, Asked::Interrupted) => {
                Err(EngineError::new(crate::ErrorKind::Interrupted, "interrupted at a gate; the session is kept"))
            }
        }
    }

    fn outside(&self, gate: &Gate) -> Option<Answer> {
        load_answer(&self.paths, &gate.id).ok().flatten().filter(|answer| answer.approves == gate.approves)
    }

    fn pass(&self, answer: Answer) -> Result<GateResult> {
        record_answer(&self.paths, &answer)?;
        files::mark_used(&self.paths, &answer.gate)?;
        self.events.emit(EventKind::GateAnswered { answer: answer.clone() });
        self.events.flush()?;
        Ok(GateResult::Passed(answer))
    }

    /// Says something beside a gate.
    pub fn say(&self, level: Level, text: impl Into<String>) {
        self.events.notice(level, text);
    }
}

impl std::fmt::Debug for Gates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gates").field("paths", &self.paths).field("policy", &self.policy).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
