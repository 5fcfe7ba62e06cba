//! Puts a set of changes into the user's working tree, all or none, whatever interrupts it (spec 70, *Isolation*,
//! *Recovery*). No git in here: paths and contents only.
//!
//! Each change is an exchange of two places: the path in the tree, and a place of its own below the folder of the
//! write. Before, the tree holds `old` and the place `new`; after it is the other way round ("nothing" is a content as
//! well). What came out is hashed after the exchange, so an edit of the user's between check and exchange is seen and put
//! back. Which of the two states a change is in is read from the disk, never from a record, so that after a crash the
//! same loop just runs again, onwards or backwards:
//!
//! ```text
//! new/…  --prepare-->  journal  --all exchanged-->  journal.done
//!                         |                              (a rename each, so a full disk cannot stop it)
//!                         +--a path differs-->  journal.back  --all undone-->  journal.undone
//! ```
//!
//! The last two states stay until [`forget`], so that a caller killed before it noted the result is told it again.
//!
//! # What can still go wrong
//! - Where the file system cannot exchange two names in one step (NFS, some FUSE and 9p mounts), a replaced path is
//!   absent for an instant; a crash there is mended by [`Swap::recover`]. Without hard links as well (exFAT over FUSE), a
//!   file that appears at a path between the last check and the rename is replaced.
//! - A folder that is moved elsewhere between its opening and the rename in it takes the change along.
//! - A program that holds a replaced file open and writes after the last check writes into nothing.
//! - An empty folder that someone makes during the write where the write makes one as well may go in a roll-back.
//! - On Windows leading folders are checked, then used by name, and modes are not kept: best effort.

mod disk;
mod journal;
mod plan;
mod work;

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "other.rs"]
mod system;

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::fs::{self, PathError};
use disk::{Disk, Nobody, Watch};
use journal::{Journal, State};
use work::Work;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Content {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Whether its owner may execute it; always `false` on Windows.
        executable: bool,
        /// SHA-256 of its bytes, as they are on the disk.
        sha256: [u8; 32],
    },
    /// A symbolic link.
    Link {
        /// SHA-256 of its target's bytes.
        sha256: [u8; 32],
    },
}

/// What a look at a path finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Found {
    /// Something that a [`Step`] can name.
    Is(Content),
    /// A folder.
    Folder,
    /// A device, FIFO or socket.
    Special,
    /// The way there leads through a file or a symbolic link.
    Behind,
}

impl Found {
    /// Whether it is exactly this content.
    #[must_use]
    pub fn is(self, content: Content) -> bool {
        self == Self::Is(content)
    }
}

/// What is at `path` below `root`, no symbolic link followed on the way or at the end.
///
/// # Errors
/// It is there and cannot be read, or the path is not one of a file below a folder.
pub fn look(root: &Utf8Path, path: &[u8]) -> Result<Found, SwapError> {
    plan::check_path(path)?;
    let place = |source| PathError::new("look at", root.join(&*String::from_utf8_lossy(path)), source);
    let opened = system::Root::open(root).map_err(|source| PathError::new("open the folder", root, source))?;
    Ok(opened.look(path).map_err(place)?)
}

/// One change: `old` is what must be there now, `new` what is to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Relative to the top of the tree, `/` between the parts, any bytes but NUL.
    pub path: Vec<u8>,
    /// What is there.
    pub old: Content,
    /// What is to be there; unless absent it is staged at `new/<path>` below the folder of the write.
    pub new: Content,
}

/// A file that was neither put back nor may be dropped: someone changed it while it was being replaced, or changed the
/// path again afterwards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// The path in the tree that it belongs to.
    pub path: Vec<u8>,
    /// Where it lies.
    pub at: Utf8PathBuf,
}

/// All changes are in the tree and on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// Replaced files that a program went on writing to.
    pub kept: Vec<Kept>,
}

/// What [`Swap::recover`] found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    /// Nothing had been written to the tree.
    Nothing,
    /// All changes are in the tree.
    Finished(Done),
    /// None of the changes is in the tree.
    RolledBack {
        /// The paths that are not as they were before: the user changed them.
        paths: Vec<Vec<u8>>,
        /// Files that could not be put back, for their path is taken.
        kept: Vec<Kept>,
    },
}

