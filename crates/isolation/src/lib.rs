//! Tasks in trees of their own (spec 70, *Isolation*): what one does can disturb neither another nor the user.
//!
//! ```text
//! user's tree --snapshot--> S0 --task tree--> agent --collect--> T1, T2, … --merge--> M --write--> user's tree
//! ```
//!
//! [`Repo::snapshot`] makes a commit of the user's tree as it is, uncommitted and untracked files included.
//! [`TaskTree`] is a small repository of its own that borrows the user's objects, so that nothing an agent does to its
//! `.git` reaches the user's. [`TaskTree::collect`] looks at the files on disk and believes nothing else. [`Merger`]
//! merges what tasks made three-way, in objects alone, and writes the sum into the user's tree path by path, through
//! the journal of [`planex_sys::swap`]. Branch, index, stash, reflog and configuration of the user's stay as they were;
//! the only things added are objects and hidden refs below `refs/planex/`.

mod collect;
mod config;
mod diff;
mod merge;
mod names;
mod placed;
mod refs;
mod repo;
mod scan;
mod tree;

use camino::Utf8PathBuf;
use planex_sys::fs::PathError;
use planex_sys::git::GitError;

pub use collect::{Collected, Remark};
pub use diff::{Change, ChangeKind, Entry};
pub use merge::{Conflict, Merged, Merger, With, Written};
pub use names::RepoPath;
pub use placed::{How, Placed, Placement};
pub use refs::Owner;
pub use repo::{Absent, Protects, Repo, Snapshot};
pub use scan::{LeftOut, Why};
pub use tree::{TaskTree, TreeSpec};

/// Why isolation did not work.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// Git refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or written.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Writing into the user's tree failed; what was written has been taken back.
    #[error(transparent)]
    Swap(#[from] planex_sys::swap::SwapError),
    /// Git answered something that this version of planex does not understand.
    #[error("git answered what planex does not understand: {0}")]
    Strange(String),
    /// A branch cannot take the results.
    #[error("the branch `{name}` cannot take the results: {why}")]
    Branch {
        /// Which.
        name: String,
        /// Why not.
        why: String,
    },
    /// A tree that is needed is gone.
    #[error("the task's tree {0} is gone")]
    Gone(Utf8PathBuf),
}

/// What most calls here give.
pub type Result<T> = std::result::Result<T, IsolationError>;
