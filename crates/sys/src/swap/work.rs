//! The loop: each step onwards or backwards, by what the disk says of it.

use std::collections::BTreeSet;

use super::disk::{Disk, FOLDER, HELD, Place, SPARE, carried, taken_is_fine};
use super::journal::{Journal, State};
use super::plan;
use super::{Content, Done, Found, Kept, Step, SwapError};
use crate::fs::{self, PathError};

/// Longest file name in a kept file's own name, in characters.
const KEPT_NAME: usize = 80;

/// A write that is noted down.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) disk: Disk,
    pub(super) journal: Journal,
}

/// Why it cannot go on.
enum Trouble {
    /// The tree is not as it has to be at this path.
    Conflict(Vec<u8>),
    /// The file system refused something.
    Refused(PathError),
}

impl From<PathError> for Trouble {
    fn from(error: PathError) -> Self {
        Self::Refused(error)
    }
}

impl Work {
    /// Brings the write to its end from this state on.
    pub(super) fn settle(&mut self, mut state: State) -> Result<Done, SwapError> {
        let mut trouble = None;
        loop {
            let next = match state {
                State::Forward => match self.forward() {
                    Ok(()) => State::Done,
                    Err(reason) => {
                        trouble = Some(reason);
                        State::Back
                    }
                },
                State::Back => {
                    self.back().map_err(|cause| self.unfinished(cause))?;
                    State::Undone
                }
                State::Done => {
                    return self.tidy(state).map_err(|cause| self.unfinished(cause)).map(|kept| Done { kept });
                }
                State::Undone => {
                    let kept = self.tidy(state).map_err(|cause| self.unfinished(cause))?;
                    return Err(self.undone(trouble, kept).unwrap_or_else(|cause| self.unfinished(cause)));
                }
            };
            self.disk.mark(state, next).map_err(|cause| self.unfinished(cause))?;
            state = next;
        }
    }

    fn unfinished(&self, cause: PathError) -> SwapError {
        SwapError::Unfinished { cause, dir: self.disk.dir.clone() }
    }

    fn undone(&self, trouble: Option<Trouble>, kept: Vec<Kept>) -> Result<SwapError, PathError> {
        let mut paths = BTreeSet::new();
        match trouble {
            Some(Trouble::Refused(cause)) => return Ok(SwapError::Failed { cause, kept }),
            Some(Trouble::Conflict(path)) => drop(paths.insert(path)),
            None => {}
        }
        for step in &self.journal.steps {
            if !plan::may_be_before(self.disk.look(Place::Tree(&step.path))?, step) {
                paths.insert(step.path.clone());
            }
        }
        Ok(SwapError::Conflict { paths: paths.into_iter().collect(), kept })
    }

    fn forward(&mut self) -> Result<(), Trouble> {
        let Self { disk, journal } = self;
        let deletions = journal.steps.partition_point(|step| step.new == Content::Absent);
        for (index, step) in journal.steps.iter().enumerate().take(deletions) {
            forward(disk, index, step)?;
        }
        for folder in &journal.emptied {
            taken_is_fine(disk.remove_folder(Place::Tree(&folder.path)))?;
        }
        for path in &journal.missing {
            let made = taken_is_fine(disk.require_folder(Place::Tree(path)))?;
            if !made && disk.look(Place::Tree(path))? != Found::Folder {
                return Err(Trouble::Conflict(path.clone()));
            }
        }
        for (index, step) in journal.steps.iter().enumerate().skip(deletions) {
            forward(disk, index, step)?;
        }
        Ok(self.flush()?)
    }

    fn back(&mut self) -> Result<(), PathError> {
        let Self { disk, journal } = self;
        let deletions = journal.steps.partition_point(|step| step.new == Content::Absent);
        for (index, step) in journal.steps.iter().enumerate().skip(deletions).rev() {
            back(disk, index, step)?;
        }
        for path in journal.missing.iter().rev() {
            taken_is_fine(disk.remove_folder(Place::Tree(path)))?;
        }
        for folder in journal.emptied.iter().rev() {
            if journal.steps[deletions..].iter().any(|step| step.path == folder.path) {
                bring_back(disk, &folder.path, folder.mode)?;
            }
        }
        for (index, step) in journal.steps.iter().enumerate().take(deletions).rev() {
            if disk.look(Place::Held(index))?.is(Content::Absent) {
                continue;
            }
            for folder in journal.emptied.iter().rev().filter(|folder| is_below(&step.path, &folder.path)) {
                bring_back(disk, &folder.path, folder.mode)?;
            }
            back(disk, index, step)?;
        }
        self.flush()
    }

    /// Waits until the tree is on the disk as it is now.
    fn flush(&mut self) -> Result<(), PathError> {
        for folder in plan::touched(&self.journal) {
            taken_is_fine(self.disk.flush(Place::Tree(folder)))?;
        }
        for own in [HELD, SPARE] {
            taken_is_fine(self.disk.flush(Place::Own(own)))?;
        }
        Ok(())
    }

