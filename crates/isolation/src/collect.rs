//! What a task made: the files on disk, and nothing the agent says.

use camino::Utf8PathBuf;
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::repo::copy_index;
use crate::scan::{LeftOut, Limits, scan};
use crate::{Change, Repo, RepoPath, Result, TaskTree, diff};

/// What a task made.
#[derive(Debug, Clone)]
pub struct Collected {
    /// A commit of the task's files, on top of the snapshot's.
    pub commit: String,
    /// The paths that differ from the snapshot.
    pub changes: Vec<Change>,
    /// What is in its tree and could not be collected.
    pub left_out: Vec<LeftOut>,
    /// Files that it changed inside submodules, relative to the top level.
    pub in_submodules: Vec<Utf8PathBuf>,
    /// What else there is to say.
    pub remarks: Vec<Remark>,
}

/// Something about a task's tree that its files do not show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// The agent stashed work; it is not among its files.
    Stash,
    /// Work on branches that are not checked out.
    Branches(Vec<String>),
    /// A merge that was not finished; files may hold conflict markers.
    UnfinishedMerge,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stash => f.write_str("left work in its git stash, which is not taken over"),
            Self::Branches(names) => {
                write!(f, "left commits on {}, of which only what is checked out is taken over", names.join(", "))
            }
            Self::UnfinishedMerge => f.write_str("left an unfinished merge; its files may hold conflict markers"),
        }
    }
}

impl TaskTree {
    /// Takes the files as they are now, as a commit held by the hidden ref `t/{task}` of the session.
    ///
    /// `wants_ignored` decides which files that a rule ignores count all the same; `None`: none.
    ///
    /// # Errors
    /// Git refuses (a required filter is not installed), the tree is gone, the disk is full.
    pub fn collect(
        &self,
        repo: &Repo,
        session: &str,
        task: &str,
        wants_ignored: Option<&dyn Fn(&RepoPath) -> bool>,
    ) -> Result<Collected> {
        let index = self.spec.own.join("collect.index");
        copy_index(&self.pristine(), &index)?;
        // The user's objects and configuration, this tree's files: the agent's own `.git` is not asked.
        let git = repo.git.plumbing(&self.spec.dir, &index);
        // A submodule's commit is part of the tree, and its files are looked at elsewhere.
        let placed = self.spec.placed.iter().filter(|path| !self.spec.submodules.contains(path));
        let mut without: Vec<RepoPath> = placed.cloned().collect();
        without.push(repo.sessions());
        let limits = Limits {
            without: &|path| without.iter().any(|prefix| path.is_below(&prefix.0)),
            protected: &|path| repo.is_protected(path),
            also_ignored: wants_ignored,
        };
        let found = scan(&git, &self.spec.dir, &limits)?;
        let message = format!("planex: {session} {task}");
        let commit = repo.commit(&found.tree, &[self.base()], &message, &self.spec.own)?;
        repo.keep(session, &format!("t/{task}"), &commit)?;
        let changes = diff::changes(&git, self.base(), &commit)?;
        fs::remove_file(&index)?;
        let (in_submodules, remarks) = (self.changed_submodules(), self.remarks(repo));
        Ok(Collected { commit, changes, left_out: found.left_out, in_submodules, remarks })
    }

    /// What the agent did in its `.git` that its files do not show. A `.git` that is broken says nothing.
    fn remarks(&self, repo: &Repo) -> Vec<Remark> {
        let git = repo.git.plumbing_in(self.dir());
        let mut remarks = Vec::new();
        if self.dir().join(".git/MERGE_HEAD").exists() {
            remarks.push(Remark::UnfinishedMerge);
        }
        let args = ["for-each-ref", "--format=%(refname)%00%(objectname)%00%(HEAD)"];
        let Ok(refs) = git.text(&args) else { return remarks };
        let mut branches = Vec::new();
        for line in refs.lines() {
            let mut fields = line.split('\0');
            let (Some(name), Some(oid), Some(head)) = (fields.next(), fields.next(), fields.next()) else { continue };
            if name == "refs/stash" {
                remarks.push(Remark::Stash);
            } else if let Some(branch) = name.strip_prefix("refs/heads/")
                && head != "*"
                && oid != self.base()
            {
                branches.push(branch.to_owned());
            }
        }
        if !branches.is_empty() {
            remarks.push(Remark::Branches(branches));
        }
        remarks
    }
}
