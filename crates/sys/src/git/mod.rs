//! Git by its command line: porcelain output, paths as bytes, nothing of the user's touched unasked.
//!
//! Every call has the same sanitised environment and `-c` options: no variable that points at another repository, no
//! hook, no lock of the user's index, no prompt, no background work, English messages.

mod call;
mod plumbing;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::env::Environment;
use crate::fs::{self, PathError};
use crate::process::RunError;
use call::Caller;

pub use plumbing::Plumbing;

/// Why git did not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git` on the `PATH`.
    #[error("git is not installed (nothing named `git` is on the PATH)")]
    NotInstalled,
    /// It could not be started.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It refused.
    #[error("git {command} in {dir} failed: {message}")]
    Failed {
        /// The subcommand with its arguments.
        command: String,
        /// Where it ran.
        dir: Utf8PathBuf,
        /// What it said, in one line.
        message: String,
    },
    /// It took too long.
    #[error("git {command} in {dir} did not end within {seconds} s")]
    TimedOut {
        /// The subcommand with its arguments.
        command: String,
        /// Where it ran.
        dir: Utf8PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// It said something that cannot be understood.
    #[error("git {command} in {dir} answered what planex does not understand: {what}")]
    Strange {
        /// The subcommand with its arguments.
        command: String,
        /// Where it ran.
        dir: Utf8PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file of the repository could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// Version of the installed git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number; 0 where there is none.
    pub patch: u32,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// What `HEAD` points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch without a commit yet.
    Unborn {
        /// Its name.
        branch: Option<String>,
    },
    /// A commit.
    Commit {
        /// Its id, hexadecimal.
        oid: String,
        /// The branch, unless `HEAD` is detached.
        branch: Option<String>,
    },
}

/// One line of `git status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEntry {
    /// State in the index: a letter of `git status --porcelain`, `?` for untracked, space for unchanged.
    pub index: u8,
    /// State in the working tree.
    pub tree: u8,
    /// Path relative to the top level, as git's bytes.
    pub path: Vec<u8>,
}

/// The version of the git on the environment's `PATH`.
///
/// # Errors
/// It is not installed, or does not answer.
pub fn version(env: &Environment) -> Result<Version, GitError> {
    let caller = Caller::new(env, Utf8Path::new("/"));
    let output = caller.text(&["version"])?;
    parse_version(&output).ok_or_else(|| caller.strange(&["version"], "no version number"))
}

/// `git version 2.47.3`, also `2.39.3 (Apple Git-146)`, `2.45.1.windows.1`, `2.50.0-rc1`.
fn parse_version(text: &str) -> Option<Version> {
    let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut numbers = word.split(['.', '-']).map_while(|part| part.parse().ok());
    Some(Version { major: numbers.next()?, minor: numbers.next()?, patch: numbers.next().unwrap_or(0) })
}

/// A repository with a working tree.
#[derive(Debug, Clone)]
pub struct Git {
    /// The working tree's top folder.
    pub toplevel: Utf8PathBuf,
    /// Its own git folder.
    pub git_dir: Utf8PathBuf,
    /// The git folder that it shares with other working trees; the same as `git_dir` in the usual case.
    pub common_dir: Utf8PathBuf,
    caller: Caller,
}

impl Git {
    /// The repository that `dir` lies in; `None` if it lies in none, in a bare one, or inside a git folder.
    ///
    /// # Errors
    /// Git is not installed, or refuses (a folder of another owner, a broken repository).
    pub fn discover(dir: &Utf8Path, env: &Environment) -> Result<Option<Self>, GitError> {
        let caller = Caller::new(env, dir);
        let args = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
        let output = caller.output(&args, Vec::new())?;
        if !output.success() {
            let message = output.stderr_line();
            let none = ["not a git repository", "must be run in a work tree", "not a work tree"];
            if none.iter().any(|text| message.contains(text)) && !message.contains("dubious ownership") {
                return Ok(None);
            }
            return Err(caller.failed(&args, &output));
        }
        let paths = String::from_utf8(output.stdout).map_err(|_| caller.strange(&args, "a path that is not UTF-8"))?;
        let lines: Vec<&str> = paths.lines().collect();
        let [toplevel, git_dir, common_dir] = lines.as_slice() else {
            return Err(caller.strange(&args, "a path with a line feed in it"));
        };
        let caller = caller.at(Utf8Path::new(toplevel));
        let path = |text: &str| Utf8PathBuf::from(text);
        Ok(Some(Self { toplevel: path(toplevel), git_dir: path(git_dir), common_dir: path(common_dir), caller }))
    }

