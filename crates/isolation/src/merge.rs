//! Merging what tasks made, first in objects alone, then path by path into the user's tree.
//!
//! Nothing of the user's is overwritten: a path that the user changed since the snapshot, or has where the merge wants
//! to put something new, is a conflict of the task that touches it, and the check is made once more for each path as it
//! is swapped.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::fs;
use planex_sys::swap::{self, Content, Done, Found, Step, Swap, SwapError};

use crate::diff::{self, EXECUTABLE};
use crate::{Change, ChangeKind, Entry, IsolationError, Repo, RepoPath, Result};

/// Why a task's changes cannot be merged: nothing of them was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The paths, sorted.
    pub paths: Vec<RepoPath>,
    /// What they conflict with.
    pub with: With,
}

/// What a task's changes conflict with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum With {
    /// A task that was merged before it.
    Task,
    /// What the user did meanwhile, or has there.
    User,
    /// A submodule, which is not merged.
    Submodule,
}

impl std::fmt::Display for With {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Task => "another task of the same wave",
            Self::User => "what is in your tree",
            Self::Submodule => "a submodule, which planex does not merge",
        })
    }
}

/// A task whose changes are part of the integration now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The integration's commit with them.
    pub commit: String,
}

/// What writing into the user's tree came to.
#[derive(Debug)]
pub enum Written {
    /// All paths are as the commit has them.
    Done {
        /// How many paths changed.
        paths: usize,
        /// Files that another program changed in the very moment, kept aside.
        kept: Vec<Utf8PathBuf>,
    },
    /// The user changed these meanwhile; nothing was written.
    Conflict(Vec<RepoPath>),
}

/// Merges the tasks of one wave.
#[derive(Debug)]
pub struct Merger<'r> {
    repo: &'r Repo,
    /// What the user's tree was when the first task was merged.
    start: String,
    integration: String,
    /// What the user changed since, where the result goes into the user's tree.
    user: BTreeSet<RepoPath>,
    into_tree: bool,
    scratch: Utf8PathBuf,
}

impl<'r> Merger<'r> {
    /// Begins with the snapshot `base` that all tasks started from. `into_tree`: the result goes into the user's tree,
    /// whose state now is looked at; otherwise only commits are made.
    ///
    /// # Errors
    /// Git refuses.
    pub fn start(repo: &'r Repo, base: &str, into_tree: bool, scratch: &Utf8Path) -> Result<Self> {
        let user = if into_tree { user_changes(repo, base, scratch)? } else { BTreeSet::new() };
        Ok(Self {
            repo,
            start: base.to_owned(),
            integration: base.to_owned(),
            user,
            into_tree,
            scratch: scratch.to_owned(),
        })
    }

    /// Begins with a snapshot of the user's tree as it is now, for changes that started from another one, `base`.
    ///
    /// # Errors
    /// Git refuses.
    pub fn onto(repo: &'r Repo, base: &str, now: &str, scratch: &Utf8Path) -> Result<Self> {
        // The base as its only parent makes that the merge base, whatever the history is.
        let tree = repo.plumbing(scratch).text(&["rev-parse", &format!("{now}^{{tree}}")])?;
        let start = repo.commit(&tree, &[base], "planex: the tree as it is", scratch)?;
        Self::start(repo, &start, true, scratch)
    }

    /// The commit with everything that was merged so far.
    #[must_use]
    pub fn integration(&self) -> &str {
        &self.integration
    }

    /// Merges a task's commit three-way; the merge base is the snapshot, from which both sides descend (before git 2.40
    /// it cannot be named). A conflict leaves everything as it was.
    ///
    /// # Errors
    /// Git fails.
    pub fn add(&mut self, commit: &str, message: &str) -> Result<std::result::Result<Merged, Conflict>> {
        let git = self.repo.plumbing(&self.scratch);
        let args = ["merge-tree", "--write-tree", "-z", &self.integration, commit];
        let (clean, printed) = git.answer(&args, Vec::new())?;
        if !clean {
            let mut paths = conflicting(&printed);
            // For a conflict between a file and a folder git invents a name (`d~<commit>`): it is in neither tree.
            let sides = [self.integration.as_str(), commit].map(|side| diff::changes(&git, &self.start, side));
            let sides: Vec<Change> = sides.into_iter().collect::<Result<Vec<_>>>()?.concat();
            paths.retain(|path| sides.iter().any(|change| change.path == *path));
            return Ok(Err(Conflict { paths, with: With::Task }));
        }
        let tree = printed.split(|byte| *byte == 0).next().unwrap_or_default();
        let tree = String::from_utf8_lossy(tree).into_owned();
        let changes = diff::changes(&git, &self.start, &tree)?;
        let own = diff::changes(&git, &self.integration, &tree)?;
        let submodules: Vec<RepoPath> =
            own.iter().filter(|change| change.is_submodule()).map(|change| change.path.clone()).collect();
        if !submodules.is_empty() {
            return Ok(Err(Conflict { paths: submodules, with: With::Submodule }));
        }
        if self.into_tree {
            let paths = self.in_the_way(&changes);
            if !paths.is_empty() {
                return Ok(Err(Conflict { paths, with: With::User }));
            }
        }
        let merged = self.repo.commit(&tree, &[&self.integration], message, &self.scratch)?;
        self.integration.clone_from(&merged);
        Ok(Ok(Merged { commit: merged }))
    }

