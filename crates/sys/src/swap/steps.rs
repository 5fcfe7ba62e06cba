//! One step forward, one step back: each can be done again after a kill, wherever that was.

use std::io;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};

use super::place::{Place, Renamed, below, parents};
use super::{Content, Step};
use crate::fs::{self, PathError};

/// Deletions first, deepest first, so that files can take the place of folders; then the rest, folders before what is in
/// them.
pub(super) fn in_order(mut steps: Vec<Step>) -> Vec<Step> {
    let depth = |step: &Step| step.path.iter().filter(|byte| **byte == b'/').count();
    steps.sort_by(|a, b| {
        let (gone_a, gone_b) = (a.new == Content::Absent, b.new == Content::Absent);
        let by_depth = if gone_a { depth(b).cmp(&depth(a)) } else { depth(a).cmp(&depth(b)) };
        gone_b.cmp(&gone_a).then(by_depth).then_with(|| a.path.cmp(&b.path))
    });
    steps
}

fn staged(dir: &Utf8Path, step: &Step) -> PathBuf {
    below(&dir.join("new"), &step.path)
}

fn old(dir: &Utf8Path, number: usize) -> PathBuf {
    dir.join("old").join(number.to_string()).into_std_path_buf()
}

fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Does a step, or what is left of it. `false`: the path is not as expected, and is as it was.
pub(super) fn forward(top: &Utf8Path, dir: &Utf8Path, number: usize, step: &Step) -> io::Result<bool> {
    match (&step.old, &step.new) {
        (Content::Absent, Content::Absent) => Ok(true),
        (_, Content::Absent) => delete(top, &old(dir, number), step),
        (Content::Absent, _) => create(top, dir, step),
        _ => replace(top, dir, &old(dir, number), step),
    }
}

fn delete(top: &Utf8Path, old: &Path, step: &Step) -> io::Result<bool> {
    let Some(place) = Place::find(top, &step.path, None)? else { return Ok(is_there(old)) };
    if !is_there(old) && place.take(old)? == Renamed::NotAsExpected {
        return Ok(false);
    }
    if Content::of(old)? != step.old {
        // Edited after the look: back it goes. If something is there again, that is newer still.
        if place.put(old)? == Renamed::NotAsExpected {
            tracing::warn!("{} was replaced while it was deleted", String::from_utf8_lossy(&step.path));
        }
        return Ok(false);
    }
    remove_empty_parents(top, &step.path)?;
    Ok(true)
}

fn create(top: &Utf8Path, dir: &Utf8Path, step: &Step) -> io::Result<bool> {
    let new = staged(dir, step);
    if !is_there(&new) {
        return Ok(true);
    }
    let note = |folder: &[u8]| note_folder(dir, folder);
    let Some(place) = Place::find(top, &step.path, Some(&note))? else { return Ok(false) };
    // An empty folder is nothing that git knows of.
    if below(top, &step.path).symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        place.remove_folder();
    }
    Ok(place.put(&new)? == Renamed::Yes)
}

fn replace(top: &Utf8Path, dir: &Utf8Path, old: &Path, step: &Step) -> io::Result<bool> {
    let new = staged(dir, step);
    if !is_there(&new) {
        return Ok(true);
    }
    let Some(place) = Place::find(top, &step.path, None)? else { return Ok(false) };
    // Holds the old content: exchanged before a kill.
    if Content::of(&new)? == step.new {
        if place.exchange(&new)? == Renamed::NotAsExpected {
            return Ok(false);
        }
        if Content::of(&new)? != step.old {
            place.exchange(&new)?;
            return Ok(false);
        }
    }
    std::fs::rename(&new, old)?;
    Ok(true)
}

