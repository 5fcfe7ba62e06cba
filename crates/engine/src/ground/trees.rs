//! The trees of one session's tasks: made when a task starts, collected when it ends, gone when planex leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::settings::{Into as Destination, Worktree};
use planex_isolation::{Placed, Repo, Snapshot, TaskTree, TreeSpec};
use planex_sys::fs;
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// Folder below the cache folder that holds the trees of all sessions.
const TREES: &str = "trees";

/// Folder beside a session's trees for planex's notes on them; no task has such an id.
const OWN: &str = ".own";

/// File in there that names the session's folder; no task has such an id either.
const OF: &str = ".session";

/// The trees of one session's tasks.
#[derive(Debug)]
pub struct Trees {
    /// The user's repository.
    pub repo: Repo,
    /// The session's id, which names its hidden refs.
    pub session: String,
    /// Where results go.
    pub into: Destination,
    paths: SessionPaths,
    root: Utf8PathBuf,
    worktree: Worktree,
    /// Trees in use, so that none is taken twice.
    busy: Mutex<BTreeSet<String>>,
}

impl Trees {
    /// The trees of a session. Nothing is made yet.
    ///
    /// # Errors
    /// There is no folder to make them in.
    pub fn new(engine: &Engine, repo: Repo, session: &str, paths: &SessionPaths, into: Destination) -> Result<Self> {
        let worktree = engine.settings.isolation.worktree.clone();
        let root = root_of(&folder(engine)?, session, paths.dir());
        Ok(Self {
            repo,
            session: session.to_owned(),
            into,
            paths: paths.clone(),
            root,
            worktree,
            busy: Mutex::default(),
        })
    }

    /// planex's own folder for copied indices.
    #[must_use]
    pub fn scratch(&self) -> Utf8PathBuf {
        self.paths.scratch()
    }

    /// Where a write into the user's tree keeps its journal.
    #[must_use]
    pub fn swap(&self) -> Utf8PathBuf {
        self.paths.swap()
    }

    /// The user's tree as it is now.
    ///
    /// # Errors
    /// Git refuses, the disk is full.
    pub fn snapshot(&self, name: &str) -> Result<Snapshot> {
        Ok(self.repo.snapshot(&self.session, name, &self.scratch())?)
    }

    /// What comes along beside a snapshot.
    ///
    /// # Errors
    /// Git refuses.
    pub fn placed(&self, base: &Snapshot) -> Result<Placed> {
        Ok(Placed::choose(&self.repo, &base.submodules, &self.worktree.copy, &self.worktree.link)?)
    }

    /// Shell lines that prepare a new tree.
    #[must_use]
    pub fn setup(&self) -> &[String] {
        &self.worktree.setup
    }

    /// Makes the tree of a task: the snapshot, and what comes along. A tree that no task uses any more is taken over.
    ///
    /// # Errors
    /// Git refuses, the disk is full.
    pub fn make(&self, task: &str, commit: &str, placed: &Placed) -> Result<TaskTree> {
        fs::create_dir_all(&self.root.join(OWN))?;
        fs::set_private(&self.root)?;
        // Whose trees these are, for whoever finds them after a kill.
        fs::write_atomic(&self.root.join(OWN).join(OF), self.paths.dir().as_str().as_bytes())?;
        self.take_over(task)?;
        let spec = self.spec(task, commit, placed);
        let tree = TaskTree::create(&self.repo, spec)?;
        placed.put(&self.repo, tree.dir())?;
        tree.settle()?;
        Ok(tree)
    }

    /// The tree of a task as an earlier call made it.
    ///
    /// # Errors
    /// It is gone.
    pub fn open(&self, task: &str, commit: &str, placed: &Placed) -> Result<TaskTree> {
        Ok(TaskTree::open(self.spec(task, commit, placed))?)
    }

    /// The folder in which a task's agent works: the project's in its tree.
    #[must_use]
    pub fn project_in(&self, tree: &TaskTree) -> Utf8PathBuf {
        self.project_below(tree.dir())
    }

    /// The same, before there is a tree.
    #[must_use]
    pub fn project_of(&self, task: &str) -> Utf8PathBuf {
        self.project_below(&self.root.join(task))
    }

