//! Trees as values, and someone who interferes at a given call.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};

use super::super::disk::{Op, Place, Watch};
use super::super::{Content, Found, Step, look};

/// What is at a path of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    File(u32, Vec<u8>),
    Link(Vec<u8>),
    Folder(u32),
}

pub(super) fn file(mode: u32, text: &str) -> Node {
    Node::File(mode, text.as_bytes().to_vec())
}

/// A whole tree by paths, its folders as well.
pub(super) type Tree = BTreeMap<Vec<u8>, Node>;

/// A tree of these files, with the folders that they need.
pub(super) fn tree<P: AsRef<[u8]>>(nodes: impl IntoIterator<Item = (P, Node)>) -> Tree {
    let mut tree = Tree::new();
    for (path, node) in nodes {
        add(&mut tree, path.as_ref(), node);
    }
    tree
}

fn add(tree: &mut Tree, path: &[u8], node: Node) {
    for folder in folders(path) {
        tree.entry(folder.to_vec()).or_insert_with(|| Node::Folder(folder_mode()));
    }
    tree.insert(path.to_vec(), node);
}

/// Adds what can be where it is: not below a file, not over a folder.
pub(super) fn add_if_possible(tree: &mut Tree, path: &[u8], node: Node) {
    let below_a_file =
        folders(path).any(|folder| tree.get(folder).is_some_and(|node| !matches!(node, Node::Folder(_))));
    if !below_a_file && !tree.contains_key(path) {
        add(tree, path, node);
    }
}

/// The changes that lead from the files of one tree to those of another.
pub(super) fn changes(before: &Tree, wanted: &Tree) -> Vec<Change> {
    let files = |tree: &Tree| -> Tree {
        tree.iter().filter(|(_, node)| !matches!(node, Node::Folder(_))).map(|(p, n)| (p.clone(), n.clone())).collect()
    };
    let (before, wanted) = (files(before), files(wanted));
    let removed = before.keys().filter(|path| !wanted.contains_key(*path)).map(gone);
    let written = wanted.iter().filter(|(path, node)| before.get(*path) != Some(node));
    removed.chain(written.map(|(path, node)| set(path, node.clone()))).collect()
}

/// The mode that the umask leaves a new folder.
fn folder_mode() -> u32 {
    static MODE: OnceLock<u32> = OnceLock::new();
    *MODE.get_or_init(|| {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("x");
        std::fs::create_dir(&path).unwrap();
        path.metadata().unwrap().permissions().mode() & 0o7777
    })
}

fn folders(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &path[..slash])
}

pub(super) fn at(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

pub(super) fn put(root: &Path, path: &[u8], node: &Node) {
    let path = at(root, path);
    match node {
        Node::File(mode, bytes) => {
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
        }
        Node::Link(target) => symlink(OsStr::from_bytes(target), &path).unwrap(),
        Node::Folder(mode) => {
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
        }
    }
}

pub(super) fn write(root: &Path, tree: &Tree) {
    for (path, node) in tree {
        put(root, path, node);
    }
}

pub(super) fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            let node = if meta.is_symlink() {
                Node::Link(std::fs::read_link(&path).unwrap().into_os_string().into_vec())
            } else if meta.is_dir() {
                left.push(path.clone());
                Node::Folder(mode)
            } else if meta.is_file() {
                Node::File(mode, std::fs::read(&path).unwrap())
            } else {
                continue;
            };
            tree.insert(path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec(), node);
        }
    }
    tree
}

/// A change: the path, and what is to be there.
pub(super) type Change = (Vec<u8>, Option<Node>);

pub(super) fn set(path: impl AsRef<[u8]>, node: Node) -> Change {
    (path.as_ref().to_vec(), Some(node))
}

pub(super) fn gone(path: impl AsRef<[u8]>) -> Change {
    (path.as_ref().to_vec(), None)
}

/// The tree after the changes, as an independent and simple-minded hand would make it.
pub(super) fn after(before: &Tree, changes: &[Change]) -> Tree {
    let mut tree = before.clone();
    let mut left = BTreeSet::new();
    for (path, _) in changes.iter().filter(|(_, node)| node.is_none()) {
        tree.remove(path);
        left.extend(folders(path).map(<[u8]>::to_vec));
    }
    let used: BTreeSet<&[u8]> =
        changes.iter().filter(|(_, node)| node.is_some()).flat_map(|(path, _)| folders(path)).collect();
    for folder in left.iter().rev().filter(|folder| !used.contains(&***folder)) {
        let inside = [folder.as_slice(), b"/"].concat();
        if !tree.keys().any(|path| path.starts_with(&inside)) {
            tree.remove(folder);
        }
    }
    for (path, node) in changes {
        let Some(node) = node else { continue };
        let node = match (before.get(path), node) {
            (Some(Node::File(old, _)), Node::File(new, bytes)) => Node::File(carried(*old, *new), bytes.clone()),
            _ => node.clone(),
        };
        add(&mut tree, path, node);
    }
    tree
}

