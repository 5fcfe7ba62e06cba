//! The journal: every event of a session, written by one thread, shown to the surfaces only once it is on disk.
//!
//! Group commit: the writer takes whatever has gathered, writes it, flushes once, and only then hands it on; it flushes
//! at most every [`PACE`]. A disk that fails stops nothing by itself, for the journal is history and not state, but the
//! first failure is kept, [`EventSink::check`] tells it at the next boundary, and events go on to the surfaces so that
//! the user sees what is happening.

mod read;
mod writer;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use camino::Utf8Path;
use planex_core::event::{Event, EventKind, Level};
use planex_sys::clock::Clock;
use planex_sys::fs::AppendLog;

pub use read::{JournalRead, Tail, driven, read};

use crate::error::{EngineError, Result};
use planex_core::time::Zone;
use writer::Writer;

/// Shortest time between two flushes of the journal.
pub const PACE: Duration = Duration::from_millis(50);

/// Someone who is shown the events, one after another, from the journal's thread. Must not block for long.
pub trait Surface: Send {
    /// One event, on disk already.
    fn event(&mut self, event: &Event);
}

impl<F: FnMut(&Event) + Send> Surface for F {
    fn event(&mut self, event: &Event) {
        self(event);
    }
}

/// Surfaces, shared with the engine so that each session's journal uses the same ones.
pub type Surfaces = Arc<Mutex<Vec<Box<dyn Surface>>>>;

pub(crate) enum Message {
    Event(jiff::Timestamp, EventKind),
    /// Answered when everything before it is on disk.
    Flush(Sender<()>),
}

/// What the sink and the writer share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    failure: Mutex<Option<String>>,
}

impl Shared {
    pub(crate) fn fail(&self, error: &dyn std::fmt::Display) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| error.to_string());
    }

    fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The way into the journal. Clones lead to the same one.
#[derive(Debug, Clone)]
pub struct EventSink {
    sender: Sender<Message>,
    clock: Clock,
    shared: Arc<Shared>,
}

impl EventSink {
    /// Records an event and shows it, soon and in order. Never blocks.
    pub fn emit(&self, kind: EventKind) {
        if self.sender.send(Message::Event(self.clock.now(), kind)).is_err() {
            self.shared.fail(&"the journal's writer has ended");
        }
    }

    /// Says something to the user, and records it.
    pub fn notice(&self, level: Level, text: impl Into<String>) {
        self.emit(EventKind::Notice { level, text: text.into() });
    }

    /// Waits until everything emitted so far is on disk and shown.
    ///
    /// # Errors
    /// The journal could not be written.
    pub fn flush(&self) -> Result<()> {
        let (done, wait) = channel();
        if self.sender.send(Message::Flush(done)).is_ok() {
            // An error here means that the writer ended; `check` tells why.
            let _ = wait.recv();
        }
        self.check()
    }

    /// Whether everything so far could be written; asked at phase and wave boundaries.
    ///
    /// # Errors
    /// The first failure of the disk.
    pub fn check(&self) -> Result<()> {
        match self.shared.failure() {
            None => Ok(()),
            Some(failure) => Err(EngineError::internal(format!("the journal cannot be written: {failure}"))
                .hint("make room or mend the folder, then `planex resume`")),
        }
    }
}

/// A running journal. Dropping it waits until everything is on disk; its writer ends with the last [`EventSink`].
#[derive(Debug)]
pub struct Journal {
    sink: EventSink,
}

impl Journal {
    /// Opens the journal at `path`, behind its last whole line, and starts its writer.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Utf8Path, surfaces: Surfaces, clock: Clock, zone: Zone) -> Result<Self> {
        let next = read::last_seq(path)?.map_or(1, |seq| seq.saturating_add(1));
        let log = AppendLog::open(path)?;
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared::default());
        let writer = Writer { log, surfaces, zone, next, shared: Arc::clone(&shared) };
        std::thread::Builder::new()
            .name("planex-journal".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|error| EngineError::internal(format!("the journal's thread cannot start: {error}")))?;
        Ok(Self { sink: EventSink { sender, clock, shared } })
    }

    /// The way in.
    #[must_use]
    pub fn sink(&self) -> EventSink {
        self.sink.clone()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Whoever wants to know has asked `flush` before.
        let _ = self.sink.flush();
    }
}

#[cfg(test)]
mod tests;
