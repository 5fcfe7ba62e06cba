//! Reading a journal, whole or as it grows. Needs no lock.

use std::io::{Read as _, Seek as _, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::event::Event;
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
        let mut file = match std::fs::File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
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