    /// Paths that the user changed, or has where something new is to be.
    fn in_the_way(&self, changes: &[Change]) -> Vec<RepoPath> {
        let gone: BTreeSet<&RepoPath> =
            changes.iter().filter(|change| change.new.is_none()).map(|change| &change.path).collect();
        let top = self.repo.top();
        let taken = |change: &Change| {
            if change.kind() != ChangeKind::Added {
                return false;
            }
            // A folder is in the way only if something else than what this merge removes is in it: the swap knows.
            let is_there = |path: &RepoPath| path.below(top).symlink_metadata().is_ok_and(|meta| !meta.is_dir());
            // From the top, for nothing below a link is of this tree.
            let mut parents = change.path.parents().map(|folder| RepoPath(folder.to_vec()));
            match parents.find(is_there) {
                Some(leading) => !gone.contains(&leading),
                None => is_there(&change.path),
            }
        };
        let in_the_way = |change: &&Change| self.user.contains(&change.path) || taken(change);
        changes.iter().filter(in_the_way).map(|change| change.path.clone()).collect()
    }

    /// Writes everything that was merged into the user's tree. `dir` is a folder of planex's on the same file system,
    /// which holds the journal until the write is finished: [`planex_sys::swap::Swap::recover`] goes on from there.
    ///
    /// # Errors
    /// Git or the disk fails; what was written is taken back.
    pub fn write(&self, dir: &Utf8Path) -> Result<Written> {
        self.repo.write(&self.start, &self.integration, &self.scratch, dir)
    }
}

impl Repo {
    /// Brings the user's tree from the state of one commit to that of another, path by path. Paths in which the tree
    /// differs from `from` are a conflict; then nothing is written.
    ///
    /// # Errors
    /// Git or the disk fails; what was written is taken back.
    pub fn write(&self, from: &str, to: &str, scratch: &Utf8Path, dir: &Utf8Path) -> Result<Written> {
        let mut changes = diff::changes(&self.plumbing(scratch), from, to)?;
        if changes.is_empty() {
            return Ok(Written::Done { paths: 0, kept: Vec::new() });
        }
        let off_disk = self.off_disk()?;
        for change in &mut changes {
            change.new.take_if(|new| off_disk.get(&change.path) == Some(new));
        }
        // Hashed before the look: whoever edits in between is seen by the look, whoever edits later by the swap.
        let mut before = Vec::new();
        let mut late = Vec::new();
        for change in &changes {
            match swap::look(self.top(), &change.path.0)? {
                Found::Is(content) => before.push(content),
                Found::Folder | Found::Behind if change.old.is_none() => before.push(Content::Absent),
                Found::Folder | Found::Special | Found::Behind => late.push(change.path.clone()),
            }
        }
        let user = user_changes(self, from, scratch)?;
        late.extend(changes.iter().map(|change| &change.path).filter(|path| user.contains(*path)).cloned());
        if !late.is_empty() {
            return Ok(Written::Conflict(late));
        }
        swap::forget(dir)?;
        let staged = dir.join("new");
        fs::create_dir_all(&staged)?;
        self.stage(to, &changes, &staged, scratch)?;
        let mut steps = Vec::new();
        for (change, old) in changes.into_iter().zip(before) {
            let new = staged_content(&change, old, &staged)?;
            steps.push(Step { path: change.path.0, old, new });
        }
        let paths = steps.len();
        match Swap::prepare(self.top(), dir, steps).and_then(Swap::run) {
            Ok(Done { kept }) => Ok(Written::Done { paths, kept: kept.into_iter().map(|kept| kept.at).collect() }),
            Err(SwapError::Conflict { paths, .. }) => Ok(Written::Conflict(paths.into_iter().map(RepoPath).collect())),
            Err(error) => Err(error.into()),
        }
    }

