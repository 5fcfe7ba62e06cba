//! Which steps can be, in which order, and what they need.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::disk::{Disk, HELD, KEPT, Place, carried};
use super::journal::{Emptied, Journal};
use super::{Content, Found, Step, SwapError};
use crate::fs::{self, PathError};

/// Fails unless the path is one of a file below a folder.
pub(super) fn check_path(path: &[u8]) -> Result<(), SwapError> {
    let part = |part: &[u8]| matches!(part, b"" | b"." | b"..");
    let reason = if path.contains(&0) {
        "it contains a NUL character"
    } else if path.split(|byte| *byte == b'/').any(part) {
        "it is not a plain relative path"
    } else if !super::system::can_hold(path) {
        "this system cannot hold such a name"
    } else {
        return Ok(());
    };
    Err(SwapError::Invalid { path: path.to_vec(), reason })
}

/// The folder (empty: the top) and the name in it.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&[], path),
    }
}

/// The folders on the way to the path, the outermost first, the top left out.
fn ancestors(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &path[..slash])
}

fn depth(path: &[u8]) -> usize {
    ancestors(path).count()
}

/// The steps that change something, in their order: deletions first, the deepest first; then by depth.
pub(super) fn checked(mut steps: Vec<Step>) -> Result<Vec<Step>, SwapError> {
    for step in &mut steps {
        check_path(&step.path)?;
        step.old = super::system::as_kept_here(step.old);
        step.new = super::system::as_kept_here(step.new);
    }
    steps.retain(|step| step.old != step.new);
    check_tree(&steps, |step| step.old)?;
    check_tree(&steps, |step| step.new)?;
    let rank = |step: &Step| match step.new {
        Content::Absent => (false, usize::MAX - depth(&step.path)),
        _ => (true, depth(&step.path)),
    };
    steps.sort_by(|a, b| (rank(a), &a.path).cmp(&(rank(b), &b.path)));
    Ok(steps)
}

/// No path twice, and no file below a file.
fn check_tree(steps: &[Step], side: impl Fn(&Step) -> Content) -> Result<(), SwapError> {
    let mut files = BTreeMap::new();
    let invalid = |step: &Step, reason| Err(SwapError::Invalid { path: step.path.clone(), reason });
    for step in steps {
        if files.insert(&*step.path, side(step) != Content::Absent).is_some() {
            return invalid(step, "it is named twice");
        }
    }
    for step in steps.iter().filter(|step| side(step) != Content::Absent) {
        if ancestors(&step.path).any(|folder| files.get(folder) == Some(&true)) {
            return invalid(step, "it lies below a file");
        }
    }
    Ok(())
}

/// Whether the tree may be like this before the step: a folder whose files go first stands where a file will be, or a
/// file that goes first where a folder will be.
pub(super) fn may_be_before(found: Found, step: &Step) -> bool {
    match found {
        Found::Folder | Found::Behind => step.old == Content::Absent,
        Found::Is(content) => content == step.old,
        Found::Special => false,
    }
}

/// Compares the tree with `old`, takes the staged files over, and gives what is to be noted down.
pub(super) fn prepare(disk: &mut Disk, steps: Vec<Step>) -> Result<Journal, SwapError> {
    let mut paths = Vec::new();
    for step in &steps {
        if !may_be_before(disk.look(Place::Tree(&step.path))?, step) {
            paths.push(step.path.clone());
        }
    }
    if !paths.is_empty() {
        return Err(SwapError::Conflict { paths, kept: Vec::new() });
    }
    let folders: BTreeSet<&[u8]> = steps.iter().map(|step| split(&step.path).0).collect();
    disk.require_beside(b"")?;
    for folder in folders {
        disk.require_beside(folder)?;
    }
    disk.require_folder(Place::Own(HELD))?;
    for (index, step) in steps.iter().enumerate().filter(|(_, step)| step.new != Content::Absent) {
        take_staged(disk, index, step)?;
    }
    disk.flush(Place::Own(HELD))?;
    disk.flush(Place::Own(""))?;
    if let Some(parent) = disk.dir.parent().filter(|parent| !parent.as_str().is_empty()) {
        fs::sync_folder(parent).map_err(|source| PathError::new("flush", parent, source))?;
    }
    let (emptied, missing) = (emptied(disk, &steps)?, missing(disk, &steps)?);
    let kept = free_kept(&disk.dir)?;
    Ok(Journal { steps, emptied, missing, kept })
}

