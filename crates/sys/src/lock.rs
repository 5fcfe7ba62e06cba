//! One process drives a session at a time (spec 00, *State*): an advisory lock that names its holder.
//!
//! The lock is the kernel's (`flock`), so it is gone the moment its process is, however that ended. The file stays; what
//! it says about the holder counts only while the lock is held. Network file systems may not share such locks between
//! machines: there the holder's host in the message is what helps.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::fs::PathError;

/// How often a held lock is tried again before giving up: a reader that looks who holds it takes it for an instant.
const TRIES: u32 = 5;

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Longest description of a holder that is read, in bytes.
const MAX_HOLDER: u64 = 64 * 1024;

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Machine.
    pub host: String,
    /// What it is doing, as typed: `planex waves …`.
    pub command: String,
    /// Since when.
    pub since: jiff::Timestamp,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{path} is held by {}", describe(holder.as_ref()))]
    Held {
        /// The lock file.
        path: Utf8PathBuf,
        /// Who holds it, where it says so.
        holder: Option<Holder>,
    },
    /// The file that was locked is no longer the one at the path: someone removed or replaced it.
    #[error("the lock {path} was removed or replaced while it was held")]
    Lost {
        /// The lock file.
        path: Utf8PathBuf,
    },
    /// The file could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
}

fn describe(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => {
            format!("process {} on {} since {} ({})", holder.pid, holder.host, holder.since, holder.command)
        }
        None => "another process".to_owned(),
    }
}

/// A lock held by this process until it is dropped or the process ends.
#[derive(Debug)]
pub struct SessionLock {
    file: File,
    path: Utf8PathBuf,
}

impl SessionLock {
    /// Takes the lock at `path` (created if absent; its folder must be there) and says who holds it.
    ///
    /// # Errors
    /// [`LockError::Held`] if another process has it; [`LockError::Path`] if the file cannot be opened or written.
    pub fn acquire(path: &Utf8Path, holder: &Holder) -> Result<Self, LockError> {
        let fail = |op: &'static str| move |source| PathError::new(op, path, source);
        let file = open(path).map_err(fail("open the lock"))?;
        for turn in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if turn < TRIES => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { path: path.to_owned(), holder: read_holder(&file) });
                }
                Err(TryLockError::Error(source)) => return Err(fail("lock")(source).into()),
            }
        }
        let mut lock = Self { file, path: path.to_owned() };
        lock.say(holder).map_err(fail("write the holder to"))?;
        lock.check()?;
        Ok(lock)
    }

    /// Who holds the lock at `path` now; `None` if nobody does or the file is absent. `Some(None)`: someone who does
    /// not say who.
    ///
    /// # Errors
    /// The file is there and cannot be opened or probed.
    pub fn holder(path: &Utf8Path) -> Result<Option<Option<Holder>>, PathError> {
        let file = match crate::fs::open(path) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&file))),
            Err(TryLockError::Error(source)) => Err(PathError::new("probe the lock", path, source)),
        }
    }

    /// Whether the file at the path is still the one that is locked.
    ///
    /// # Errors
    /// [`LockError::Lost`] if it was removed or replaced, for then another process can lock its successor.
    pub fn check(&self) -> Result<(), LockError> {
        if same_file(&self.file, &self.path) { Ok(()) } else { Err(LockError::Lost { path: self.path.clone() }) }
    }

    /// Written first and cut after, so that a reader finds whole JSON at the front at any instant but that of the write.
    fn say(&mut self, holder: &Holder) -> io::Result<()> {
        let mut text = serde_json::to_vec(holder)?;
        text.push(b'\n');
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)?;
        self.file.set_len(text.len() as u64)
    }
}

fn open(path: &Utf8Path) -> io::Result<File> {
    crate::fs::check_fence(path)?;
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

fn read_holder(mut file: &File) -> Option<Holder> {
    file.seek(SeekFrom::Start(0)).ok()?;
    let mut text = Vec::new();
    file.take(MAX_HOLDER).read_to_end(&mut text).ok()?;
    serde_json::Deserializer::from_slice(&text).into_iter().next()?.ok()
}

#[cfg(unix)]
fn same_file(file: &File, path: &Utf8Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// A file that is open for a lock cannot be removed there.
#[cfg(not(unix))]
fn same_file(_: &File, path: &Utf8Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn someone(pid: u32) -> Holder {
        Holder {
            pid,
            host: "box".to_owned(),
            command: "planex waves \"x\"".to_owned(),
            since: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_second_is_told_who_holds_it() {
        let temp = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(temp.path().join("lock")).unwrap();
        assert_eq!(SessionLock::holder(&path).unwrap(), None);
        let long = Holder { command: "x".repeat(500), ..someone(1) };
        drop(SessionLock::acquire(&path, &long).unwrap());

        let held = SessionLock::acquire(&path, &someone(7)).unwrap();
        let error = SessionLock::acquire(&path, &someone(8)).unwrap_err();
        let LockError::Held { holder, .. } = &error else { panic!("{error}") };
        assert_eq!(holder, &Some(someone(7)), "nothing of the longer text before it is left");
        assert!(error.to_string().contains("process 7 on box since 1970-01-01T00:00:00Z (planex waves"), "{error}");
        assert_eq!(SessionLock::holder(&path).unwrap(), Some(Some(someone(7))));

        drop(held);
        assert_eq!(SessionLock::holder(&path).unwrap(), None);
        SessionLock::acquire(&path, &someone(9)).unwrap();
    }

    #[test]
    fn a_lock_whose_file_was_removed_is_lost() {
        let temp = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(temp.path().join("lock")).unwrap();
        let lock = SessionLock::acquire(&path, &someone(1)).unwrap();
        lock.check().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(lock.check(), Err(LockError::Lost { .. })));
        let second = SessionLock::acquire(&path, &someone(2)).unwrap();
        assert!(matches!(lock.check(), Err(LockError::Lost { .. })), "another file now");
        second.check().unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = SessionLock::acquire("/nonexistent/x/lock".into(), &someone(1)).unwrap_err();
        assert!(error.to_string().starts_with("failed to open the lock /nonexistent/x/lock: "), "{error}");
    }
}
