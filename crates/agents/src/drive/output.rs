//! Where an agent's output goes: masked and capped to disk, as lines to the reader, its end to the judge.

use camino::Utf8Path;
use planex_core::mask::Masker;
use planex_sys::fs::{MaskedLog, PathError};

use super::lines::Lines;

/// Bytes of the end of a stream that are kept in memory.
const TAIL: usize = 8 * 1024;

/// One stream of an agent's output.
#[derive(Debug)]
pub(crate) struct Stream {
    log: MaskedLog,
    lines: Lines,
    tail: Vec<u8>,
}

impl Stream {
    pub(crate) fn create(path: &Utf8Path, cap: u64, masker: &Masker) -> Result<Self, PathError> {
        Ok(Self { log: MaskedLog::create(path, cap, masker)?, lines: Lines::new(masker), tail: Vec::new() })
    }

    /// Lines that were too long to be looked at.
    pub(crate) fn skipped(&self) -> u64 {
        self.lines.skipped
    }

    pub(crate) fn push(&mut self, bytes: &[u8], each: impl FnMut(&str)) {
        let masked = self.log.push(bytes);
        self.keep(&masked);
        self.lines.push(bytes, each);
    }

    pub(crate) fn finish(&mut self, each: impl FnMut(&str)) {
        let masked = self.log.finish();
        self.keep(&masked);
        self.lines.finish(each);
    }

    /// Takes masked bytes: what the tail forgets at its beginning is then no half of a secret.
    fn keep(&mut self, masked: &[u8]) {
        self.tail.extend_from_slice(masked);
        if self.tail.len() > 4 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }

    /// Why the run's log is not complete.
    pub(crate) fn broken(&self) -> Option<&PathError> {
        self.log.broken()
    }

    /// The end of what came, as text, masked; whole once the stream is finished.
    pub(crate) fn tail(&self) -> String {
        let from = self.tail.len().saturating_sub(TAIL);
        String::from_utf8_lossy(self.tail.get(from..).unwrap_or_default()).into_owned()
    }
}
