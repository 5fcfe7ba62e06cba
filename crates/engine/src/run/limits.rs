//! Until when agents are limited; kept on disk so that a wait survives a resume (spec 10, *Running*).

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use planex_sys::fs;

use crate::error::{EngineError, Result};

/// Waits by `agent` or `agent:model`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitBook {
    path: Option<Utf8PathBuf>,
    until: BTreeMap<String, Timestamp>,
}

impl LimitBook {
    /// Reads the book; what has passed, and a file that is not whole, count nothing.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn load(path: impl Into<Utf8PathBuf>, now: Timestamp) -> Result<Self> {
        let path = path.into();
        let bytes = fs::read_if_exists(&path)?.unwrap_or_default();
        let mut until: BTreeMap<String, Timestamp> = serde_json::from_slice(&bytes).unwrap_or_default();
        until.retain(|_, at| *at > now);
        Ok(Self { path: Some(path), until })
    }

    /// Until when `key` is limited; `None` if it is not.
    #[must_use]
    pub fn until(&self, key: &str, now: Timestamp) -> Option<Timestamp> {
        self.until.get(key).copied().filter(|at| *at > now)
    }

    /// Notes a limit; an earlier one that lasts longer stays.
    ///
    /// # Errors
    /// The book cannot be written.
    pub fn note(&mut self, key: &str, until: Timestamp) -> Result<()> {
        let entry = self.until.entry(key.to_owned()).or_insert(until);
        *entry = (*entry).max(until);
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_vec_pretty(&self.until).map_err(EngineError::internal)?;
        Ok(fs::write_atomic(path, &text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_survives_a_restart() {
        let temp = tempfile::tempdir().unwrap();
        let path = camino::Utf8Path::from_path(temp.path()).unwrap().join("limits.json");
        let at = |s: i64| Timestamp::from_second(s).unwrap();
        let mut book = LimitBook::load(&path, at(0)).unwrap();
        book.note("codex", at(100)).unwrap();
        book.note("codex", at(50)).unwrap();
        let again = LimitBook::load(&path, at(10)).unwrap();
        assert_eq!(again.until("codex", at(10)), Some(at(100)));
        assert_eq!(again.until("codex", at(100)), None);
        assert_eq!(LimitBook::load(&path, at(200)).unwrap().until("codex", at(0)), None);
        std::fs::write(&path, "torn").unwrap();
        assert_eq!(LimitBook::load(&path, at(10)).unwrap().until("codex", at(10)), None);
    }
}
