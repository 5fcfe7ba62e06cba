//! A capped log that secrets do not get into.

use camino::Utf8Path;
use planex_core::mask::{Masker, StreamMasker};

use super::{CappedLog, PathError};

/// Output of a child on its way to disk: masked, then capped. A disk that refuses it ends the log and not the child, and
/// that can be asked for ([`broken`](Self::broken)).
#[derive(Debug)]
pub struct MaskedLog {
    log: Option<CappedLog>,
    masker: Option<StreamMasker>,
    broken: Option<PathError>,
    left_out: u64,
}

impl MaskedLog {
    /// Creates the file, empty; `cap` in bytes, see [`CappedLog::create`].
    ///
    /// # Errors
    /// It cannot be created.
    pub fn create(path: &Utf8Path, cap: u64, masker: &Masker) -> Result<Self, PathError> {
        Ok(Self { log: Some(CappedLog::create(path, cap)?), masker: Some(masker.stream()), broken: None, left_out: 0 })
    }

    /// Takes output, and gives what was written: without secrets, and without the end that may still become one.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let masked = self.masker.as_mut().map(|masker| masker.push(bytes)).unwrap_or_default();
        self.write(&masked);
        masked
    }

    /// Writes the rest, closes the file, and gives that rest. Nothing is taken afterwards.
    pub fn finish(&mut self) -> Vec<u8> {
        let masked = self.masker.take().map(StreamMasker::finish).unwrap_or_default();
        self.write(&masked);
        match self.log.take().map(CappedLog::finish) {
            Some(Ok(summary)) => self.left_out = summary.left_out,
            Some(Err(error)) => drop(self.broken.get_or_insert(error)),
            None => {}
        }
        masked
    }

    /// Why the file is not complete.
    #[must_use]
    pub fn broken(&self) -> Option<&PathError> {
        self.broken.as_ref()
    }

    /// Bytes that the cap left out; known once it is finished.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(bytes)
        {
            self.broken = Some(error);
            self.log = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_what_is_on_disk() {
        let temp = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(temp.path()).unwrap().join("x.log");
        let masker = Masker::of_values(["hunter2hunter2".to_owned()]);
        let mut log = MaskedLog::create(&path, 1024, &masker).unwrap();
        let mut given = log.push(b"one\nkey hunter2");
        given.extend(log.push(b"hunter2\nlast"));
        given.extend(log.finish());
        assert_eq!(String::from_utf8(given).unwrap(), "one\nkey ***\nlast");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nkey ***\nlast");
        assert!(log.push(b"late").is_empty() && log.finish().is_empty() && log.broken().is_none());
        assert_eq!(log.left_out(), 0);
        let mut log = MaskedLog::create(&path, 1024, &masker).unwrap();
        log.push(&[b'x'; 5000]);
        log.finish();
        assert!(log.left_out() > 3000);
        assert!(MaskedLog::create(&path.join("x"), 1024, &masker).is_err());
    }
}
