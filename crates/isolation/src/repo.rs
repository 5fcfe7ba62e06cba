//! The user's repository: what is asked of it, and the commits that planex adds; its hidden refs are in [`crate::refs`].

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::env::Environment;
use planex_sys::fs;
use planex_sys::git::{self, Git, Head, Plumbing, Version};
use serde::{Deserialize, Serialize};

use crate::diff;
use crate::scan::{Limits, Scan, scan};
use crate::{Change, IsolationError, LeftOut, RepoPath, Result};

/// The first git with `merge-tree --write-tree`.
const OLDEST: Version = Version { major: 2, minor: 38, patch: 0 };

/// Folder of planex's sessions, in the project.
const SESSIONS: &str = ".workflow";

/// Why tasks cannot have trees of their own here. Not an error: the work goes on without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// No git repository, or a bare one.
    NoRepository,
    /// A repository without a commit.
    NoCommit,
    /// There is no git.
    NotInstalled,
    /// Its git is too old.
    TooOld(Version),
    /// The project's folder is outside of the working tree, or ignored by it.
    NotInTree,
}

impl std::fmt::Display for Absent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoRepository => f.write_str("the project is not in a git repository"),
            Self::NoCommit => f.write_str("the git repository has no commit yet"),
            Self::NotInstalled => f.write_str("git is not installed"),
            Self::TooOld(version) => write!(f, "git {version} is older than {OLDEST}"),
            Self::NotInTree => f.write_str("the project's folder is not part of the git working tree"),
        }
    }
}

/// A question about a path that is relative to the project.
pub type Protects = Arc<dyn Fn(&Utf8Path) -> bool + Send + Sync>;

/// The user's repository.
#[derive(Clone)]
pub struct Repo {
    pub(crate) git: Git,
    /// Paths that no agent may have.
    protects: Option<Protects>,
    /// The project's folder below the top level, with `/`; empty where it is the top level.
    prefix: String,
    /// What HEAD pointed at when the repository was opened.
    head: String,
    branch: Option<String>,
}

/// The user's tree as it was at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Id of the commit.
    pub commit: String,
    /// What of the user's tree is not in it, ready to be said.
    pub left_out: Vec<String>,
    /// Files with a merge conflict of the user's own, markers included.
    pub unmerged: Vec<Utf8PathBuf>,
    /// Submodules.
    pub submodules: Vec<Utf8PathBuf>,
}