/// Why the changes are not in the tree.
#[derive(Debug, thiserror::Error)]
pub enum SwapError {
    /// The tree is not as the changes expect it. Everything is as it was before.
    #[error("these paths changed in the meantime and were left as they are: {}", Names(paths))]
    Conflict {
        /// The paths, at least one.
        paths: Vec<Vec<u8>>,
        /// Files that could not be put back, for their path is taken.
        kept: Vec<Kept>,
    },
    /// The file system refused something. Everything is as it was before.
    #[error("{cause}; nothing was changed")]
    Failed {
        /// What was refused.
        cause: PathError,
        /// Files that could not be put back, for their path is taken.
        kept: Vec<Kept>,
    },
    /// The write stopped in the middle and could not be rolled back: [`Swap::recover`] has to run once the reason is gone.
    #[error("{cause}; the changes below {dir} are half written: mend this, then resume the session")]
    Unfinished {
        /// What was refused.
        cause: PathError,
        /// The folder of the write.
        dir: Utf8PathBuf,
    },
    /// A step that cannot be: a defect of the caller. Nothing was written.
    #[error("the path {} cannot be changed: {reason}", Names(std::slice::from_ref(path)))]
    Invalid {
        /// The path.
        path: Vec<u8>,
        /// Why not.
        reason: &'static str,
    },
    /// What lies at `new/<path>` is not what the step says. Nothing was written.
    #[error("the staged file for {} is not what was to be written", Names(std::slice::from_ref(path)))]
    Staged {
        /// The path.
        path: Vec<u8>,
    },
    /// The folder of the write holds another write that has to be recovered or forgotten first.
    #[error("{dir} holds an earlier write: resume its session first")]
    Busy {
        /// The folder.
        dir: Utf8PathBuf,
    },
    /// The journal cannot be understood. Nothing was touched.
    #[error("the journal {path} cannot be read: {reason}; it is left as it is")]
    Journal {
        /// The journal.
        path: Utf8PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file system refused something before anything was written.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// Paths for people: the first few, each escaped.
struct Names<'a>(&'a [Vec<u8>]);

/// Number of paths that a message names.
const NAMED: usize = 10;

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, path) in self.0.iter().take(NAMED).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}", planex_core::text::one_line(&String::from_utf8_lossy(path)))?;
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// A set of changes, checked and noted down, that [`Swap::run`] puts into the tree.
#[derive(Debug)]
#[must_use = "nothing is written before `run`"]
pub struct Swap {
    work: Work,
}

impl Swap {
    /// Checks the steps, takes the staged files from `new/` below `dir` and notes everything down. Steps that change
    /// nothing are left out. Staged files get the permission bits of the file that they replace.
    ///
    /// `dir` must be on the file system of `top`, exist and hold nothing but `new/` and what earlier writes kept; it belongs to this write until
    /// [`forget`].
    ///
    /// # Errors
    /// [`SwapError::Conflict`] names every path that is not `old` already now; the others name what is wrong. The tree
    /// is untouched; the folder is spent unless it was [`SwapError::Busy`]: [`forget`] it and stage anew.
    pub fn prepare(top: &Utf8Path, dir: &Utf8Path, steps: Vec<Step>) -> Result<Self, SwapError> {
        Self::prepare_watched(top, dir, steps, Box::new(Nobody))
    }

    fn prepare_watched(
        top: &Utf8Path,
        dir: &Utf8Path,
        steps: Vec<Step>,
        watch: Box<dyn Watch>,
    ) -> Result<Self, SwapError> {
        if Journal::load(dir)?.is_some() {
            return Err(SwapError::Busy { dir: dir.to_owned() });
        }
        let mut disk = Disk::open(top, dir, watch)?;
        let journal = plan::prepare(&mut disk, plan::checked(steps)?)?;
        disk.write_journal(&journal)?;
        Ok(Self { work: Work { disk, journal } })
    }

    /// Puts the changes into the tree, or none of them. Afterwards note the result, then call [`forget`].
    ///
    /// # Errors
    /// [`SwapError::Conflict`] and [`SwapError::Failed`] after the complete roll-back; [`SwapError::Unfinished`] where
    /// even that was refused.
    pub fn run(mut self) -> Result<Done, SwapError> {
        self.work.settle(State::Forward)
    }

    /// Finishes or rolls back the write below `dir` that something interrupted. Says the same again until [`forget`].
    ///
    /// # Errors
    /// As [`Swap::run`]; [`SwapError::Journal`] if the journal was damaged.
    pub fn recover(top: &Utf8Path, dir: &Utf8Path) -> Result<Recovered, SwapError> {
        Self::recover_watched(top, dir, Box::new(Nobody))
    }

    fn recover_watched(top: &Utf8Path, dir: &Utf8Path, watch: Box<dyn Watch>) -> Result<Recovered, SwapError> {
        let Some((journal, state)) = Journal::load(dir)? else { return Ok(Recovered::Nothing) };
        let disk = Disk::open(top, dir, watch)?;
        match (Work { disk, journal }).settle(state) {
            Ok(done) => Ok(Recovered::Finished(done)),
            Err(SwapError::Conflict { paths, kept }) => Ok(Recovered::RolledBack { paths, kept }),
            Err(error) => Err(error),
        }
    }
}

/// Removes the folder of a write that is over, once its result is noted elsewhere; the files kept in it stay, and then
/// the folder does. For a write of which [`Swap::recover`] says that nothing was written as well.
///
/// # Errors
/// [`SwapError::Busy`] if the write is not over; [`SwapError::Path`] if something cannot be removed.
pub fn forget(dir: &Utf8Path) -> Result<(), SwapError> {
    if let Some((_, State::Forward | State::Back)) = Journal::load(dir)? {
        return Err(SwapError::Busy { dir: dir.to_owned() });
    }
    if !fs::is_dir(dir) {
        return Ok(());
    }
    // The journal goes last: as long as there is anything else of it, the write is known to be over.
    for name in [disk::STAGED, disk::HELD, disk::SPARE, disk::FOLDER] {
        fs::remove_dir_all(&dir.join(name))?;
    }
    fs::remove_temporaries(dir)?;
    for state in State::ALL {
        fs::remove_file(&dir.join(state.file()))?;
    }
    if fs::list(dir)?.is_empty() {
        fs::remove_dir_all(dir)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
