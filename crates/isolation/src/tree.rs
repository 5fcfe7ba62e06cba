//! A task's tree: a small repository of its own that borrows the user's objects.
//!
//! A linked worktree (`git worktree add`) would share stash, branches and configuration with the user's: what an agent
//! does there shows up at the user's. Here nothing does, and removing it is removing a folder.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::fs;
use planex_sys::git::Plumbing;
use planex_sys::observe::{self, ObserveOptions, TreeState};

use crate::repo::copy_index;
use crate::{IsolationError, Repo, RepoPath, Result, config};

/// Options under which a tree is filled: large files stay pointers, several trees at once share the processors.
const FILL: [&str; 8] = [
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.required=false",
    "-c",
    "checkout.workers=1",
];

/// Where a task's tree is and what it starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeSpec {
    /// The folder; what is there is replaced.
    pub dir: Utf8PathBuf,
    /// planex's own folder for this tree, out of the agent's reach: the index as it was when the tree was filled.
    pub own: Utf8PathBuf,
    /// The snapshot's commit.
    pub base: String,
    /// Files and folders that planex puts beside the snapshot ([`crate::Placement`]), relative to the top level: they
    /// are no change of the task's.
    pub placed: Vec<RepoPath>,
    /// Those of them that are submodules: what a task changes in one is told, since it cannot be merged.
    pub submodules: Vec<RepoPath>,
}

/// A task's tree.
#[derive(Debug, Clone)]
pub struct TaskTree {
    pub(crate) spec: TreeSpec,
}

impl TaskTree {
    /// Makes the tree, or makes one that is there anew: the files of the snapshot, a fresh `.git`, nothing else.
    ///
    /// A tree of an earlier task at the same place is brought up to the snapshot, which costs what differs.
    ///
    /// # Errors
    /// Git refuses, the disk is full.
    pub fn create(repo: &Repo, spec: TreeSpec) -> Result<Self> {
        let tree = Self { spec };
        let (dir, pristine) = (&tree.spec.dir, tree.pristine());
        let reuse = is_real_folder(dir) && fs::is_file(&pristine);
        if !reuse {
            // Whatever an agent put in its place, a link to the user's own folder too: that itself goes, nothing behind.
            remove_any(dir)?;
        }
        fs::create_dir_all(dir)?;
        fs::create_dir_all(&tree.spec.own)?;
        tree.init(repo)?;
        let git = repo.git.plumbing_in(dir);
        if reuse {
            copy_index(&pristine, &dir.join(".git/index"))?;
            tree.fill(&git, &["read-tree", "--reset", "-u"])?;
            tree.clean(&git)?;
        } else {
            tree.fill(&git, &["read-tree", "-m", "-u"])?;
        }
        copy_index(&dir.join(".git/index"), &pristine)?;
        Ok(tree)
    }

    /// The tree of an earlier planex, as it is.
    ///
    /// # Errors
    /// It is gone.
    pub fn open(spec: TreeSpec) -> Result<Self> {
        let tree = Self { spec };
        if is_real_folder(&tree.spec.dir) && fs::is_file(&tree.pristine()) {
            Ok(tree)
        } else {
            Err(IsolationError::Gone(tree.spec.dir))
        }
    }

    /// Remembers how the submodules look, after they were put in: what changes from now on is the task's.
    ///
    /// # Errors
    /// The disk is full.
    pub fn settle(&self) -> Result<()> {
        let text = serde_json::to_vec(&self.submodule_states()).map_err(|e| IsolationError::Strange(e.to_string()))?;
        Ok(fs::write_atomic_nosync(&self.settled(), &text)?)
    }

    /// Files of submodules that changed since.
    pub(crate) fn changed_submodules(&self) -> Vec<Utf8PathBuf> {
        let before = fs::read_if_exists(&self.settled()).ok().flatten();
        let before: Vec<TreeState> = before.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let changed = |((path, before), now): ((&RepoPath, &TreeState), TreeState)| {
            let module = path.to_text();
            let changes = observe::diff(before, &now);
            changes.into_iter().map(move |change| module.join(change.path)).collect::<Vec<_>>()
        };
        self.spec.submodules.iter().zip(&before).zip(self.submodule_states()).flat_map(changed).collect()
    }

    fn submodule_states(&self) -> Vec<TreeState> {
        let options = ObserveOptions { respect_ignore: false, ..ObserveOptions::default() };
        self.spec.submodules.iter().map(|path| TreeState::scan(&self.spec.dir.join(path.to_text()), &options)).collect()
    }

