//! What changed below a folder, observed and not believed (spec 70, *Truth over claims*).
//!
//! Works with and without git: the state of a tree is size, times, mode and inode of every file. A file whose content
//! was put back to what it was, with its times, still counts as modified (its change time moved); so does one that was
//! only touched. What git ignores, version control's own folders, `.workflow` and known by-products of tools are not
//! counted.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::sync::mpsc;

use camino::{Utf8Path, Utf8PathBuf};
use ignore::{DirEntry, WalkBuilder, WalkState};
use serde::{Deserialize, Serialize};

/// Folders that version control systems keep.
const VCS: [&str; 6] = [".git", ".hg", ".svn", ".jj", ".bzr", "CVS"];

/// Folder of planex's sessions, at the project root.
const SESSIONS: &str = ".workflow";

/// Names of files and folders that tools leave behind as they run.
const BY_PRODUCTS: [&str; 20] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".coverage",
    "htmlcov",
    ".nyc_output",
    ".eslintcache",
    ".stylelintcache",
    ".parcel-cache",
    ".turbo",
    ".gradle",
    ".kotlin",
    ".phpunit.result.cache",
    ".phpunit.cache",
    ".DS_Store",
    "Thumbs.db",
];

/// Whether a name is a known by-product of a tool.
fn is_by_product(name: &str) -> bool {
    BY_PRODUCTS.contains(&name)
        || name.starts_with(".coverage.")
        || [".pyc", ".pyo", ".swp", ".swo"].iter().any(|end| name.ends_with(end))
}

/// Whether the path, or a folder on the way to it, is something that is never counted as a change: planex's own
/// folder, version control's, or a known by-product.
#[must_use]
pub fn is_never_counted(path: &Utf8Path) -> bool {
    let mut names = path.components().map(|component| component.as_str());
    path.starts_with(SESSIONS) || names.any(|name| VCS.contains(&name) || is_by_product(name))
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObserveOptions {
    /// Leave out what `.gitignore` files (and, in a repository, `info/exclude` and the user's own file) name.
    pub respect_ignore: bool,
    /// Paths, relative to the root, that are looked at whatever a rule says: tracked files that match one
    /// ([`Git::tracked_ignored`](crate::git::Git::tracked_ignored)), and files that a scope names.
    pub always: Vec<Utf8PathBuf>,
    /// Threads; 0 leaves it to the number of processors.
    pub threads: usize,
}

impl Default for ObserveOptions {
    fn default() -> Self {
        Self { respect_ignore: true, always: Vec::new(), threads: 0 }
    }
}

/// One file as it was seen. Symbolic links are seen themselves, not what they lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Bytes.
    pub size: u64,
    /// Last change of the content, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of content or attributes; 0 where the system has none.
    pub ctime_ns: i64,
    /// Kind and permissions.
    pub mode: u32,
    /// Number of the file; 0 where the system has none.
    pub inode: u64,
}

/// All files below a folder as they were seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeState {
    /// Files by path relative to the root, with `/`. Names that are not UTF-8 stand here with U+FFFD.
    pub files: BTreeMap<Utf8PathBuf, FileState>,
    /// What could not be looked at, in words.
    pub unseen: Vec<String>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Content, mode or kind changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// One observed change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Change {
    /// Path relative to the root.
    pub path: Utf8PathBuf,
    /// What happened.
    pub kind: ChangeKind,
}

impl TreeState {
    /// Looks at everything below `root`, in parallel. What cannot be read is named in [`TreeState::unseen`].
    #[must_use]
    pub fn scan(root: &Utf8Path, options: &ObserveOptions) -> Self {
        let (send, receive) = mpsc::channel();
        walker(root, options).run(|| {
            let send = send.clone();
            Box::new(move |entry| {
                let seen = match &entry {
                    Ok(entry) => look(root, entry),
                    Err(error) => Some(Err(error.to_string())),
                };
                match seen.map(|seen| send.send(seen)) {
                    Some(Err(_)) => WalkState::Quit,
                    Some(Ok(())) | None => WalkState::Continue,
                }
            })
        });
        drop(send);
        let mut state = Self::default();
        for seen in receive {
            match seen {
                Ok((path, file)) => {
                    state.files.insert(path, file);
                }
                Err(problem) => state.unseen.push(problem),
            }
        }
        state.unseen.sort();
        state.look_at(root, &options.always);
        state
    }

    fn look_at(&mut self, root: &Utf8Path, paths: &[Utf8PathBuf]) {
        for path in paths.iter().filter(|path| !is_never_counted(path)) {
            match std::fs::symlink_metadata(root.join(path)) {
                Ok(meta) if !meta.is_dir() => {
                    self.files.insert(path.clone(), state_of(&meta));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// What differs between two looks at the same root, by path.
#[must_use]
pub fn diff(old: &TreeState, new: &TreeState) -> Vec<Change> {
    let change = |path: &Utf8PathBuf, kind| Change { path: path.clone(), kind };
    let gone = old.files.keys().filter(|path| !new.files.contains_key(*path));
    let mut changes: Vec<Change> = gone.map(|path| change(path, ChangeKind::Deleted)).collect();
    for (path, now) in &new.files {
        match old.files.get(path) {
            None => changes.push(change(path, ChangeKind::Created)),
            Some(before) if before != now => changes.push(change(path, ChangeKind::Modified)),
            Some(_) => {}
        }
    }
    changes.sort();
    changes
}

fn walker(root: &Utf8Path, options: &ObserveOptions) -> ignore::WalkParallel {
    // In a repository the rules of its top level hold, and no rule from above it; elsewhere those of the root itself.
    let in_repository = root.ancestors().any(|folder| folder.join(".git").exists());
    let respect = options.respect_ignore;
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .ignore(false)
        .follow_links(false)
        .git_ignore(respect)
        .git_exclude(respect)
        .git_global(respect && in_repository)
        .parents(respect && in_repository)
        .require_git(in_repository)
        .threads(options.threads)
        .filter_entry(is_counted);
    builder.build_parallel()
}

fn is_counted(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    match entry.depth() {
        0 => true,
        1 if name == SESSIONS => false,
        _ => !VCS.contains(&&*name) && !is_by_product(&name),
    }
}

type Seen = Result<(Utf8PathBuf, FileState), String>;

fn look(root: &Utf8Path, entry: &DirEntry) -> Option<Seen> {
    if entry.file_type().is_none_or(|kind| kind.is_dir()) {
        return None;
    }
    let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let path = Utf8PathBuf::from(path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"));
    match std::fs::symlink_metadata(entry.path()) {
        Ok(meta) => Some(Ok((path, state_of(&meta)))),
        // Gone between the two looks: as if it had never been seen.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(format!("{path}: {error}"))),
    }
}

#[cfg(unix)]
fn state_of(meta: &Metadata) -> FileState {
    use std::os::unix::fs::MetadataExt as _;
    let nanos = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    FileState {
        size: meta.size(),
        mtime_ns: nanos(meta.mtime(), meta.mtime_nsec()),
        ctime_ns: nanos(meta.ctime(), meta.ctime_nsec()),
        mode: meta.mode(),
        inode: meta.ino(),
    }
}

#[cfg(not(unix))]
fn state_of(meta: &Metadata) -> FileState {
    let since = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let mtime_ns = since.and_then(|time| i64::try_from(time.as_nanos()).ok()).unwrap_or(0);
    FileState { size: meta.len(), mtime_ns, ctime_ns: 0, mode: u32::from(meta.permissions().readonly()), inode: 0 }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
