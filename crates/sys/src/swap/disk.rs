//! The places of a write, and every call that changes one of them: tests stop, refuse or interleave at each.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind, Read};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use super::journal::{Journal, State};
use super::system::{Identity, Root};
use super::{Content, Found};
use crate::fs::{self, PathError};

/// Folder of the staged files, by their paths.
pub(super) const STAGED: &str = "new";

/// Folder of what is on the other side of the exchange: first the new files, then the old ones.
pub(super) const HELD: &str = "held";

/// Folder where a file waits while two names are exchanged in three steps.
pub(super) const SPARE: &str = "spare";

/// A folder that is made ready to come back to the tree.
pub(super) const FOLDER: &str = "folder";

/// Front of the names of folders of what could neither be put back nor dropped.
pub(super) const KEPT: &str = "kept-";

/// Bytes that are read at once for a hash.
const CHUNK: usize = 64 * 1024;

/// A place of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// In the user's tree; empty: its top.
    Tree(&'a [u8]),
    /// A staged file.
    Staged(&'a [u8]),
    /// The counterpart of a step's path.
    Held(usize),
    /// Where a step's file waits.
    Spare(usize),
    /// A file or folder below the folder of the write; empty: that folder.
    Own(&'a str),
}

/// A call that changes the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Rename,
    RenameNew,
    Exchange,
    Link,
    RemoveFile,
    MakeFolder,
    RemoveFolder,
    SetMode,
    Flush,
    WriteJournal,
}

impl Op {
    fn verb(self) -> &'static str {
        match self {
            Self::Rename | Self::RenameNew => "move",
            Self::Exchange => "replace",
            Self::Link => "link",
            Self::RemoveFile => "remove",
            Self::MakeFolder => "create the folder",
            Self::RemoveFolder => "remove the folder",
            Self::SetMode => "set the mode of",
            Self::Flush => "flush",
            Self::WriteJournal => "write",
        }
    }
}

/// Stands beside every call that changes the disk. Nobody does outside of tests.
pub(super) trait Watch: fmt::Debug + Send {
    /// Just before the call, with the place that it changes; an error stands for the call's own.
    fn before(&mut self, _: Op, _: Place<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Just after the call went well.
    fn after(&mut self, _: Op, _: Place<'_>) {}
}

/// Nobody watches.
#[derive(Debug)]
pub(super) struct Nobody;

impl Watch for Nobody {}

/// The tree and the folder of the write, both open.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) top: Utf8PathBuf,
    pub(super) dir: Utf8PathBuf,
    tree: Root,
    own: Root,
    watch: Box<dyn Watch>,
}

impl Disk {
    pub(super) fn open(top: &Utf8Path, dir: &Utf8Path, watch: Box<dyn Watch>) -> Result<Self, PathError> {
        let open = |path: &Utf8Path| Root::open(path).map_err(|source| PathError::new("open the folder", path, source));
        Ok(Self { tree: open(top)?, own: open(dir)?, top: top.to_owned(), dir: dir.to_owned(), watch })
    }

    fn at<'a>(&self, place: Place<'a>) -> (&Root, Cow<'a, [u8]>) {
        let below = |folder: &str, name: &[u8]| Cow::Owned([folder.as_bytes(), b"/", name].concat());
        match place {
            Place::Tree(path) => (&self.tree, Cow::Borrowed(path)),
            Place::Staged(path) => (&self.own, below(STAGED, path)),
            Place::Held(step) => (&self.own, below(HELD, step.to_string().as_bytes())),
            Place::Spare(step) => (&self.own, below(SPARE, step.to_string().as_bytes())),
            Place::Own(name) => (&self.own, Cow::Borrowed(name.as_bytes())),
        }
    }

    fn fail(&self, op: &'static str, place: Place<'_>, source: io::Error) -> PathError {
        let root = if matches!(place, Place::Tree(_)) { &self.top } else { &self.dir };
        PathError::new(op, root.join(&*String::from_utf8_lossy(&self.at(place).1)), source)
    }