    fn settled(&self) -> Utf8PathBuf {
        self.spec.own.join("submodules.json")
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Utf8Path {
        &self.spec.dir
    }

    /// The commit it started from.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.spec.base
    }

    /// Variables for whatever runs in the tree: git finds no repository above it, LFS fetches nothing.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let above = self.spec.dir.parent().map(Utf8Path::as_str).unwrap_or_default();
        [("GIT_CEILING_DIRECTORIES", above), ("GIT_LFS_SKIP_SMUDGE", "1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    /// Index of the tree as it was filled.
    pub(crate) fn pristine(&self) -> Utf8PathBuf {
        self.spec.own.join("pristine.index")
    }

    /// A `.git` of its own: the user's objects, ignore rules, attributes and what of the configuration matters.
    fn init(&self, repo: &Repo) -> Result<()> {
        let git = &repo.git;
        let dot = self.spec.dir.join(".git");
        remove_any(&dot)?;
        let format =
            String::from_utf8_lossy(&git.run(&["rev-parse", "--show-object-format"], Vec::new())?).into_owned();
        let branch = repo.branch().unwrap_or("planex");
        let (format, branch_arg) = (format!("--object-format={}", format.trim()), format!("--initial-branch={branch}"));
        let args = ["init", "-q", "--template=", &format, &branch_arg, "--", self.spec.dir.as_str()];
        git.run(&args, Vec::new())?;
        let objects = git.common_dir.join("objects");
        fs::create_dir_all(&dot.join("objects/info"))?;
        fs::write_atomic_nosync(&dot.join("objects/info/alternates"), alternate(&objects).as_bytes())?;
        fs::create_dir_all(&dot.join("info"))?;
        for (from, to) in
            [("shallow", "shallow"), ("info/exclude", "info/exclude"), ("info/attributes", "info/attributes")]
        {
            copy_if_there(&git.common_dir.join(from), &dot.join(to))?;
        }
        copy_if_there(&git.git_dir.join("info/sparse-checkout"), &dot.join("info/sparse-checkout"))?;
        let listed = git.run(&config::LIST, Vec::new())?;
        let mut text = fs::read_to_string(&dot.join("config"))?;
        text.push_str(&config::for_task(&listed));
        fs::write_atomic_nosync(&dot.join("config"), text.as_bytes())?;
        let inside = git.plumbing_in(&self.spec.dir);
        inside.text(&["update-ref", "HEAD", &self.spec.base])?;
        Ok(())
    }

    fn fill(&self, git: &Plumbing, command: &[&str]) -> Result<()> {
        let args: Vec<&str> = FILL.iter().chain(command).copied().chain([self.spec.base.as_str()]).collect();
        git.run(&args, Vec::new())?;
        Ok(())
    }

    /// Removes what an earlier task left, ignored files included, but for what planex placed.
    fn clean(&self, git: &Plumbing) -> Result<()> {
        let kept: Vec<String> = self.spec.placed.iter().map(|path| format!("--exclude=/{}", path.to_text())).collect();
        let args: Vec<&str> = ["clean", "-ffdxq"].into_iter().chain(kept.iter().map(String::as_str)).collect();
        git.run(&args, Vec::new())?;
        Ok(())
    }

    /// Removes the tree and planex's notes on it.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove(self) -> Result<()> {
        fs::remove_tree(&self.spec.dir)?;
        fs::remove_dir_all(&self.spec.own)?;
        Ok(())
    }
}

/// A line of `info/alternates`: C-quoted where a line feed or a quote would break it.
fn alternate(objects: &Utf8Path) -> String {
    let text = objects.as_str();
    if !text.contains(['\n', '"']) && !text.starts_with('#') {
        return format!("{text}\n");
    }
    format!("\"{}\"\n", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn copy_if_there(from: &Utf8Path, to: &Utf8Path) -> Result<()> {
    if fs::is_file(from) {
        fs::copy(from, to)?;
    }
    Ok(())
}

/// Whether a folder is there that is no symbolic link to one: an agent may have replaced its tree.
fn is_real_folder(dir: &Utf8Path) -> bool {
    dir.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// Removes whatever is at a path: an agent may have put a file or a link where a folder was.
pub(crate) fn remove_any(path: &Utf8Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => Ok(fs::remove_tree(path)?),
        Ok(_) => Ok(fs::remove_file(path)?),
        Err(_) => Ok(()),
    }
}