    /// What a sparse checkout keeps off the disk, as the user's index has it. Where a file of a task's was written to
    /// such a path, going back means that there is none again.
    fn off_disk(&self) -> Result<BTreeMap<RepoPath, Entry>> {
        let args = ["config", "--type=bool", "--default=false", "--get", "core.sparseCheckout"];
        if self.git.run(&args, Vec::new())?.trim_ascii() != b"true" {
            return Ok(BTreeMap::new());
        }
        // Else git takes whatever is on the disk for meant to be there.
        let args = ["-c", "sparse.expectFilesOutsideOfPatterns=true", "ls-files", "-z", "-s", "-v"];
        let listed = self.git.run(&args, Vec::new())?;
        // `S mode id stage\tpath`
        let entry = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let (head, path) = (std::str::from_utf8(line.get(..tab)?).ok()?, line.get(tab + 1..)?);
            let mut fields = head.strip_prefix("S ")?.split(' ');
            let mode = u32::from_str_radix(fields.next()?, 8).ok()?;
            Some((RepoPath(path.to_owned()), Entry { mode, oid: fields.next()?.to_owned() }))
        };
        Ok(listed.split(|byte| *byte == 0).filter_map(entry).collect())
    }

    /// The changed files as a checkout would write them, below `staged`: the attributes of `to` decide, not those of
    /// the user's tree now.
    fn stage(&self, to: &str, changes: &[Change], staged: &Utf8Path, scratch: &Utf8Path) -> Result<()> {
        let index = scratch.join("stage.index");
        fs::remove_file(&index)?;
        let git = self.git.plumbing(staged, &index);
        git.text(&["read-tree", to])?;
        let paths = changes.iter().filter(|change| change.new.is_some()).map(|change| change.path.0.as_slice());
        let args = ["-c", "core.sparseCheckout=false", "checkout-index", "-q", "-f", "-z", "--stdin"];
        git.on_paths(&args, paths)?;
        fs::remove_file(&index)?;
        Ok(())
    }
}

/// What is to be at a path that holds `before`: what is staged for it. Executable as git says where that changes, else
/// as it is: with `core.fileMode=false` git does not know.
fn staged_content(change: &Change, before: Content, staged: &Utf8Path) -> Result<Content> {
    let Some(new) = &change.new else { return Ok(Content::Absent) };
    let executable = match (&change.old, before) {
        (Some(old), Content::File { executable, .. }) if old.mode == new.mode => executable,
        _ => new.mode == EXECUTABLE,
    };
    match swap::look(staged, &change.path.0)? {
        Found::Is(Content::File { sha256, .. }) => Ok(Content::File { executable, sha256 }),
        Found::Is(content) => Ok(content),
        Found::Folder | Found::Special | Found::Behind => {
            Err(IsolationError::Strange(format!("no file staged for {}", change.path)))
        }
    }
}

/// Paths in which the user's tree differs from a commit.
fn user_changes(repo: &Repo, commit: &str, scratch: &Utf8Path) -> Result<BTreeSet<RepoPath>> {
    let now = repo.look(scratch)?;
    let changes = diff::changes(&repo.plumbing(scratch), commit, &now.tree)?;
    Ok(changes.into_iter().map(|change| change.path).collect())
}

/// Paths that `merge-tree -z` names: in the list of conflicted entries, and in its messages.
fn conflicting(printed: &[u8]) -> Vec<RepoPath> {
    let mut parts = printed.split(|byte| *byte == 0).skip(1);
    let mut paths = BTreeSet::new();
    for entry in parts.by_ref().take_while(|entry| !entry.is_empty()) {
        if let Some(tab) = entry.iter().position(|byte| *byte == b'\t') {
            paths.insert(entry.get(tab + 1..).unwrap_or_default().to_owned());
        }
    }
    // `<n>\0path…\0type\0text\0`
    while let Some(count) = parts.next() {
        let Some(count) = std::str::from_utf8(count).ok().and_then(|count| count.parse::<usize>().ok()) else { break };
        let named: Vec<&[u8]> = parts.by_ref().take(count).collect();
        let kind = parts.next().unwrap_or_default();
        let _text = parts.next();
        if kind.starts_with(b"CONFLICT") {
            paths.extend(named.into_iter().map(<[u8]>::to_owned));
        }
    }
    paths.into_iter().map(RepoPath).collect()
}