    /// Drops what came out of the tree (after a roll-back: what was to go in) if it is still what it was, for a program
    /// that had it open may have written to it since; keeps it otherwise. Gives all that is kept.
    fn tidy(&mut self, state: State) -> Result<Vec<Kept>, PathError> {
        let Self { disk, journal } = self;
        for (index, step) in journal.steps.iter().enumerate() {
            for (place, mark) in [(Place::Held(index), ""), (Place::Spare(index), "second-")] {
                let found = disk.look(place)?;
                let droppable = match state {
                    State::Done => found.is(step.old),
                    _ => found.is(step.new) || found == disk.look(Place::Tree(&step.path))?,
                };
                if found.is(Content::Absent) || found == Found::Behind {
                    continue;
                }
                if droppable && matches!(found, Found::Is(_)) {
                    disk.remove_file(place)?;
                } else {
                    disk.require_folder(Place::Own(&journal.kept))?;
                    let name = format!("{}/{index}-{mark}{}", journal.kept, kept_name(&step.path));
                    disk.rename(place, Place::Own(&name))?;
                    disk.flush(Place::Own(&journal.kept))?;
                }
            }
        }
        self.kept()
    }

    fn kept(&self) -> Result<Vec<Kept>, PathError> {
        let folder = self.disk.dir.join(&self.journal.kept);
        if !fs::is_dir(&folder) {
            return Ok(Vec::new());
        }
        let of = |entry: fs::Entry| {
            let index: usize = entry.name.split('-').next()?.parse().ok()?;
            Some(Kept { path: self.journal.steps.get(index)?.path.clone(), at: entry.path })
        };
        let mut kept: Vec<Kept> = fs::list(&folder)?.into_iter().filter_map(of).collect();
        kept.sort();
        Ok(kept)
    }
}

/// Whether the file is somewhere below the folder.
fn is_below(file: &[u8], folder: &[u8]) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// A name for people, with nothing in it that a shell or terminal takes for its own.
fn kept_name(path: &[u8]) -> String {
    let name = String::from_utf8_lossy(plan::split(path).1);
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    // The end is what tells the kind of the file.
    name.chars().map(plain).skip(name.chars().count().saturating_sub(KEPT_NAME)).collect()
}

fn forward(disk: &mut Disk, index: usize, step: &Step) -> Result<(), Trouble> {
    let (tree, held) = (Place::Tree(&step.path), Place::Held(index));
    let conflict = || Err(Trouble::Conflict(step.path.clone()));
    disk.mend(index, &step.path)?;
    let counterpart = disk.look(held)?;
    if counterpart.is(step.old) {
        return Ok(());
    }
    if !counterpart.is(step.new) || !disk.look(tree)?.is(step.old) {
        return conflict();
    }
    if !taken_is_fine(change(disk, index, &step.path, step.old != Content::Absent, step.new != Content::Absent))? {
        return conflict();
    }
    if !disk.look(held)?.is(step.old) {
        // Back at once, so that the user misses the edit for as short as can be.
        back(disk, index, step)?;
        return conflict();
    }
    if let (Content::File { .. }, Content::File { .. }) = (step.old, step.new)
        && let (Some(old), Some(new)) = (disk.mode(held)?, disk.mode(tree)?)
        && carried(old, step.new) != new
    {
        taken_is_fine(disk.set_mode(tree, carried(old, step.new)))?;
    }
    Ok(())
}

/// Takes the step back, unless the path is by now the user's: what is held is then kept.
fn back(disk: &mut Disk, index: usize, step: &Step) -> Result<(), PathError> {
    let (tree, held) = (Place::Tree(&step.path), Place::Held(index));
    disk.mend(index, &step.path)?;
    if disk.look(held)?.is(step.new) || !disk.look(tree)?.is(step.new) {
        return Ok(());
    }
    let (in_tree, outside) = (step.new != Content::Absent, is_there(disk, held)?);
    if taken_is_fine(change(disk, index, &step.path, in_tree, outside))? && !disk.look(held)?.is(step.new) {
        // Edited since the look: the user's goes in again.
        let out = is_there(disk, held)?;
        taken_is_fine(change(disk, index, &step.path, outside, out))?;
    }
    Ok(())
}

fn is_there(disk: &Disk, place: Place<'_>) -> Result<bool, PathError> {
    Ok(!disk.look(place)?.is(Content::Absent))
}

/// Changes over what is in the tree and what is held, each of which may be there or not.
fn change(disk: &mut Disk, index: usize, path: &[u8], in_tree: bool, outside: bool) -> Result<(), PathError> {
    let (tree, held) = (Place::Tree(path), Place::Held(index));
    match (in_tree, outside) {
        (false, false) => Ok(()),
        (false, true) => disk.rename_new(held, tree),
        (true, false) => disk.rename(tree, held),
        (true, true) => disk.exchange(index, path),
    }
}

/// Makes a folder that went with its files as it was, whole from the first instant on.
fn bring_back(disk: &mut Disk, path: &[u8], mode: u32) -> Result<(), PathError> {
    const FRESH: Place<'_> = Place::Own(FOLDER);
    if !disk.look(Place::Tree(path))?.is(Content::Absent) {
        return Ok(());
    }
    disk.require_folder(FRESH)?;
    disk.set_mode(FRESH, mode)?;
    taken_is_fine(disk.rename_new(FRESH, Place::Tree(path))).map(drop)
}
