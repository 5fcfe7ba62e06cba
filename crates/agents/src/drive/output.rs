//! Where an agent's output goes: masked and capped to disk, as lines to the reader, its end to the judge.

use camino::Utf8Path;
use planex_core::mask::{Masker, StreamMasker};
use planex_sys::fs::{CappedLog, PathError};

use super::lines::Lines;

/// Bytes of the end of standard error that are kept in memory.
const TAIL: usize = 8 * 1024;

/// One stream of an agent's output. A disk that refuses the log does not end the job: the log stops, and that is said.
#[derive(Debug)]
pub(crate) struct Stream {
    log: Option<CappedLog>,
    masker: Option<StreamMasker>,
    lines: Lines,
    tail: Vec<u8>,
    pub(crate) broken: Option<PathError>,
}

impl Stream {
    pub(crate) fn create(path: &Utf8Path, cap: u64, masker: &Masker) -> Result<Self, PathError> {
        Ok(Self {
            log: Some(CappedLog::create(path, cap)?),
            masker: Some(masker.stream()),
            lines: Lines::default(),
            tail: Vec::new(),
            broken: None,
        })
    }

    /// Lines that were too long to be looked at.
    pub(crate) fn skipped(&self) -> u64 {
        self.lines.skipped
    }

    pub(crate) fn push(&mut self, bytes: &[u8], each: impl FnMut(&str)) {
        if let Some(masker) = &mut self.masker {
            let masked = masker.push(bytes);
            self.write(&masked);
        }
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 4 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
        self.lines.push(bytes, each);
    }

    pub(crate) fn finish(&mut self, each: impl FnMut(&str)) {
        if let Some(masker) = self.masker.take() {
            let masked = masker.finish();
            self.write(&masked);
        }
        if let Some(log) = self.log.take()
            && let Err(error) = log.finish()
        {
            self.broken.get_or_insert(error);
        }
        self.lines.finish(each);
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(bytes)
        {
            self.broken = Some(error);
            self.log = None;
        }
    }

    /// The end of what came, as text.
    pub(crate) fn tail(&self) -> String {
        let from = self.tail.len().saturating_sub(TAIL);
        String::from_utf8_lossy(self.tail.get(from..).unwrap_or_default()).into_owned()
    }
}