    fn project_below(&self, dir: &Utf8Path) -> Utf8PathBuf {
        if self.repo.prefix().is_empty() { dir.to_owned() } else { dir.join(self.repo.prefix()) }
    }

    /// A task is done with its tree: another may take it over.
    pub fn give_back(&self, task: &str) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
    }

    fn spec(&self, task: &str, commit: &str, placed: &Placed) -> TreeSpec {
        TreeSpec {
            dir: self.root.join(task),
            own: self.root.join(OWN).join(task),
            base: commit.to_owned(),
            placed: placed.paths(),
            submodules: placed.submodules(),
        }
    }

    /// Renames an idle tree to the task's place, unless the task has one: what differs is cheaper than a new one.
    fn take_over(&self, task: &str) -> Result<()> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.insert(task.to_owned());
        if fs::exists(&self.root.join(task)) {
            return Ok(());
        }
        let idle = fs::list(&self.root)?
            .into_iter()
            .find(|entry| entry.kind == fs::EntryKind::Dir && entry.name != OWN && !busy.contains(&entry.name));
        let Some(idle) = idle else { return Ok(()) };
        let own = self.root.join(OWN);
        fs::remove_dir_all(&own.join(task))?;
        fs::rename(&own.join(&idle.name), &own.join(task))
            .or_else(|error| if error.is_not_found() { Ok(()) } else { Err(error) })?;
        Ok(fs::rename(&idle.path, &self.root.join(task))?)
    }

    /// Lets the commits of tasks go: all of them are merged, or kept as patches. Not while a wave's results wait.
    ///
    /// # Errors
    /// Git refuses.
    pub fn release_tasks(&self) -> Result<()> {
        for name in self.repo.names(&self.session)?.iter().filter(|name| name.starts_with("t/")) {
            self.repo.release(&self.session, name)?;
        }
        Ok(())
    }

    /// Removes all trees of the session.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove_all(&self) -> Result<()> {
        fs::remove_tree(&self.root)?;
        Ok(fs::remove_dir_all(&self.scratch())?)
    }

    /// Variables for what runs in a tree.
    #[must_use]
    pub fn environment(&self, tree: &TaskTree) -> BTreeMap<String, String> {
        tree.environment()
    }
}

/// The folder that holds the trees of all sessions: `[worktree] root`, else below the user's cache folder.
///
/// # Errors
/// There is neither.
fn folder(engine: &Engine) -> Result<Utf8PathBuf> {
    let configured = engine.settings.isolation.worktree.root.as_deref();
    let mut folders = folders(&engine.project.root, configured, engine.cache.as_deref());
    folders.next().ok_or_else(|| {
        EngineError::usage("there is no cache folder for tasks' trees: neither HOME nor XDG_CACHE_HOME is set")
            .hint("set worktree.root, or use --isolation none")
    })
}

/// The folders that can hold trees, the one that is used now in front.
pub(super) fn folders(
    project: &Utf8Path,
    configured: Option<&str>,
    cache: Option<&Utf8Path>,
) -> impl Iterator<Item = Utf8PathBuf> {
    let configured = configured.map(|root| project.join(root));
    configured.into_iter().chain(cache.map(|cache| cache.join(TREES)))
}

/// The folder of one session's trees. A session of the same name in another project has another one.
pub(super) fn root_of(folder: &Utf8Path, session: &str, dir: &Utf8Path) -> Utf8PathBuf {
    let place: String = Sha256::digest(dir.as_str()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("{session}-{place}"))
}

/// The session's folder of all trees in such a folder, each with its own.
///
/// # Errors
/// The folder cannot be listed.
pub(super) fn all(folder: &Utf8Path) -> Result<Vec<(Utf8PathBuf, Utf8PathBuf)>> {
    if !fs::is_dir(folder) {
        return Ok(Vec::new());
    }
    let of = |root: Utf8PathBuf| {
        let session = fs::read_to_string(&root.join(OWN).join(OF)).ok()?;
        Some((root, Utf8PathBuf::from(session)))
    };
    Ok(fs::list(folder)?.into_iter().filter_map(|entry| of(entry.path)).collect())
}