/// A name that no earlier write into this folder kept files under.
fn free_kept(dir: &Utf8Path) -> Result<String, PathError> {
    let number = |entry: fs::Entry| entry.name.strip_prefix(KEPT)?.parse::<u32>().ok();
    let last = fs::list(dir)?.into_iter().filter_map(number).max().unwrap_or_default();
    Ok(format!("{KEPT}{}", last.saturating_add(1)))
}

fn take_staged(disk: &mut Disk, index: usize, step: &Step) -> Result<(), SwapError> {
    let (staged, held) = (Place::Staged(&step.path), Place::Held(index));
    if !is_staged(disk.look(staged)?, step) {
        return Err(SwapError::Staged { path: step.path.clone() });
    }
    disk.rename(staged, held)?;
    if matches!(step.new, Content::File { .. }) {
        if let (Content::File { .. }, Some(mode)) = (step.old, disk.mode(Place::Tree(&step.path))?) {
            disk.set_mode(held, carried(mode, step.new))?;
        }
        disk.flush(held)?;
    }
    Ok(())
}

/// Whether what is staged is the step's new content. What replaces a file gets its permission bits only then.
fn is_staged(found: Found, step: &Step) -> bool {
    match (found, step.new, step.old) {
        (Found::Is(Content::File { sha256: found, .. }), Content::File { sha256, .. }, Content::File { .. }) => {
            found == sha256
        }
        _ => found.is(step.new),
    }
}

fn emptied(disk: &Disk, steps: &[Step]) -> Result<Vec<Emptied>, PathError> {
    let (gone, there): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.new == Content::Absent);
    let used: BTreeSet<&[u8]> = there.iter().flat_map(|step| ancestors(&step.path)).collect();
    let left: BTreeSet<&[u8]> = gone.iter().flat_map(|step| ancestors(&step.path)).collect();
    let mut folders = Vec::new();
    // An empty folder of the user's makes room for a file as well.
    let new = there.iter().filter(|step| step.old == Content::Absent).map(|step| &*step.path);
    let taken: BTreeSet<&[u8]> = left.difference(&used).copied().chain(new).collect();
    for path in taken {
        if disk.look(Place::Tree(path))? != Found::Folder {
            continue;
        }
        if let Some(mode) = disk.mode(Place::Tree(path))? {
            folders.push(Emptied { path: path.to_vec(), mode });
        }
    }
    folders.sort_by_key(|folder| std::cmp::Reverse(depth(&folder.path)));
    Ok(folders)
}

fn missing(disk: &Disk, steps: &[Step]) -> Result<Vec<Vec<u8>>, PathError> {
    let new: BTreeSet<&[u8]> =
        steps.iter().filter(|step| step.old == Content::Absent).flat_map(|step| ancestors(&step.path)).collect();
    let mut folders = Vec::new();
    for path in new {
        if disk.look(Place::Tree(path))? != Found::Folder {
            folders.push(path.to_vec());
        }
    }
    folders.sort_by_key(|path| depth(path));
    Ok(folders)
}

/// Every folder of the tree that the write may change, the top as the empty path.
pub(super) fn touched(journal: &Journal) -> BTreeSet<&[u8]> {
    let steps = journal.steps.iter().map(|step| &*step.path);
    let emptied = journal.emptied.iter().map(|folder| &*folder.path);
    steps.chain(emptied).chain(journal.missing.iter().map(|path| &**path)).map(|path| split(path).0).collect()
}
