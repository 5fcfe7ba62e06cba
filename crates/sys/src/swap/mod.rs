//! Writing a set of paths into a tree that others use, so that nothing of theirs is overwritten and a kill at any
//! instant is finished or taken back (spec 70, *Isolation*).
//!
//! Everything of one write lies in a folder of its own, on the same file system as the tree:
//!
//! ```text
//! new/<path>      what is to be there, staged by the caller
//! old/<number>    what was there, moved away and never unlinked before the end
//! journal.json    the steps, flushed before the first one
//! abort, done     how far it is, each flushed
//! ```
//!
//! A path changes by one rename that exchanges, or that refuses to replace. What comes out is compared with what was
//! expected: an edit between the look and the rename is seen, put back, and the whole write is taken back. Folders are
//! opened one by one without following symbolic links, so that a link planted on the way leads nowhere.
//!
//! Where the file system has no exchanging rename, a path is absent for an instant, and an edit in that instant may be
//! lost; on Linux and macOS all usual ones have it. On Windows that is always so.

mod content;
mod place;
mod steps;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

pub use content::{Content, take_permissions};

use crate::fs::{self, PathError};

/// One path of a write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Relative to the tree's top, with `/`; any bytes.
    pub path: Vec<u8>,
    /// What is there now.
    pub old: Content,
    /// What is to be there; staged at `new/<path>` unless it is [`Content::Absent`].
    pub new: Content,
}

/// Why a write did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SwapError {
    /// These paths were not as expected; everything is as it was before.
    #[error("{} path(s) changed meanwhile", paths.len())]
    Conflict {
        /// Relative to the top.
        paths: Vec<Vec<u8>>,
    },
    /// The file system failed; everything is as it was before, as far as it lets.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The journal cannot be understood.
    #[error("{path} is no journal of this planex: {reason}")]
    Journal {
        /// Which.
        path: Utf8PathBuf,
        /// Why not.
        reason: String,
    },
}

/// A write that came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// Old versions that another program went on writing into after they were replaced: kept here.
    pub kept: Vec<Utf8PathBuf>,
}

/// What became of a write that was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    /// There was none, or it had written nothing.
    Nothing,
    /// It is finished.
    Finished {
        /// As in [`Done`].
        kept: Vec<Utf8PathBuf>,
    },
    /// It is taken back, for these paths changed meanwhile.
    RolledBack {
        /// Relative to the top.
        paths: Vec<Vec<u8>>,
    },
}

/// A write that is ready to begin.
#[derive(Debug)]
pub struct Swap {
    top: Utf8PathBuf,
    dir: Utf8PathBuf,
    steps: Vec<Step>,
}

/// How a write ends, before its marks are written.
enum End {
    Forward(Done),
    Back(Vec<Vec<u8>>),
}

impl Swap {
    /// Writes the journal of a write into the tree at `top`. The staged files lie below `dir/new`.
    ///
    /// From here on [`Swap::recover`] finishes or takes back what is interrupted.
    ///
    /// # Errors
    /// A staged file is missing or another than its step says, or the disk fails. Nothing in the tree is touched.
    pub fn prepare(top: &Utf8Path, dir: &Utf8Path, steps: Vec<Step>) -> Result<Self, SwapError> {
        let steps = steps::in_order(steps);
        let staged = dir.join("new");
        fs::create_dir_all(&staged)?;
        fs::create_dir_all(&dir.join("old"))?;
        for step in steps.iter().filter(|step| step.new != Content::Absent) {
            let file = place::below(&staged, &step.path);
            let found = Content::of(&file).map_err(at("read", &staged))?;
            if found != step.new {
                let what = format!("{} is not staged as announced", String::from_utf8_lossy(&step.path));
                return Err(PathError::new("stage", staged, io::Error::other(what)).into());
            }
        }
        steps::flush(&staged, &steps)?;
        let text = serde_json::to_vec(&steps).map_err(|error| PathError::new("write", dir, io::Error::other(error)))?;
        fs::write_atomic(&journal(dir), &text)?;
        Ok(Self { top: top.to_owned(), dir: dir.to_owned(), steps })
    }

