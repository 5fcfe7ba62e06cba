//! Lists the files of a tree: ignore rules respected, with or without git, links never followed.

use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use camino::{Utf8Path, Utf8PathBuf};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::error::ExploreError;

/// Folders that hold other people's code or tools' output and are never entered.
const PRUNED: [&str; 22] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".workflow",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".idea",
    ".next",
    ".nuxt",
    ".terraform",
    "site-packages",
    ".cache",
    ".yarn",
];

/// Most files that are looked at; beyond it the rest is counted and said.
const MAX_FILES: usize = 200_000;

/// One file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Bytes.
    pub(crate) size: u64,
    /// Nanoseconds since 1970; 0 where the system does not say.
    pub(crate) mtime: u64,
}

/// What was left out, and how much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalkStats {
    /// Regular files seen.
    pub files: usize,
    /// Files and folders that could not be read.
    pub unreadable: usize,
    /// Paths that are not UTF-8, shown lossily, at most 20 of them.
    pub non_utf8: Vec<String>,
    /// Symbolic links, not followed.
    pub links: usize,
    /// Files with NUL bytes.
    pub binary: usize,
    /// Files above the size limit, known by path only.
    pub huge: usize,
    /// Files beyond the limit of 200,000.
    pub beyond_limit: usize,
}

/// Lists the tree, sorted by path.
pub(crate) fn walk(root: &Utf8Path, threads: usize) -> Result<(Vec<Found>, WalkStats), ExploreError> {
    if !planex_sys::fs::exists(root) {
        return Err(ExploreError::Missing(root.to_owned()));
    }
    if !planex_sys::fs::is_dir(root) {
        return Err(ExploreError::NotAFolder(root.to_owned()));
    }
    planex_sys::fs::list(root)?;
    let shared: Mutex<(Vec<Found>, WalkStats)> = Mutex::default();
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .parents(true)
        .follow_links(false)
        .threads(threads)
        .filter_entry(|entry| !is_pruned(entry))
        .build_parallel();
    walker.run(|| {
        Box::new(|entry| {
            if let Ok(mut state) = shared.lock() {
                let (found, stats) = &mut *state;
                visit(root, entry, found, stats);
            }
            WalkState::Continue
        })
    });
    let (mut found, mut stats) = shared.into_inner().unwrap_or_default();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    stats.beyond_limit = found.len().saturating_sub(MAX_FILES);
    found.truncate(MAX_FILES);
    stats.files = found.len();
    stats.non_utf8.sort();
    Ok((found, stats))
}

fn is_pruned(entry: &DirEntry) -> bool {
    let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    entry.depth() > 0 && folder && entry.file_name().to_str().is_some_and(|name| PRUNED.contains(&name))
}

fn visit(root: &Utf8Path, entry: Result<DirEntry, ignore::Error>, found: &mut Vec<Found>, stats: &mut WalkStats) {
    let Ok(entry) = entry else {
        stats.unreadable += 1;
        return;
    };
    let Some(kind) = entry.file_type() else { return };
    if kind.is_symlink() {
        stats.links += 1;
    }
    if !kind.is_file() {
        return;
    }
    let Some(path) = Utf8Path::from_path(entry.path()) else {
        if stats.non_utf8.len() < 20 {
            stats.non_utf8.push(entry.path().to_string_lossy().into_owned());
        }
        return;
    };
    let Ok(data) = entry.metadata() else {
        stats.unreadable += 1;
        return;
    };
    let relative = path.strip_prefix(root).unwrap_or(path);
    let mtime = data
        .modified()
        .ok()
        .and_then(|t| t.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(0));
    found.push(Found { path: slashed(relative), size: data.len(), mtime });
}

fn slashed(path: &Utf8Path) -> String {
    path.components().map(|c| c.as_str()).collect::<Vec<_>>().join("/")
}

/// The absolute place of a found file.
pub(crate) fn place(root: &Utf8Path, path: &str) -> Utf8PathBuf {
    root.join(path)
}