    /// What is there.
    pub(super) fn look(&self, place: Place<'_>) -> Result<Found, PathError> {
        let (root, path) = self.at(place);
        root.look(&path).map_err(|source| self.fail("look at", place, source))
    }

    /// The permission bits of what is there.
    pub(super) fn mode(&self, place: Place<'_>) -> Result<Option<u32>, PathError> {
        let (root, path) = self.at(place);
        root.mode(&path).map_err(|source| self.fail("look at", place, source))
    }

    fn identity(&self, place: Place<'_>) -> Result<Option<Identity>, PathError> {
        let (root, path) = self.at(place);
        root.identity(&path).map_err(|source| self.fail("look at", place, source))
    }

    /// Fails if the folder in the tree is on another file system than the folder of the write.
    pub(super) fn require_beside(&self, folder: &[u8]) -> Result<(), PathError> {
        let place = Place::Tree(folder);
        match self.tree.is_beside(folder, &self.own).map_err(|source| self.fail("look at", place, source))? {
            Some(false) => {
                let reason = format!("it is on another file system than {}", self.dir);
                Err(self.fail("write to", place, io::Error::new(ErrorKind::CrossesDevices, reason)))
            }
            _ => Ok(()),
        }
    }

    fn act(&mut self, op: Op, place: Place<'_>, call: impl FnOnce(&Self) -> io::Result<()>) -> Result<(), PathError> {
        self.watch.before(op, place).and_then(|()| call(self)).map_err(|source| self.fail(op.verb(), place, source))?;
        self.watch.after(op, place);
        Ok(())
    }

    /// Moves to a place where nothing is that counts.
    pub(super) fn rename(&mut self, from: Place<'_>, to: Place<'_>) -> Result<(), PathError> {
        self.act(Op::Rename, in_tree(from, to), |disk| {
            let ((root, path), (target, new)) = (disk.at(from), disk.at(to));
            root.rename(&path, target, &new)
        })
    }

    /// Moves to a path of the tree if nothing is there, else fails with [`ErrorKind::AlreadyExists`].
    pub(super) fn rename_new(&mut self, from: Place<'_>, to: Place<'_>) -> Result<(), PathError> {
        let renamed = self.act(Op::RenameNew, to, |disk| {
            let ((root, path), (target, new)) = (disk.at(from), disk.at(to));
            root.rename_new(&path, target, &new)
        });
        match renamed {
            Err(error) if is_unsupported(&error) => self.link_new(from, to),
            other => other,
        }
    }

    fn link_new(&mut self, from: Place<'_>, to: Place<'_>) -> Result<(), PathError> {
        let linked = self.act(Op::Link, to, |disk| {
            let ((root, path), (target, new)) = (disk.at(from), disk.at(to));
            root.link(&path, target, &new)
        });
        match linked {
            Ok(()) => self.remove_file(from),
            Err(error) if is_unsupported(&error) => {
                if self.identity(to)?.is_some() {
                    return Err(self.fail("move", to, ErrorKind::AlreadyExists.into()));
                }
                self.rename(from, to)
            }
            Err(error) => Err(error),
        }
    }

    /// Exchanges what is at the step's path with its counterpart, both there.
    pub(super) fn exchange(&mut self, step: usize, path: &[u8]) -> Result<(), PathError> {
        let (tree, held, spare) = (Place::Tree(path), Place::Held(step), Place::Spare(step));
        let exchanged = self.act(Op::Exchange, tree, |disk| {
            let ((root, path), (target, other)) = (disk.at(tree), disk.at(held));
            root.exchange(&path, target, &other)
        });
        match exchanged {
            Err(error) if is_unsupported(&error) => {
                self.require_folder(Place::Own(SPARE))?;
                self.rename(tree, spare)?;
                self.rename_new(held, tree)?;
                self.rename(spare, held)
            }
            other => other,
        }
    }

