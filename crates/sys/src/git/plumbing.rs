//! Git's plumbing on a working tree and an index of the caller's choice.

use camino::Utf8Path;

use super::{Git, GitError};
use crate::git::call::Caller;
use planex_core::job::Exit;

/// Who planex's own commits are by. They never reach a branch of the user's unless asked for.
pub(super) const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "planex"),
    ("GIT_AUTHOR_EMAIL", "planex@localhost"),
    ("GIT_COMMITTER_NAME", "planex"),
    ("GIT_COMMITTER_EMAIL", "planex@localhost"),
];

/// A repository's objects and refs, seen through one working tree and one index.
///
/// Nothing of the user's changes by a call: the index is planex's own file, and what a command writes besides objects
/// is what its arguments say. A call may take up to half an hour, for it may write a whole tree.
#[derive(Debug, Clone)]
pub struct Plumbing {
    caller: Caller,
}

impl Git {
    /// Plumbing on this repository's objects and refs, with the tree at `work_tree` and the index file `index` (which
    /// need not exist).
    #[must_use]
    pub fn plumbing(&self, work_tree: &Utf8Path, index: &Utf8Path) -> Plumbing {
        let place = [
            ("GIT_DIR", self.git_dir.as_str()),
            ("GIT_WORK_TREE", work_tree.as_str()),
            ("GIT_INDEX_FILE", index.as_str()),
        ];
        Plumbing { caller: self.caller.clone().at(work_tree).with(&place).with(&IDENTITY) }
    }

    /// Plumbing in the repository that lies in `tree` itself, whatever it says about its own place.
    #[must_use]
    pub fn plumbing_in(&self, tree: &Utf8Path) -> Plumbing {
        let dir = tree.join(".git");
        let place = [("GIT_DIR", dir.as_str()), ("GIT_WORK_TREE", tree.as_str())];
        Plumbing { caller: self.caller.clone().at(tree).with(&place).with(&IDENTITY) }
    }
}

impl Plumbing {
    /// Runs git with these arguments and this input; gives what it printed.
    ///
    /// # Errors
    /// It cannot be started, takes too long, prints more than 256 MiB, or refuses.
    pub fn run(&self, args: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        self.caller.bytes(args, stdin)
    }

    /// As [`Plumbing::run`], without input; its answer as text without the line's end.
    ///
    /// # Errors
    /// As [`Plumbing::run`]; also an answer that is not UTF-8.
    pub fn text(&self, args: &[&str]) -> Result<String, GitError> {
        self.caller.text(args)
    }

    /// As [`Plumbing::run`] for commands that answer by their exit code as well: 0 or 1. Another code is an error.
    ///
    /// # Errors
    /// As [`Plumbing::run`].
    pub fn answer(&self, args: &[&str], stdin: Vec<u8>) -> Result<(bool, Vec<u8>), GitError> {
        let output = self.caller.output(args, stdin)?;
        match output.exit {
            Exit::Code(0) => Ok((true, output.stdout)),
            Exit::Code(1) => Ok((false, output.stdout)),
            _ => Err(self.caller.failed(args, &output)),
        }
    }

    /// Runs a command on a list of paths, one after another NUL-terminated on its input; nothing without paths.
    ///
    /// # Errors
    /// As [`Plumbing::run`].
    pub fn on_paths<'p>(&self, args: &[&str], paths: impl IntoIterator<Item = &'p [u8]>) -> Result<(), GitError> {
        let mut stdin = Vec::new();
        for path in paths {
            stdin.extend_from_slice(path);
            stdin.push(0);
        }
        if !stdin.is_empty() {
            self.run(args, stdin)?;
        }
        Ok(())
    }

    /// Runs a command that prints a list with `-z`; gives its entries.
    ///
    /// # Errors
    /// As [`Plumbing::run`].
    pub fn list(&self, args: &[&str]) -> Result<Vec<Vec<u8>>, GitError> {
        Ok(super::split(&self.run(args, Vec::new())?))
    }
}
