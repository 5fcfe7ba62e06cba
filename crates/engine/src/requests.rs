//! What other processes ask the driver of a session to do (spec 00, *State*: `requests/`).
//!
//! One file a request, written whole, taken by the driver at its next look, removed when its effect is on disk.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use planex_sys::fs::{self, Entry, EntryKind};
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "lowercase")]
pub enum Request {
    /// End the session, or only these tasks.
    Cancel {
        /// Tasks; empty: the whole session.
        #[serde(default)]
        tasks: Vec<String>,
    },
    /// Don't run these.
    Skip {
        /// Tasks.
        tasks: Vec<String>,
    },
    /// Start nothing new; what runs goes on. The driver stops with exit 4 when nothing runs any more.
    Pause,
    /// Take back a pause.
    Unpause,
    /// Run these again.
    Retry {
        /// Tasks; empty: all that failed or were skipped.
        #[serde(default)]
        tasks: Vec<String>,
    },
}

/// A request that was found, with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The request.
    pub request: Request,
    file: Utf8PathBuf,
}

/// Requests that one look takes at most.
const MOST: usize = 1000;

/// Leaves a request for the session's driver.
///
/// # Errors
/// It cannot be written.
pub fn place(paths: &SessionPaths, request: &Request, at: Timestamp) -> Result<()> {
    let folder = paths.requests();
    fs::create_dir_all(&folder)?;
    let text = serde_json::to_vec_pretty(request).map_err(EngineError::internal)?;
    // Names sort by time; the process id keeps those of two processes apart, and later ones of one instant move on.
    let name = |micros: i64| folder.join(format!("{micros:020}-{}.json", std::process::id()));
    let mut micros = at.as_microsecond().max(0);
    while fs::exists(&name(micros)) {
        micros += 1;
    }
    Ok(fs::write_atomic(&name(micros), &text)?)
}

/// Requests that wait, oldest first. One that cannot be read is removed: it would be found for ever.
///
/// # Errors
/// The folder cannot be listed.
pub fn waiting(paths: &SessionPaths) -> Result<Vec<Placed>> {
    let folder = paths.requests();
    if !fs::is_dir(&folder) {
        return Ok(Vec::new());
    }
    let mut placed = Vec::new();
    for entry in fs::list(&folder)?.into_iter().filter(is_request).take(MOST) {
        let Some(bytes) = fs::read_if_exists(&entry.path)? else { continue };
        match serde_json::from_slice(&bytes) {
            Ok(request) => placed.push(Placed { request, file: entry.path }),
            Err(_) => fs::remove_file(&entry.path)?,
        }
    }
    Ok(placed)
}

/// Removes requests to cancel the whole session: they are done once it is written that it is cancelled.
///
/// # Errors
/// They cannot be listed or removed.
pub fn forget_cancels(paths: &SessionPaths) -> Result<()> {
    for placed in waiting(paths)? {
        if matches!(&placed.request, Request::Cancel { tasks } if tasks.is_empty()) {
            placed.done()?;
        }
    }
    Ok(())
}

/// Whether a file is a request and not a half-written one.
fn is_request(entry: &Entry) -> bool {
    entry.kind == EntryKind::File && entry.name.ends_with(".json") && !entry.name.starts_with('.')
}

impl Placed {
    /// Removes it: it was acted on.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn done(self) -> Result<()> {
        Ok(fs::remove_file(&self.file)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_taken_in_order_and_once() {
        let temp = tempfile::tempdir().unwrap();
        let paths = SessionPaths::new(camino::Utf8Path::from_path(temp.path()).unwrap());
        assert!(waiting(&paths).unwrap().is_empty());
        let at = Timestamp::from_second(1_000_000).unwrap();
        let wanted = [
            Request::Pause,
            Request::Skip { tasks: vec!["T2".into()] },
            Request::Cancel { tasks: vec![] },
            Request::Retry { tasks: vec![] },
        ];
        for request in &wanted {
            place(&paths, request, at).unwrap();
        }
        std::fs::write(paths.requests().join("x.json"), "{ torn").unwrap();
        let placed = waiting(&paths).unwrap();
        assert_eq!(placed.iter().map(|one| one.request.clone()).collect::<Vec<_>>(), wanted);
        for one in placed {
            one.done().unwrap();
        }
        assert!(waiting(&paths).unwrap().is_empty());
        assert!(!paths.requests().join("x.json").exists());
    }
}
