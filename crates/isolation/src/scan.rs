//! A tree object of what is on disk: one routine for the user's tree and for tasks' trees.
//!
//! The index is a copy, so that what git knows of unchanged files (their times) saves reading them. What `git add -A`
//! would die on or take wrongly (nested repositories, unreadable files, submodules) is told apart here first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::path::Path;

use camino::Utf8Path;
use planex_sys::git::Plumbing;
use planex_sys::observe;
use serde::{Deserialize, Serialize};

use crate::{RepoPath, Result};

/// Untracked files that are larger are left out (spec 70), bytes.
const LARGEST: u64 = 50 << 20;

/// Something on disk that is not part of the tree object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub path: RepoPath,
    /// Why.
    pub why: Why,
}

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Untracked and over 50 MiB.
    TooLarge,
    /// A repository of its own inside.
    NestedRepository,
    /// A FIFO, socket or device.
    Special,
    /// It cannot be read.
    Unreadable,
    /// The user said that no agent may have it (`protect`).
    Protected,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "untracked and over 50 MiB",
            Self::NestedRepository => "a repository of its own",
            Self::Special => "no regular file",
            Self::Unreadable => "cannot be read",
            Self::Protected => "protected",
        })
    }
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.path, self.why)
    }
}

/// What a scan found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// Id of the tree object.
    pub tree: String,
    /// What is on disk and not in it.
    pub left_out: Vec<LeftOut>,
    /// Paths with a merge conflict in the user's index; their files, markers included, are in the tree.
    pub unmerged: Vec<RepoPath>,
    /// Submodules: their commits are in the tree as the index has them.
    pub submodules: Vec<RepoPath>,
}

/// A question about one path.
pub(crate) type Test<'a> = &'a dyn Fn(&RepoPath) -> bool;

/// What a scan does not look at, and what it looks at in spite of ignore rules.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    /// Paths that are not part of the tree, tracked or not.
    pub without: Test<'a>,
    /// Paths that are not part of it either, and are named where the index does not have them.
    pub protected: Test<'a>,
    /// Paths that are part of it even if a rule ignores them.
    pub also_ignored: Option<Test<'a>>,
}

/// Brings the index of `git` up to the files below `top` and writes it as a tree object.
pub(crate) fn scan(git: &Plumbing, top: &Utf8Path, limits: &Limits<'_>) -> Result<Scan> {
    look_again(git, top)?;
    let out = |path: &RepoPath| (limits.without)(path) || (limits.protected)(path);
    let staged = staged(git, &out)?;
    let submodules = staged.submodules;
    let skip = |path: &RepoPath| {
        (limits.without)(path)
            || path.parents().any(|folder| submodules.contains(folder))
            || submodules.contains(path.0.as_slice())
    };
    let mut plan = Plan { remove: staged.out, ..Plan::default() };
    let mut walked = Walked::default();
    for path in git.list(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"])? {
        let path = RepoPath(path);
        if !skip(&path) && !(limits.protected)(&path) {
            plan.changed(top, path, &mut walked);
        }
    }
    let mut others = git.list(&["ls-files", "-z", "-o", "--exclude-standard"])?;
    if let Some(wanted) = limits.also_ignored {
        let ignored = git.list(&["ls-files", "-z", "-o", "-i", "--exclude-standard"])?;
        others.extend(ignored.into_iter().filter(|path| wanted(&RepoPath(path.clone()))));
    }
    for path in others {
        let path = RepoPath(path);
        if skip(&path) || observe::is_never_counted(&path.to_text()) {
            continue;
        }
        if (limits.protected)(&path) {
            plan.left_out.push(LeftOut { path, why: Why::Protected });
        } else {
            plan.untracked(top, path);
        }
    }
    let paths = |list: &[RepoPath]| list.iter().map(|path| path.0.clone()).collect::<Vec<_>>();
    let (remove, add) = (paths(&plan.remove), paths(&plan.add));
    git.on_paths(&["update-index", "-z", "--force-remove", "--stdin"], remove.iter().map(Vec::as_slice))?;
    let args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
    git.on_paths(&args, add.iter().map(Vec::as_slice))?;
    let tree = git.text(&["write-tree"])?;
    let submodules = submodules.into_iter().map(RepoPath).collect();
    Ok(Scan { tree, left_out: plan.left_out, unmerged: staged.unmerged, submodules })
}