    /// Finishes or takes back the half exchange that a crash left where an exchange takes more than one call. The
    /// tree itself only gets what is missing in it.
    pub(super) fn mend(&mut self, step: usize, path: &[u8]) -> Result<(), PathError> {
        let (tree, held, spare) = (Place::Tree(path), Place::Held(step), Place::Spare(step));
        let in_tree = self.identity(tree)?;
        if in_tree.is_some() && in_tree == self.identity(held)? {
            self.remove_file(held)?;
        }
        let waiting = self.identity(spare)?;
        if waiting.is_none() {
            return Ok(());
        }
        let counterpart = self.identity(held)?;
        if waiting == in_tree || waiting == counterpart {
            self.remove_file(spare)
        } else if counterpart.is_none() {
            self.rename(spare, held)
        } else {
            taken_is_fine(self.rename_new(spare, tree)).map(drop)
        }
    }

    pub(super) fn remove_file(&mut self, place: Place<'_>) -> Result<(), PathError> {
        self.act(Op::RemoveFile, place, |disk| {
            let (root, path) = disk.at(place);
            root.remove_file(&path)
        })
    }

    pub(super) fn make_folder(&mut self, place: Place<'_>) -> Result<(), PathError> {
        self.act(Op::MakeFolder, place, |disk| {
            let (root, path) = disk.at(place);
            root.make_folder(&path)
        })
    }

    /// Makes the folder unless it is there.
    pub(super) fn require_folder(&mut self, place: Place<'_>) -> Result<(), PathError> {
        if self.look(place)? == Found::Folder { Ok(()) } else { self.make_folder(place) }
    }

    /// Removes the folder if it is empty.
    pub(super) fn remove_folder(&mut self, place: Place<'_>) -> Result<(), PathError> {
        self.act(Op::RemoveFolder, place, |disk| {
            let (root, path) = disk.at(place);
            root.remove_folder(&path)
        })
    }

    pub(super) fn set_mode(&mut self, place: Place<'_>, mode: u32) -> Result<(), PathError> {
        self.act(Op::SetMode, place, |disk| {
            let (root, path) = disk.at(place);
            root.set_mode(&path, mode)
        })
    }

    /// Waits until the file or folder is on the disk.
    pub(super) fn flush(&mut self, place: Place<'_>) -> Result<(), PathError> {
        self.act(Op::Flush, place, |disk| {
            let (root, path) = disk.at(place);
            root.flush(&path)
        })
    }

    /// Writes the journal, on the disk with all that was done in the folder of the write before.
    pub(super) fn write_journal(&mut self, journal: &Journal) -> Result<(), PathError> {
        let name = State::Forward.file();
        let path = self.dir.join(name);
        let bytes = journal.write().map_err(|error| PathError::new("write", &path, error.into()))?;
        self.act(Op::WriteJournal, Place::Own(name), |_| fs::write_atomic(&path, &bytes).map_err(|error| error.source))
    }

    /// Notes, on the disk, how far the write is.
    pub(super) fn mark(&mut self, from: State, to: State) -> Result<(), PathError> {
        self.rename(Place::Own(from.file()), Place::Own(to.file()))?;
        self.flush(Place::Own(""))
    }
}

fn in_tree<'a>(from: Place<'a>, to: Place<'a>) -> Place<'a> {
    if matches!(to, Place::Tree(_)) { to } else { from }
}

/// What systems say where the file system has no such call.
fn is_unsupported(error: &PathError) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}

/// Whether a call went well, or `false` if the user's tree is not such that it could.
pub(super) fn taken_is_fine(result: Result<(), PathError>) -> Result<bool, PathError> {
    match result {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            ErrorKind::AlreadyExists
            | ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::DirectoryNotEmpty => Ok(false),
            _ => Err(error),
        },
    }
}

/// SHA-256 of all that is left to read.
pub(super) fn sha256(mut file: impl Read) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(read) => hash.update(&chunk[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The permission bits of a file that takes the place of one with the bits `mode`. The bits that run it as another
/// user do not go over to what an agent wrote.
pub(super) fn carried(mode: u32, new: Content) -> u32 {
    let mode = mode & 0o777;
    let Content::File { executable, .. } = new else { return mode };
    match (mode & 0o100 != 0, executable) {
        (false, true) => mode | (mode & 0o444) >> 2 | 0o100,
        (true, false) => mode & !0o111,
        _ => mode,
    }
}
