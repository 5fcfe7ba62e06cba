//! What of sessions lies outside of their folders, hidden refs and trees of tasks, and how it goes with them.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use planex_isolation::{Owner, Repo};
use planex_sys::env::Environment;
use planex_sys::fs;
use planex_sys::lock::{LockError, SessionLock};

use super::trees;
use crate::error::Result;
use crate::session::{self, holder};
use crate::store::SessionPaths;

/// Something that nobody needs any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// Hidden refs of a session that is gone.
    Refs(Owner),
    /// Trees of tasks of a session that is gone, or that no planex drives.
    Trees {
        /// The session's folder, which may be gone.
        session: Utf8PathBuf,
        /// The folder of the trees.
        root: Utf8PathBuf,
    },
}

/// Looks after a project's repository and the folders of trees.
#[derive(Debug)]
pub struct Upkeep {
    project: Utf8PathBuf,
    repo: Option<Repo>,
    folders: Vec<Utf8PathBuf>,
}

impl Upkeep {
    /// For a project. `configured` is `[worktree] root`, `cache` the user's cache folder of planex's.
    ///
    /// # Errors
    /// Git refuses.
    pub fn new(
        project: &Utf8Path,
        env: &Environment,
        configured: Option<&str>,
        cache: Option<&Utf8Path>,
    ) -> Result<Self> {
        let folders = trees::folders(project, configured, cache).collect();
        Ok(Self { project: project.to_owned(), repo: Repo::open(project, env)?.ok(), folders })
    }

    /// Lets go what a session had that is deleted or archived now: its folder was `dir`.
    ///
    /// # Errors
    /// Git refuses, or a file cannot be removed.
    pub fn release(&self, session: &str, dir: &Utf8Path) -> Result<()> {
        for folder in &self.folders {
            fs::remove_tree(&trees::root_of(folder, session, dir))?;
        }
        self.repo.as_ref().map_or(Ok(()), |repo| Ok(repo.release_all(session)?))
    }

    /// What nobody needs any more: refs in this repository, and trees of all projects.
    ///
    /// # Errors
    /// Git refuses, or a folder cannot be listed.
    pub fn leftovers(&self) -> Result<Vec<Leftover>> {
        let mut found = Vec::new();
        for folder in &self.folders {
            for (root, session) in trees::all(folder)? {
                if SessionLock::holder(&SessionPaths::new(session.clone()).lock())?.is_none() {
                    found.push(Leftover::Trees { session, root });
                }
            }
        }
        let owners = self.repo.as_ref().map_or(Ok(Vec::new()), Repo::owners)?;
        let here = |owner: &Owner| owner.project.as_deref() == Some(self.project.as_path());
        for owner in &owners {
            let there = owner.project.as_deref().is_some_and(|project| has(project, &owner.session));
            // A project that was moved within its repository took its sessions along, and they have refs as of before.
            let moved = !owners.iter().any(|other| here(other) && other.session == owner.session)
                && has(&self.project, &owner.session);
            if !there && !moved {
                found.push(Leftover::Refs(owner.clone()));
            }
        }
        Ok(found)
    }

    /// Takes one away; `false`: a planex has taken its session up in between, so it stays.
    ///
    /// # Errors
    /// Git refuses, or a file cannot be removed.
    pub fn remove(&self, left: &Leftover, now: Timestamp) -> Result<bool> {
        match (left, &self.repo) {
            (Leftover::Refs(owner), Some(repo)) => repo.release_of(owner)?,
            (Leftover::Refs(_), None) => {}
            (Leftover::Trees { session, root }, _) => {
                let lock = SessionPaths::new(session.clone()).lock();
                // Held while they go, so that no planex begins to use them.
                let _held = match fs::exists(&lock).then(|| SessionLock::acquire(&lock, &holder("planex doctor", now)))
                {
                    Some(Err(LockError::Held { .. })) => return Ok(false),
                    Some(held) => Some(held?),
                    None => None,
                };
                fs::remove_tree(root)?;
            }
        }
        Ok(true)
    }
}

/// Whether a project has a session; an archived one has let its refs go. What cannot be listed counts as there.
fn has(project: &Utf8Path, id: &str) -> bool {
    session::find_all(project).map_or(true, |all| all.iter().any(|found| !found.archived && found.id == id))
}