    /// Makes a repository of the folder's files, with one commit of all of them by planex.
    ///
    /// # Errors
    /// Git is not installed, or refuses.
    pub fn create(dir: &Utf8Path, env: &Environment, message: &str) -> Result<(), GitError> {
        let caller = Caller::new(env, dir).with(&plumbing::IDENTITY);
        for args in [
            &["init", "-q", "--template=", "--initial-branch=main"][..],
            &["add", "-A"],
            &["-c", "commit.gpgSign=false", "commit", "-q", "--no-verify", "-m", message],
        ] {
            caller.bytes(args, Vec::new())?;
        }
        Ok(())
    }

    /// Runs git in the top folder with these arguments and this input; gives what it printed.
    ///
    /// # Errors
    /// It cannot be started, takes longer than a minute, prints more than 256 MiB, or refuses.
    pub fn run(&self, args: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        self.caller.bytes(args, stdin)
    }

    /// What `HEAD` points at.
    ///
    /// # Errors
    /// Git refuses.
    pub fn head(&self) -> Result<Head, GitError> {
        let name = self.caller.quiet(&["symbolic-ref", "--quiet", "HEAD"])?;
        let branch = name.map(|name| name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned());
        Ok(match self.caller.quiet(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])? {
            Some(oid) => Head::Commit { oid, branch },
            None => Head::Unborn { branch },
        })
    }

    /// Whether the path (relative to the top level), or anything below it, is in the index.
    ///
    /// # Errors
    /// Git refuses.
    pub fn is_tracked(&self, path: &Utf8Path) -> Result<bool, GitError> {
        Ok(!self.run(&["ls-files", "-z", "--", path.as_str()], Vec::new())?.is_empty())
    }

    /// The tracked paths, relative to the top level.
    ///
    /// # Errors
    /// Git refuses.
    pub fn ls_files(&self) -> Result<Vec<Vec<u8>>, GitError> {
        Ok(split(&self.run(&["ls-files", "-z"], Vec::new())?))
    }

    /// The untracked paths that no rule ignores.
    ///
    /// # Errors
    /// Git refuses.
    pub fn untracked(&self) -> Result<Vec<Vec<u8>>, GitError> {
        Ok(split(&self.run(&["ls-files", "-z", "--others", "--exclude-standard"], Vec::new())?))
    }

    /// The tracked paths that a rule would ignore if they were not tracked: for
    /// [`ObserveOptions::always`](crate::observe::ObserveOptions::always).
    ///
    /// # Errors
    /// Git refuses.
    pub fn tracked_ignored(&self) -> Result<Vec<Vec<u8>>, GitError> {
        Ok(split(&self.run(&["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"], Vec::new())?))
    }

    /// What differs between `HEAD`, index and working tree, renames as delete and add.
    ///
    /// # Errors
    /// Git refuses.
    pub fn status_porcelain(&self) -> Result<Vec<StatusEntry>, GitError> {
        let args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
        let output = self.run(&args, Vec::new())?;
        let entry = |line: &[u8]| match line {
            [index, tree, b' ', path @ ..] if !path.is_empty() => {
                Some(StatusEntry { index: *index, tree: *tree, path: path.to_owned() })
            }
            _ => None,
        };
        let entries: Option<Vec<StatusEntry>> = split(&output).iter().map(|line| entry(line)).collect();
        entries.ok_or_else(|| self.caller.strange(&args, "a line without a state"))
    }

    /// Adds the pattern to the repository's own `info/exclude` unless it stands there; `true` if it was added.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn exclude(&self, pattern: &str) -> Result<bool, GitError> {
        let path = self.common_dir.join("info/exclude");
        if pattern.trim().is_empty() || pattern.contains('\n') {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "not a pattern for one line");
            return Err(PathError::new("add a pattern to", path, error).into());
        }
        let mut text = fs::read_if_exists(&path)?.unwrap_or_default();
        if text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_end() == pattern.as_bytes()) {
            return Ok(false);
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(pattern.as_bytes());
        text.push(b'\n');
        fs::create_dir_all(&self.common_dir.join("info"))?;
        fs::write_atomic(&path, &text)?;
        Ok(true)
    }
}

/// The entries of a list that was printed with `-z`.
fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split(|&byte| byte == 0).filter(|entry| !entry.is_empty()).map(<[u8]>::to_owned).collect()
}

/// A path of git's as text, with U+FFFD for what is not UTF-8.
#[must_use]
pub fn lossy_path(bytes: Vec<u8>) -> Utf8PathBuf {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()).into()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