    /// Changes all paths, or none. Afterwards `dir` still holds the mark that it is done; it is the caller's to remove,
    /// once what it notes for itself is on disk.
    ///
    /// # Errors
    /// A path is not as expected, or the file system fails; what was written is taken back.
    pub fn run(self) -> Result<Done, SwapError> {
        match self.forward()? {
            End::Forward(done) => Ok(done),
            End::Back(paths) => Err(SwapError::Conflict { paths }),
        }
    }

    /// Finishes or takes back a write that was interrupted.
    ///
    /// # Errors
    /// The journal cannot be read, or the file system fails; it can be called again.
    pub fn recover(top: &Utf8Path, dir: &Utf8Path) -> Result<Recovered, SwapError> {
        let path = journal(dir);
        let Some(text) = fs::read_if_exists(&path)? else {
            fs::remove_tree(dir)?;
            return Ok(Recovered::Nothing);
        };
        let steps =
            serde_json::from_slice(&text).map_err(|error| SwapError::Journal { path, reason: error.to_string() })?;
        let swap = Self { top: top.to_owned(), dir: dir.to_owned(), steps };
        if fs::exists(&swap.mark("done")) {
            return Ok(Recovered::Finished { kept: Vec::new() });
        }
        let end = if fs::exists(&swap.mark("abort")) { End::Back(swap.back()?) } else { swap.forward()? };
        Ok(match end {
            End::Forward(done) => Recovered::Finished { kept: done.kept },
            End::Back(paths) => Recovered::RolledBack { paths },
        })
    }

    fn mark(&self, name: &str) -> Utf8PathBuf {
        self.dir.join(name)
    }

    /// Goes through the steps; each that is done already is passed over.
    fn forward(&self) -> Result<End, SwapError> {
        for (number, step) in self.steps.iter().enumerate() {
            match steps::forward(&self.top, &self.dir, number, step) {
                Ok(true) => {}
                Ok(false) => {
                    self.abort(std::slice::from_ref(&step.path))?;
                    return Ok(End::Back(self.back()?));
                }
                Err(error) => {
                    self.abort(&[])?;
                    self.back()?;
                    let path = place::shown(&self.top, &step.path);
                    return Err(PathError::new("write", path, error).into());
                }
            }
        }
        let kept = steps::keep_late_writes(&self.dir, &self.steps)?;
        steps::flush(&self.top, &self.steps)?;
        fs::write_atomic(&self.mark("done"), b"")?;
        Ok(End::Forward(Done { kept }))
    }

    /// From here on it only goes back, also after a kill.
    fn abort(&self, conflicts: &[Vec<u8>]) -> Result<(), SwapError> {
        let text = serde_json::to_vec(conflicts)
            .map_err(|error| PathError::new("write", &self.dir, io::Error::other(error)))?;
        Ok(fs::write_atomic(&self.mark("abort"), &text)?)
    }

    /// Takes everything back, last step first; gives the paths for which it was.
    fn back(&self) -> Result<Vec<Vec<u8>>, SwapError> {
        for (number, step) in self.steps.iter().enumerate().rev() {
            steps::back(&self.top, &self.dir, number, step)
                .map_err(|error| PathError::new("put back", place::shown(&self.top, &step.path), error))?;
        }
        steps::remove_made_folders(&self.top, &self.dir)?;
        steps::flush(&self.top, &self.steps)?;
        let text = fs::read(&self.mark("abort"))?;
        let paths = serde_json::from_slice(&text).unwrap_or_default();
        fs::remove_tree(&self.dir)?;
        Ok(paths)
    }
}

fn journal(dir: &Utf8Path) -> Utf8PathBuf {
    dir.join("journal.json")
}

fn at<'a>(op: &'static str, path: &'a Utf8Path) -> impl Fn(io::Error) -> PathError + 'a {
    move |source| PathError::new(op, path, source)
}
