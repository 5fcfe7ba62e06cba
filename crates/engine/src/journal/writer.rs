//! The one thread that writes a journal.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use planex_core::event::Event;
use planex_sys::fs::AppendLog;

use super::{Message, PACE, Shared, Surfaces};
use planex_core::time::Zone;

/// Most events that are gathered before they are written, whatever the time.
const BATCH: usize = 4096;

pub(super) struct Writer {
    pub(super) log: AppendLog,
    pub(super) surfaces: Surfaces,
    pub(super) zone: Zone,
    pub(super) next: u64,
    pub(super) shared: Arc<Shared>,
}

impl Writer {
    /// Runs until every sink is gone.
    pub(super) fn run(mut self, receiver: &Receiver<Message>) {
        let mut last = None;
        while let Ok(first) = receiver.recv() {
            let (events, flushes) = self.gather(first, receiver, last);
            self.commit(&events);
            last = Some(Instant::now());
            self.show(&events);
            for flush in flushes {
                // Nobody waits any more: fine.
                let _ = flush.send(());
            }
        }
    }

    /// Takes the first message and what follows until the next flush is due. A waiter makes it due at once.
    fn gather(
        &mut self,
        first: Message,
        receiver: &Receiver<Message>,
        last: Option<Instant>,
    ) -> (Vec<Event>, Vec<Sender<()>>) {
        let due = last.map_or_else(Instant::now, |at| at + PACE);
        let (mut events, mut flushes) = (Vec::new(), Vec::new());
        let mut message = Some(first);
        loop {
            match message.take() {
                Some(Message::Event(at, kind)) => {
                    events.push(Event { seq: self.next, ts: self.zone.stamp(at), kind });
                    self.next = self.next.saturating_add(1);
                }
                Some(Message::Flush(done)) => flushes.push(done),
                None => {}
            }
            let wait = if flushes.is_empty() { due.saturating_duration_since(Instant::now()) } else { Duration::ZERO };
            if events.len() >= BATCH {
                break;
            }
            match receiver.recv_timeout(wait) {
                Ok(next) => message = Some(next),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        (events, flushes)
    }

    fn commit(&mut self, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        for event in events {
            let written = serde_json::to_string(event).map_err(|error| error.to_string());
            let written = written.and_then(|line| self.log.append(&line).map_err(|error| error.to_string()));
            if let Err(error) = written {
                self.shared.fail(&error);
            }
        }
        if let Err(error) = self.log.sync() {
            self.shared.fail(&error);
        }
    }

    fn show(&self, events: &[Event]) {
        let mut surfaces = self.surfaces.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            surfaces.iter_mut().for_each(|surface| surface.event(event));
        }
    }
}