fn carried(old: u32, new: u32) -> u32 {
    let old = old & 0o777;
    match (old & 0o100, new & 0o100) {
        (0, 0o100) => old | 0o100 | (old & 0o44) >> 2,
        (0o100, 0) => old & 0o666,
        _ => old,
    }
}

fn content(root: &Utf8Path, path: &[u8]) -> Content {
    if let Found::Is(content) = look(root, path).unwrap() { content } else { Content::Absent }
}

/// A tree in a folder of its own, beside the folder of a write.
pub(super) struct Ground {
    pub(super) top: Utf8PathBuf,
    pub(super) dir: Utf8PathBuf,
    _temp: tempfile::TempDir,
}

impl Ground {
    pub(super) fn new(before: &Tree) -> Self {
        // In memory where that is possible: there are thousands of these, and each waits for its disk many times.
        let memory = Path::new("/dev/shm");
        let temp = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap();
        let root = Utf8PathBuf::from_path_buf(temp.path().to_owned()).unwrap();
        let ground = Self { top: root.join("tree"), dir: root.join("write"), _temp: temp };
        std::fs::create_dir(&ground.top).unwrap();
        std::fs::create_dir(&ground.dir).unwrap();
        write(ground.top.as_std_path(), before);
        ground
    }

    /// Stages the changes and gives them as steps.
    pub(super) fn stage(&self, changes: &[Change]) -> Vec<Step> {
        let staged = self.dir.join("new");
        std::fs::create_dir_all(&staged).unwrap();
        let present = changes.iter().filter_map(|(path, node)| Some((path.clone(), node.clone()?)));
        write(staged.as_std_path(), &tree(present));
        let step = |(path, node): &Change| {
            let new = if node.is_some() { content(&staged, path) } else { Content::Absent };
            Step { path: path.clone(), old: content(&self.top, path), new }
        };
        changes.iter().map(step).collect()
    }

    pub(super) fn read(&self) -> Tree {
        read(self.top.as_std_path())
    }
}

/// A call, and the how-manieth it is.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) number: usize,
    pub(super) op: Op,
    /// Whether it is over.
    pub(super) over: bool,
}

/// What someone does at a call. What it answers before the call stands for the call's own answer.
type Deed = Box<dyn FnMut(&Call) -> io::Result<()> + Send>;

/// Someone who interferes with every call, before and after it.
pub(super) struct Someone {
    number: usize,
    deed: Deed,
}

impl std::fmt::Debug for Someone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Someone").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Someone {
    pub(super) fn new(deed: impl FnMut(&Call) -> io::Result<()> + Send + 'static) -> Box<Self> {
        Box::new(Self { number: 0, deed: Box::new(deed) })
    }
}

impl Watch for Someone {
    fn before(&mut self, op: Op, _: Place<'_>) -> io::Result<()> {
        self.number += 1;
        (self.deed)(&Call { number: self.number - 1, op, over: false })
    }

    fn after(&mut self, op: Op, _: Place<'_>) {
        (self.deed)(&Call { number: self.number - 1, op, over: true }).unwrap();
    }
}

/// What a file system cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lacks {
    Nothing,
    /// An exchange in one step.
    Exchange,
    /// Nor a rename that replaces nothing.
    RenameNew,
    /// Nor hard links.
    Links,
}

impl Lacks {
    pub(super) const ALL: [Self; 4] = [Self::Nothing, Self::Exchange, Self::RenameNew, Self::Links];

    /// The answer to a call.
    pub(super) fn answer(self, call: &Call) -> io::Result<()> {
        let refused = match self {
            Self::Nothing => false,
            Self::Exchange => call.op == Op::Exchange,
            Self::RenameNew => matches!(call.op, Op::Exchange | Op::RenameNew),
            Self::Links => matches!(call.op, Op::Exchange | Op::RenameNew | Op::Link),
        };
        if refused && !call.over { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
    }
}

/// Stops everything from the given call on, as a kill does: no call after it has any effect. Gives the number of calls
/// that were tried.
pub(super) fn killed_at(number: usize, lacks: Lacks) -> (Box<Someone>, Arc<Mutex<usize>>) {
    let seen = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&seen);
    let someone = Someone::new(move |call| {
        *counter.lock().unwrap() = call.number + 1;
        if call.number >= number && !call.over { Err(io::Error::other("killed")) } else { lacks.answer(call) }
    });
    (someone, seen)
}
