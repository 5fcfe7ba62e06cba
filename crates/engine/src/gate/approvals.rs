//! Answers are vouched for outside the project (spec 80, *Gates*; spec 70, *Security*).
//!
//! Whoever can write into a session's folder can put an answer there: an agent, or whoever made a repository that
//! carries a `.workflow/`. So what was asked and what was answered is also kept in the user's own data folder, one file
//! per session, bound to where the session lies. An answer in the session counts only with its record.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::gate::{Answer, Gate};
use planex_core::id::sha256_hex;
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::session::brief_lock;
use crate::store::SessionPaths;

/// Where the records of all sessions are.
#[derive(Debug, Clone, Default)]
pub struct ApprovalStore {
    folder: Option<Utf8PathBuf>,
}

/// The record of one session.
#[derive(Debug, Clone)]
pub struct Approvals {
    folder: Option<Utf8PathBuf>,
    session: Utf8PathBuf,
    /// What could not be written down: it counts in this process alone.
    unkept: Arc<Mutex<BTreeMap<String, Record>>>,
}

/// What is known of one gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Hash of the gate as it was asked: all that is shown, and what an answer approves.
    pub(super) content: String,
    /// Its answer, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<Answer>,
    /// Whether something has acted on the answer, so that it never counts for a later gate of the same name.
    #[serde(default)]
    pub(super) used: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Records {
    session: Utf8PathBuf,
    gates: BTreeMap<String, Record>,
}

/// Hash of all of a gate but the instant at which it was opened.
pub(super) fn content_of(gate: &Gate) -> Result<String> {
    let gate = Gate { opened_at: jiff::Timestamp::UNIX_EPOCH, ..gate.clone() };
    Ok(sha256_hex(&serde_json::to_vec(&gate).map_err(EngineError::internal)?))
}

impl ApprovalStore {
    /// The store in `folder`, which need not exist. Without a folder nothing is kept: answers count in the process that
    /// they are given in.
    #[must_use]
    pub fn new(folder: Option<Utf8PathBuf>) -> Self {
        Self { folder }
    }

    /// The record of the session in this folder.
    #[must_use]
    pub fn of(&self, paths: &SessionPaths) -> Approvals {
        let session = fs::canonicalize(paths.dir()).unwrap_or_else(|_| paths.dir().to_owned());
        Approvals { folder: self.folder.clone(), session, unkept: Arc::default() }
    }

    /// Removes the records of sessions that are not there any more.
    ///
    /// # Errors
    /// The folder cannot be listed, or a record not be removed.
    pub fn remove_orphans(&self) -> Result<()> {
        let Some(folder) = self.folder.as_deref().filter(|folder| fs::is_dir(folder)) else { return Ok(()) };
        for entry in fs::list(folder)?.iter().filter(|entry| entry.name.ends_with(".json")) {
            let Some(bytes) = fs::read_if_exists(&entry.path)? else { continue };
            let session = serde_json::from_slice::<Records>(&bytes).map(|records| records.session);
            if session.is_ok_and(|session| !fs::exists(&session)) {
                fs::remove_file(&entry.path)?;
            }
        }
        Ok(())
    }
}

impl Approvals {
    /// What is known of a gate.
    pub(super) fn record(&self, gate: &str) -> Result<Option<Record>> {
        if let Some(record) = self.unkept().get(gate) {
            return Ok(Some(record.clone()));
        }
        Ok(self.load().map_err(|error| self.mend(error))?.gates.remove(gate))
    }

    /// Keeps that a gate is asked now.
    pub(super) fn asked(&self, gate: &Gate) -> Result<()> {
        self.put(&gate.id, Record { content: content_of(gate)?, answer: None, used: false })
    }

    /// Keeps the answer to a gate; `used`: and that something acts on it.
    pub(super) fn answered(&self, gate: &Gate, answer: &Answer, used: bool) -> Result<()> {
        self.put(&gate.id, Record { content: content_of(gate)?, answer: Some(answer.clone()), used })
    }

    /// Whether everything so far could be written down.
    pub(super) fn is_kept(&self) -> bool {
        self.unkept().is_empty()
    }

    /// Removes the record: the session goes, or is a new one.
    ///
    /// # Errors
    /// It is there and cannot be removed.
    pub fn remove(&self) -> Result<()> {
        let Some(file) = self.file() else { return Ok(()) };
        match fs::remove_file(&file) {
            // Out of reach as it is: it cannot be read either, so it vouches for nothing.
            Err(_) if !fs::exists(&file) => Ok(()),
            removed => Ok(removed?),
        }
    }

    fn unkept(&self) -> MutexGuard<'_, BTreeMap<String, Record>> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> Option<Utf8PathBuf> {
        let name = format!("{}.json", sha256_hex(self.session.as_str().as_bytes()));
        self.folder.as_ref().map(|folder| folder.join(name))
    }

    fn load(&self) -> Result<Records> {
        let none = || Records { session: self.session.clone(), gates: BTreeMap::new() };
        let Some(file) = self.file() else { return Ok(none()) };
        let Some(bytes) = fs::read_if_exists(&file)? else { return Ok(none()) };
        let records: Records = serde_json::from_slice(&bytes).map_err(|error| {
            EngineError::internal(format!("{file}:{}:{}: {error}", error.line(), error.column()))
                .hint(format!("remove {file}; planex asks its gates again"))
        })?;
        Ok(if records.session == self.session { records } else { none() })
    }

    /// What cannot be written is kept in this process, and the error given.
    fn put(&self, gate: &str, record: Record) -> Result<()> {
        let written = self.write(gate, &record);
        match &written {
            Ok(()) => drop(self.unkept().remove(gate)),
            Err(_) => drop(self.unkept().insert(gate.to_owned(), record)),
        }
        written
    }

    fn write(&self, gate: &str, record: &Record) -> Result<()> {
        let (Some(folder), Some(file)) = (&self.folder, self.file()) else {
            return Err(EngineError::internal("there is no home folder to keep answers in").hint("set HOME"));
        };
        self.replace(folder, &file, gate, record).map_err(|error| self.mend(error))
    }

    /// An error with what to do about it, unless it says so already.
    fn mend(&self, error: EngineError) -> EngineError {
        let folder = self.folder.as_deref().unwrap_or(Utf8Path::new(""));
        match error.hints.as_slice() {
            [] => error.hint(format!("make {folder} a folder that you can write to, or set XDG_DATA_HOME to another")),
            _ => error,
        }
    }

    fn replace(&self, folder: &Utf8Path, file: &Utf8Path, gate: &str, record: &Record) -> Result<()> {
        fs::create_dir_all(folder)?;
        // The driver and `planex answer` may write at the same time.
        let lock = brief_lock(&folder.join("lock"), "planex answer", planex_sys::clock::now())?;
        let mut records = self.load()?;
        if records.gates.get(gate) != Some(record) {
            records.gates.insert(gate.to_owned(), record.clone());
            fs::write_private(file, &serde_json::to_vec_pretty(&records).map_err(EngineError::internal)?)?;
        }
        drop(lock);
        Ok(())
    }
}
