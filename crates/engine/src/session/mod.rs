//! Sessions on disk: made, found, listed, locked, archived, deleted, pruned (spec 00, *Ids* and *State*).
//!
//! One process drives a session; readers need no lock. What a session is and how it was started is in `meta.json`; what
//! it has done is in the files that the specification names.

mod check;
mod find;
mod keep;
mod list;
mod meta;

use camino::Utf8Path;
use jiff::Timestamp;
use planex_sys::lock::{Holder, LockError, SessionLock};
use planex_sys::{fs, program};

pub use check::{Broken, broken_files};
pub use find::{FindError, Found, find, find_all};
pub use keep::{PruneLimits, Pruned, archive, delete, prune};
pub use list::{Counts, SessionStatus, Summary, list, open_gate, status_of, summary_of};
pub use meta::{Ending, FORMAT, Meta, Workflow};

use crate::error::Result;
use crate::store::SessionPaths;

/// Start of the name of a folder in which a session is being made, before the maker's process id.
const ASIDE: &str = ".new-";

/// Most ids that are tried before a session with a taken id is given up.
const MAX_SUFFIX: u32 = 10_000;

/// How often a lock that a neighbour holds for an instant is tried again.
const BRIEF_TRIES: u32 = 50;

/// A session that this process drives: the lock is held until it is dropped.
#[derive(Debug)]
pub struct Session {
    /// Its id, the name of its folder.
    pub id: String,
    /// Its files.
    pub paths: SessionPaths,
    /// What it is.
    pub meta: Meta,
    lock: SessionLock,
}

impl Session {
    /// Makes a new session below the project's root; an id that is taken gets `-2`, `-3`, ….
    ///
    /// `meta.session` is the wished id and becomes the real one. `command` says in the lock what this process does.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn create(root: &Utf8Path, mut meta: Meta, command: &str, now: Timestamp) -> Result<Self> {
        let parent = meta.workflow.folder(root);
        fs::create_dir_all(&parent)?;
        let wished = meta.session.clone();
        // Made aside and renamed into place: a session is there whole, with what it is for, or not at all.
        let aside = parent.join(format!("{ASIDE}{}", std::process::id()));
        remove_aside(&parent)?;
        let made = SessionPaths::new(aside.clone());
        for folder in [made.runs(), made.gates(), made.requests()] {
            fs::create_dir_all(&folder)?;
        }
        for suffix in 1..MAX_SUFFIX {
            let id = if suffix == 1 { wished.clone() } else { format!("{wished}-{suffix}") };
            let dir = parent.join(&id);
            if fs::exists(&dir) {
                continue;
            }
            meta.session.clone_from(&id);
            meta.save(&made)?;
            if let Err(error) = fs::rename(&aside, &dir) {
                // Another process took the id in between.
                if fs::exists(&dir) {
                    continue;
                }
                return Err(error.into());
            }
            let paths = SessionPaths::new(dir);
            let lock = SessionLock::acquire(&paths.lock(), &holder(command, now))?;
            return Ok(Self { id, paths, meta, lock });
        }
        fs::remove_dir_all(&aside)?;
        Err(crate::EngineError::internal(format!("{MAX_SUFFIX} sessions are named {wished} already in {parent}"))
            .hint("remove old ones with `planex sessions prune`"))
    }

    /// Takes up a session that exists: locks it, reads what it is, removes half-written files.
    ///
    /// # Errors
    /// Another process drives it (it is named), it was written by a newer planex, or its files cannot be read.
    pub fn open(found: &Found, command: &str, now: Timestamp) -> Result<Self> {
        let paths = SessionPaths::new(found.dir.clone());
        for folder in [paths.runs(), paths.gates(), paths.requests()] {
            fs::create_dir_all(&folder)?;
        }
        let lock = SessionLock::acquire(&paths.lock(), &holder(command, now))?;
        let meta = Meta::load(&paths, found.workflow)?;
        for folder in [paths.dir().to_owned(), paths.planex(), paths.gates(), paths.requests()] {
            fs::remove_temporaries(&folder)?;
        }
        Ok(Self { id: found.id.clone(), paths, meta, lock })
    }

    /// Writes `meta.json`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self) -> Result<()> {
        self.meta.save(&self.paths)
    }

    /// Whether this process still owns the session; called before state is written.
    ///
    /// # Errors
    /// Someone removed or replaced the lock.
    pub fn check_lock(&self) -> Result<()> {
        Ok(self.lock.check()?)
    }
}

/// Removes what processes that were killed while they made a session have left aside.
fn remove_aside(parent: &Utf8Path) -> Result<()> {
    for entry in fs::list(parent)? {
        let Some(pid) = entry.name.strip_prefix(ASIDE).and_then(|pid| pid.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() || !program::is_running(pid) {
            fs::remove_dir_all(&entry.path)?;
        }
    }
    Ok(())
}

/// Takes a lock that everyone holds for an instant only, so that it is waited for.
///
/// # Errors
/// The file cannot be used, or someone holds it for more than an instant.
pub(crate) fn brief_lock(path: &Utf8Path, command: &str, now: Timestamp) -> Result<SessionLock> {
    let holder = holder(command, now);
    let mut tries = 0;
    loop {
        match SessionLock::acquire(path, &holder) {
            Err(LockError::Held { .. }) if tries < BRIEF_TRIES => tries += 1,
            other => return Ok(other?),
        }
    }
}

/// This process, as a lock names it.
pub(crate) fn holder(command: &str, now: Timestamp) -> Holder {
    Holder { pid: std::process::id(), host: program::host_name(), command: command.to_owned(), since: now }
}