/// Takes a step back, as far as the path is as the step left it: a later edit of the user's stays.
pub(super) fn back(top: &Utf8Path, dir: &Utf8Path, number: usize, step: &Step) -> io::Result<()> {
    let (old, new) = (old(dir, number), staged(dir, step));
    let target = below(top, &step.path);
    match (&step.old, &step.new) {
        (Content::Absent, Content::Absent) => {}
        (_, Content::Absent) => {
            if is_there(&old) && Content::of(&target)? == Content::Absent {
                let made = |_: &[u8]| Ok(());
                if let Some(place) = Place::find(top, &step.path, Some(&made))? {
                    place.put(&old)?;
                }
            }
        }
        (Content::Absent, _) => {
            if !is_there(&new)
                && Content::of(&target)? == step.new
                && let Some(place) = Place::find(top, &step.path, None)?
            {
                place.take(&new)?;
            }
        }
        _ => {
            // After the exchange the old content is at `old`, or still at `new` if the kill was right behind it.
            let holder = if is_there(&old) { &old } else { &new };
            if is_there(holder)
                && Content::of(holder)? == step.old
                && Content::of(&target)? == step.new
                && let Some(place) = Place::find(top, &step.path, None)?
            {
                place.exchange(holder)?;
                if Content::of(holder)? != step.new {
                    // Edited in this very moment: the edit goes back where it was made.
                    place.exchange(holder)?;
                }
            }
        }
    }
    Ok(())
}

/// Folders that a write makes are noted before, so that taking it back removes them again.
fn note_folder(dir: &Utf8Path, folder: &[u8]) -> io::Result<()> {
    let line = serde_json::to_string(folder).map_err(io::Error::other)?;
    fs::append_line(&dir.join("folders"), &line).map_err(|error| error.source)
}

/// Removes the folders that a write made, where nothing is in them.
pub(super) fn remove_made_folders(top: &Utf8Path, dir: &Utf8Path) -> Result<(), PathError> {
    let text = fs::read_if_exists(&dir.join("folders"))?.unwrap_or_default();
    let made = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Vec<u8>>(line).ok());
    let mut made: Vec<Vec<u8>> = made.collect();
    made.sort();
    for folder in made.iter().rev() {
        let place = Place::find(top, folder, None).map_err(|source| PathError::new("look at", top, source))?;
        if let Some(place) = place {
            place.remove_folder();
        }
    }
    Ok(())
}

/// Folders that nothing is left in after a deletion go, as git does it.
fn remove_empty_parents(top: &Utf8Path, path: &[u8]) -> io::Result<()> {
    for folder in parents(path).rev() {
        if std::fs::read_dir(below(top, folder)).is_ok_and(|mut entries| entries.next().is_some()) {
            break;
        }
        if let Some(place) = Place::find(top, folder, None)? {
            place.remove_folder();
        }
    }
    Ok(())
}

/// Old versions that changed after they were moved away: a program still has them open and writes. They are kept.
pub(super) fn keep_late_writes(dir: &Utf8Path, steps: &[Step]) -> Result<Vec<Utf8PathBuf>, PathError> {
    let mut kept = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let file = old(dir, number);
        let fail = |source| PathError::new("keep", dir, source);
        if !is_there(&file) || Content::of(&file).map_err(fail)? == step.old {
            continue;
        }
        let folder = dir.with_file_name(format!("{}-kept", dir.file_name().unwrap_or("swap")));
        fs::create_dir_all(&folder)?;
        let name = String::from_utf8_lossy(&step.path).replace('/', "__");
        let target = folder.join(format!("{number}-{name}"));
        std::fs::rename(&file, &target).map_err(fail)?;
        kept.push(target);
    }
    Ok(kept)
}

/// Flushes files and their folders: what is said to be written is on the disk.
pub(super) fn flush(root: &Utf8Path, steps: &[Step]) -> Result<(), PathError> {
    for step in steps {
        let file = below(root, &step.path);
        let fail = |source| PathError::new("flush", super::place::shown(root, &step.path), source);
        if std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
            std::fs::File::open(&file).and_then(|file| file.sync_all()).map_err(fail)?;
        }
        if let Some(place) = Place::find(root, &step.path, None).map_err(fail)? {
            place.flush().map_err(fail)?;
        }
    }
    Ok(())
}
