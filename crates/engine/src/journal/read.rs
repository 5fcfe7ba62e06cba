//! Reading a journal, whole or as it grows. Needs no lock.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use planex_core::event::{Event, EventKind};
use planex_sys::fs::{self, PathError};

/// Bytes at the end of a journal that hold its last event, unless that is unusually long.
const TAIL: u64 = 256 * 1024;

/// What a journal holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalRead {
    /// Events that could be read, in order.
    pub events: Vec<Event>,
    /// Lines that could not: torn by a crash, or of a newer planex.
    pub skipped: usize,
}

/// The whole journal; an absent one is empty.
///
/// # Errors
/// It is there and cannot be read.
pub fn read(path: &Utf8Path) -> Result<JournalRead, PathError> {
    let bytes = fs::read_if_exists(path)?.unwrap_or_default();
    let mut out = JournalRead::default();
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        match serde_json::from_slice(line) {
            Ok(event) => out.events.push(event),
            Err(_) => out.skipped += 1,
        }
    }
    Ok(out)
}

/// How long processes have driven the session: from each start to the last event before the next one. Waiting at a gate
/// for an answer that comes later does not count, since nobody drives then.
#[must_use]
pub fn driven(events: &[Event]) -> Duration {
    let at = |event: &Event| event.ts.parse::<Timestamp>().ok();
    let (mut total, mut first, mut last) = (Duration::ZERO, None, None);
    for event in events {
        if matches!(event.kind, EventKind::SessionStarted { .. }) {
            total += span(first, last);
            first = at(event);
        }
        last = at(event).or(last);
    }
    total + span(first, last)
}

/// Zero where the clock went back.
fn span(first: Option<Timestamp>, last: Option<Timestamp>) -> Duration {
    first.zip(last).and_then(|(first, last)| last.duration_since(first).try_into().ok()).unwrap_or_default()
}

/// The highest `seq` of a journal, looked for at its end first.
pub(super) fn last_seq(path: &Utf8Path) -> Result<Option<u64>, PathError> {
    #[derive(serde::Deserialize)]
    struct Seq {
        seq: u64,
    }
    let highest = |bytes: &[u8]| {
        bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice::<Seq>(line).ok()).map(|s| s.seq).max()
    };
    // Devices have no length and may have no end.
    if !fs::exists(path) || fs::metadata(path)?.len() == 0 {
        return Ok(None);
    }
    match highest(&fs::read_tail(path, TAIL)?) {
        Some(seq) => Ok(Some(seq)),
        None => Ok(highest(&fs::read(path)?)),
    }
}

/// A reader that follows a journal as it grows.
#[derive(Debug, Clone)]
pub struct Tail {
    path: Utf8PathBuf,
    offset: u64,
    rest: Vec<u8>,
}

impl Tail {
    /// Follows the journal at `path` from its beginning.
    #[must_use]
    pub fn new(path: impl Into<Utf8PathBuf>) -> Self {
        Self { path: path.into(), offset: 0, rest: Vec::new() }
    }

    /// Events since the last call. A journal that was removed or cut is read from its beginning again.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn poll(&mut self) -> Result<Vec<Event>, PathError> {
        let fail = |source| PathError::new("read", self.path.clone(), source);
        let mut file = match fs::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        if file.metadata().map_err(fail)?.len() < self.offset {
            (self.offset, self.rest) = (0, Vec::new());
        }
        file.seek(SeekFrom::Start(self.offset)).map_err(fail)?;
        let mut bytes = Vec::new();
        let count = file.read_to_end(&mut bytes).map_err(fail)?;
        self.offset += count as u64;
        self.rest.append(&mut bytes);
        let whole = self.rest.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        Ok(lines.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use planex_core::event::Level;

    use super::*;

    fn event(ts: &str, kind: EventKind) -> Event {
        Event { seq: 1, ts: ts.to_owned(), kind }
    }

    fn started(ts: &str) -> Event {
        let kind = EventKind::SessionStarted {
            session: String::new(),
            workflow: String::new(),
            requirement: String::new(),
            resumed: false,
            version: String::new(),
        };
        event(ts, kind)
    }

    fn said(ts: &str) -> Event {
        event(ts, EventKind::Notice { level: Level::Info, text: String::new() })
    }

    #[test]
    fn only_driven_time_counts() {
        let events = [
            started("2026-02-28T10:00:00+08:00"),
            said("2026-02-28T10:00:30+08:00"),
            started("2026-03-01T10:00:00+08:00"),
            said("2026-03-01T10:01:00+08:00"),
            // The clock went back.
            started("2026-03-01T09:00:00+08:00"),
            said("2026-03-01T08:00:00+08:00"),
        ];
        assert_eq!(driven(&events), Duration::from_secs(90));
        assert_eq!(driven(&[]), Duration::ZERO);
    }
}