impl Repo {
    /// The repository that holds the project at `root`, or why there is none to work with.
    ///
    /// # Errors
    /// Git refuses (a folder of another owner, a broken repository).
    pub fn open(root: &Utf8Path, env: &Environment) -> Result<std::result::Result<Self, Absent>> {
        match git::version(env) {
            Err(git::GitError::NotInstalled) => return Ok(Err(Absent::NotInstalled)),
            Ok(version) if version < OLDEST => return Ok(Err(Absent::TooOld(version))),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let Some(git) = Git::discover(root, env)? else { return Ok(Err(Absent::NoRepository)) };
        let (head, branch) = match git.head()? {
            Head::Commit { oid, branch } => (oid, branch),
            Head::Unborn { .. } => return Ok(Err(Absent::NoCommit)),
        };
        let root = fs::canonicalize(root)?;
        let Ok(prefix) = root.strip_prefix(fs::canonicalize(&git.toplevel)?).map(ToString::to_string) else {
            return Ok(Err(Absent::NotInTree));
        };
        // A project in an ignored folder (a checkout below build/) has no files in any snapshot.
        if !prefix.is_empty() && is_ignored(&git, &prefix)? {
            return Ok(Err(Absent::NotInTree));
        }
        Ok(Ok(Self { git, protects: None, prefix, head, branch }))
    }

    /// The same, with files that no agent may read or write: no snapshot and no task's work holds them.
    #[must_use]
    pub fn protecting(self, protects: Protects) -> Self {
        Self { protects: Some(protects), ..self }
    }

    pub(crate) fn is_protected(&self, path: &RepoPath) -> bool {
        self.protects.as_ref().is_some_and(|protects| protects(&path.in_project(&self.prefix)))
    }

    /// The project's folder below the top level; empty where they are the same.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The top level of the user's working tree.
    #[must_use]
    pub fn top(&self) -> &Utf8Path {
        &self.git.toplevel
    }

    /// The commit that HEAD pointed at when the repository was opened.
    #[must_use]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// The branch that was checked out then.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// `.workflow` of the project, relative to the top level.
    pub(crate) fn sessions(&self) -> RepoPath {
        let path = if self.prefix.is_empty() { SESSIONS.to_owned() } else { format!("{}/{SESSIONS}", self.prefix) };
        RepoPath(path.into_bytes())
    }

    /// The user's tree as it is now, as a commit that only the hidden ref `refs/planex/{session}/{name}` holds.
    ///
    /// `scratch` is a folder of planex's for the copied index.
    ///
    /// # Errors
    /// Git refuses (a required filter is not installed), the disk is full.
    pub fn snapshot(&self, session: &str, name: &str, scratch: &Utf8Path) -> Result<Snapshot> {
        let found = self.look(scratch)?;
        // A clean tree is HEAD itself: what comes on top of it can become a branch as it is.
        let head_tree = self.plumbing(scratch).text(&["rev-parse", &format!("{}^{{tree}}", self.head)])?;
        let commit = if head_tree == found.tree {
            self.head.clone()
        } else {
            self.commit(&found.tree, &[&self.head], &format!("planex: uncommitted changes before {session}"), scratch)?
        };
        self.keep(session, name, &commit)?;
        Ok(Snapshot {
            commit,
            left_out: found.left_out.iter().map(ToString::to_string).collect(),
            unmerged: found.unmerged.iter().map(|path| path.in_project(&self.prefix)).collect(),
            submodules: found.submodules.iter().map(RepoPath::to_text).collect(),
        })
    }

    /// The user's tree as it is now, as a tree object.
    pub(crate) fn look(&self, scratch: &Utf8Path) -> Result<Scan> {
        fs::create_dir_all(scratch)?;
        let index = scratch.join("index");
        copy_index(&self.git.git_dir.join("index"), &index)?;
        let git = self.git.plumbing(&self.git.toplevel, &index);
        let sessions = self.sessions();
        let limits = Limits {
            without: &|path| path.is_below(&sessions.0),
            protected: &|path| self.is_protected(path),
            also_ignored: None,
        };
        let found = scan(&git, &self.git.toplevel, &limits);
        fs::remove_file(&index)?;
        found
    }

    /// A commit of this tree.
    pub(crate) fn commit(&self, tree: &str, parents: &[&str], message: &str, scratch: &Utf8Path) -> Result<String> {
        let git = self.plumbing(scratch);
        let mut args = vec!["commit-tree", tree];
        for parent in parents {
            args.extend(["-p", parent]);
        }
        let bytes = git.run(&args, message.as_bytes().to_vec())?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Plumbing on the user's objects and refs, with the user's tree and no index.
    pub(crate) fn plumbing(&self, scratch: &Utf8Path) -> Plumbing {
        self.git.plumbing(&self.git.toplevel, &scratch.join("no-index"))
    }

    /// Whether a branch can take results: it is not there, or is at the commit `at`, where planex left it.
    ///
    /// # Errors
    /// It is somewhere else, or checked out; another branch is in its way; git refuses.
    pub fn check_branch(&self, name: &str, at: Option<&str>) -> Result<()> {
        let refuse = |why: String| Err(IsolationError::Branch { name: name.to_owned(), why });
        let format = "--format=%(objectname)%00%(refname:short)%00%(worktreepath)";
        let branches = self.git.run(&["for-each-ref", format, "refs/heads/"], Vec::new())?;
        for line in String::from_utf8_lossy(&branches).lines() {
            let mut parts = line.split('\0');
            let (Some(commit), Some(found), checked_out) = (parts.next(), parts.next(), parts.next()) else { continue };
            if found != name {
                // Branches are files below folders: one name cannot be both.
                let below =
                    |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('/'));
                if below(found, name) || below(name, found) {
                    return refuse(format!("the branch `{found}` is in the way"));
                }
            } else if let Some(folder) = checked_out.filter(|folder| !folder.is_empty()) {
                return refuse(format!("it exists, and is checked out in {folder}"));
            } else if at != Some(commit) {
                return refuse("it exists, with other commits than those that planex made".to_owned());
            }
        }
        Ok(())
    }

    /// Sets a branch from one commit to another; a new branch where `from` is the snapshot it begins with. One that is
    /// at `to` already stays.
    ///
    /// # Errors
    /// As [`Self::check_branch`].
    pub fn move_branch(&self, name: &str, from: &str, to: &str) -> Result<()> {
        let full = format!("refs/heads/{name}");
        let found = self.git.run(&["for-each-ref", "--format=%(objectname)", &full], Vec::new())?;
        let found = String::from_utf8_lossy(&found).lines().next().unwrap_or_default().to_owned();
        self.check_branch(name, Some(if found == to { to } else { from }))?;
        // The old value is named: a branch that is moved in this very moment is not overwritten.
        self.git.run(&["update-ref", &full, to, &found], Vec::new())?;
        Ok(())
    }

    /// The paths that differ between two commits.
    ///
    /// # Errors
    /// Git refuses.
    pub fn changes(&self, from: &str, to: &str, scratch: &Utf8Path) -> Result<Vec<Change>> {
        diff::changes(&self.plumbing(scratch), from, to)
    }

    /// The difference between two commits as a patch that `git apply` takes, binary files included.
    ///
    /// # Errors
    /// Git refuses.
    pub fn patch(&self, from: &str, to: &str, scratch: &Utf8Path) -> Result<Vec<u8>> {
        let args = [
            "diff-tree",
            "-r",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            from,
            to,
        ];
        Ok(self.plumbing(scratch).run(&args, Vec::new())?)
    }

    /// What left-outs are called relative to the project.
    #[must_use]
    pub fn say_left_out(&self, left: &LeftOut) -> String {
        format!("{} ({})", left.path.in_project(&self.prefix), left.why)
    }
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("git", &self.git).field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// Whether a folder is ignored with all below it. `check-ignore` cannot be asked: it refuses literal paths.
fn is_ignored(git: &Git, folder: &str) -> Result<bool> {
    if git.is_tracked(Utf8Path::new(folder))? {
        return Ok(false);
    }
    let folder = RepoPath::from(folder);
    let ignored = git.run(&["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"], Vec::new())?;
    let mut folders = ignored.split(|byte| *byte == 0).filter_map(|entry| entry.strip_suffix(b"/"));
    Ok(folders.any(|ignored| folder.is_below(ignored)))
}

/// Copies an index with its time: with a new one git would take files that changed right before for unchanged. Whole or
/// not at all: a planex that is killed in the middle leaves the old one.
pub(crate) fn copy_index(from: &Utf8Path, to: &Utf8Path) -> Result<()> {
    if !fs::is_file(from) {
        return Ok(fs::remove_file(to)?);
    }
    let part = to.with_extension("part");
    fs::copy_with_times(from, &part)?;
    Ok(fs::rename(&part, to)?)
}