/// Files that the index is told not to look at (`assume-unchanged`, `skip-worktree`) are looked at; those that a sparse
/// checkout keeps off the disk stay as the index has them.
fn look_again(git: &Plumbing, top: &Utf8Path) -> Result<()> {
    let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
    for line in git.list(&["ls-files", "-z", "-v"])? {
        let [tag, b' ', path @ ..] = line.as_slice() else { continue };
        if tag.is_ascii_lowercase() {
            assumed.push(path.to_owned());
        }
        let path = RepoPath(path.to_owned());
        if tag.eq_ignore_ascii_case(&b'S') && path.below(top).symlink_metadata().is_ok() {
            skipped.push(path.0);
        }
    }
    git.on_paths(&["update-index", "-z", "--no-assume-unchanged", "--stdin"], assumed.iter().map(Vec::as_slice))?;
    git.on_paths(&["update-index", "-z", "--no-skip-worktree", "--stdin"], skipped.iter().map(Vec::as_slice))?;
    Ok(())
}

#[derive(Debug, Default)]
struct Staged {
    unmerged: Vec<RepoPath>,
    submodules: BTreeSet<Vec<u8>>,
    /// Paths that are not to be part of the tree.
    out: Vec<RepoPath>,
}

/// Conflicts, submodules and unwanted paths of the index: `mode id stage\tpath`.
fn staged(git: &Plumbing, out: Test<'_>) -> Result<Staged> {
    let mut staged = Staged::default();
    for line in git.list(&["ls-files", "-z", "-s"])? {
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
        let (head, path) = (line.get(..tab).unwrap_or_default(), line.get(tab + 1..).unwrap_or_default());
        let path = RepoPath(path.to_owned());
        if out(&path) {
            staged.out.push(path);
            continue;
        }
        if head.starts_with(b"160000") {
            staged.submodules.insert(path.0.clone());
        }
        if !head.ends_with(b" 0") {
            staged.unmerged.push(path);
        }
    }
    staged.unmerged.dedup();
    Ok(staged)
}

/// What the index is told.
#[derive(Debug, Default)]
struct Plan {
    remove: Vec<RepoPath>,
    add: Vec<RepoPath>,
    left_out: Vec<LeftOut>,
}

/// Folders that were looked at, and whether each is a real one.
#[derive(Debug, Default)]
struct Walked {
    real: BTreeMap<Vec<u8>, bool>,
}

impl Walked {
    /// Whether a folder on the way to `path` is something else than a folder (a symbolic link, a file, nothing).
    fn is_behind_link(&mut self, top: &Utf8Path, path: &RepoPath) -> bool {
        path.parents().any(|folder| {
            let real = self.real.entry(folder.to_vec()).or_insert_with(|| {
                RepoPath(folder.to_vec()).below(top).symlink_metadata().is_ok_and(|meta| meta.is_dir())
            });
            !*real
        })
    }
}

impl Plan {
    /// A tracked path that differs from the index.
    fn changed(&mut self, top: &Utf8Path, path: RepoPath, walked: &mut Walked) {
        if walked.is_behind_link(top, &path) {
            self.remove.push(path);
            return;
        }
        let file = path.below(top);
        match file.symlink_metadata() {
            Ok(meta) if is_regular(&meta) && !is_readable(&file, &meta) => {
                self.left_out.push(LeftOut { path, why: Why::Unreadable });
            }
            Ok(meta) if is_regular(&meta) => self.add.push(path),
            Ok(meta) => {
                if !meta.is_dir() {
                    self.left_out.push(LeftOut { path: path.clone(), why: Why::Special });
                }
                self.remove.push(path);
            }
            Err(_) => self.remove.push(path),
        }
    }

    /// A path that the index does not have.
    fn untracked(&mut self, top: &Utf8Path, path: RepoPath) {
        if path.0.ends_with(b"/") {
            self.left_out.push(LeftOut { path, why: Why::NestedRepository });
            return;
        }
        let file = path.below(top);
        // Gone between the list and this look: as if it had never been there.
        let Ok(meta) = file.symlink_metadata() else { return };
        let why = match () {
            () if !is_regular(&meta) => Why::Special,
            () if meta.is_file() && meta.len() > LARGEST => Why::TooLarge,
            () if !is_readable(&file, &meta) => Why::Unreadable,
            () => {
                self.add.push(path);
                return;
            }
        };
        self.left_out.push(LeftOut { path, why });
    }
}

/// A file or a symbolic link: what git can hold.
fn is_regular(meta: &Metadata) -> bool {
    meta.is_file() || meta.is_symlink()
}

fn is_readable(file: &Path, meta: &Metadata) -> bool {
    meta.is_symlink() || File::open(file).is_ok()
}
