//! What git ignores and a task needs all the same: dependency folders, put beside the snapshot.
//!
//! By reflink where the file system can, else by copy below 2 GiB, else as a symbolic link. Never by hard links: an
//! agent that writes into one would write into the user's folder.

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::tree::remove_any;
use crate::{Repo, RepoPath, Result};

/// Folders of dependencies by name, where git ignores them. Build folders are not among them.
const KNOWN: [&str; 9] =
    ["node_modules", ".venv", "venv", "vendor", "bower_components", "Pods", "deps", ".yarn", "elm-stuff"];

/// Up to this size a folder is copied, bytes.
const LARGEST_COPY: u64 = 2 << 30;

/// Name of what is being put beside its place.
const PART: &str = ".planex-placing";

/// One folder or file that is put beside a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Path relative to the top level.
    pub path: Utf8PathBuf,
    /// How it gets there.
    pub how: How,
    /// Bytes.
    pub size: u64,
    /// A virtual environment with an editable installation of the project: it is pointed at the task's tree.
    pub editable: bool,
    /// A submodule: its files, without its repository.
    #[serde(default)]
    pub submodule: bool,
}

/// How a folder gets beside a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Its own copy (sharing blocks where the file system can).
    Copy,
    /// A symbolic link to the user's folder: an installation in the task changes that.
    Link,
}

/// All that is put beside a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Each, by path.
    pub list: Vec<Placement>,
}

impl Placed {
    /// What of the user's tree has to come along: known dependency folders that git ignores, submodules, and what
    /// `copy` and `link` (paths relative to the project) name.
    ///
    /// # Errors
    /// Git refuses.
    pub fn choose(repo: &Repo, submodules: &[Utf8PathBuf], copy: &[String], link: &[String]) -> Result<Self> {
        let args = ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"];
        let ignored = repo.git.run(&args, Vec::new())?;
        let known = ignored.split(|byte| *byte == 0).filter_map(|entry| {
            let path = std::str::from_utf8(entry.strip_suffix(b"/")?).ok()?;
            let name = path.rsplit('/').next().unwrap_or(path);
            KNOWN.contains(&name).then(|| Utf8PathBuf::from(path))
        });
        let project = |path: &String| Utf8PathBuf::from(repo.prefix()).join(path.trim_matches('/'));
        let top = repo.top();
        let mut list: Vec<Placement> = Vec::new();
        let named = copy.iter().map(|path| (project(path), Some(How::Copy)));
        let named = named.chain(link.iter().map(|path| (project(path), Some(How::Link))));
        let found = known.chain(submodules.iter().cloned()).map(|path| (path, None));
        for (path, how) in named.chain(found) {
            if list.iter().any(|placed| path.starts_with(&placed.path)) || !fs::exists(&top.join(&path)) {
                continue;
            }
            let size = fs::dir_size(&top.join(&path));
            let how = how.unwrap_or(if size < LARGEST_COPY { How::Copy } else { How::Link });
            let editable = is_editable(&top.join(&path), top);
            let submodule = submodules.contains(&path);
            list.push(Placement { path, how, size, editable, submodule });
        }
        list.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { list })
    }

    /// The paths, as a tree leaves them out of its changes.
    #[must_use]
    pub fn paths(&self) -> Vec<RepoPath> {
        self.list.iter().map(|placed| RepoPath::from(placed.path.as_str())).collect()
    }

    /// The submodules among them.
    #[must_use]
    pub fn submodules(&self) -> Vec<RepoPath> {
        let modules = self.list.iter().filter(|placed| placed.submodule);
        modules.map(|placed| RepoPath::from(placed.path.as_str())).collect()
    }

    /// Puts everything into the tree at `dir`; what is there already stays, but for virtual environments that are pointed
    /// at the tree's place, which may be another now.
    ///
    /// # Errors
    /// A file cannot be copied, the disk is full.
    pub fn put(&self, repo: &Repo, dir: &Utf8Path) -> Result<()> {
        for placed in &self.list {
            let (from, to) = (repo.top().join(&placed.path), dir.join(&placed.path));
            let is_empty = || fs::list(&to).is_ok_and(|entries| entries.is_empty());
            if to.symlink_metadata().is_ok() && !is_empty() && !placed.editable {
                continue;
            }
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            match placed.how {
                How::Copy => {
                    // Aside first: a planex that is killed in the middle leaves no half folder that looks whole.
                    let part = to.with_file_name(PART);
                    remove_any(&part)?;
                    fs::copy_tree(&from, &part)?;
                    if placed.submodule {
                        // It leads to the user's repository.
                        remove_any(&part.join(".git"))?;
                    }
                    if placed.editable {
                        point_at(&part, repo.top(), dir)?;
                    }
                    remove_any(&to)?;
                    fs::rename(&part, &to)?;
                }
                How::Link => {
                    if to.is_dir() {
                        fs::remove_tree(&to)?;
                    }
                    fs::symlink(&from, &to)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a virtual environment has the project itself installed in place.
fn is_editable(venv: &Utf8Path, top: &Utf8Path) -> bool {
    fs::is_file(&venv.join("pyvenv.cfg"))
        && files_with_paths(venv).iter().any(|file| {
            fs::read_head(file, LONGEST_SCRIPT).is_ok_and(|bytes| contains(&bytes, top.as_str().as_bytes()))
        })
}

/// Files of a virtual environment that name folders by their absolute path are small.
const LONGEST_SCRIPT: u64 = 256 * 1024;

/// Scripts with the environment's own path, and files by which Python finds a project that is installed in place.
fn files_with_paths(venv: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut files: Vec<Utf8PathBuf> = Vec::new();
    let list = |dir: &Utf8Path| fs::list(dir).unwrap_or_default();
    files.extend(list(&venv.join("bin")).into_iter().filter(|e| e.kind == fs::EntryKind::File).map(|e| e.path));
    for lib in list(&venv.join("lib")) {
        let site = list(&lib.path.join("site-packages"));
        let finds = |name: &str| name.ends_with(".pth") || name.starts_with("__editable__");
        files.extend(site.into_iter().filter(|e| e.kind == fs::EntryKind::File && finds(&e.name)).map(|e| e.path));
    }
    files
}

/// Replaces the user's top level by the task's tree in the scripts of a copied virtual environment.
fn point_at(venv: &Utf8Path, top: &Utf8Path, dir: &Utf8Path) -> Result<()> {
    for file in files_with_paths(venv) {
        let Ok(bytes) = fs::read_head(&file, LONGEST_SCRIPT) else { continue };
        let is_whole = fs::metadata(&file).is_ok_and(|meta| meta.len() <= LONGEST_SCRIPT);
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if is_whole && text.contains(top.as_str()) {
            fs::write_atomic_nosync(&file, text.replace(top.as_str(), dir.as_str()).as_bytes())?;
        }
    }
    Ok(())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
