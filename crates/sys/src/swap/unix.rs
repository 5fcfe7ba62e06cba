//! The calls themselves, on Unix: every path is walked folder by folder from an open one, never through a symbolic link.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use camino::Utf8Path;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::{Content, Found};

/// An open folder, and paths relative to it.
#[derive(Debug)]
pub(super) struct Root(OwnedFd);

/// What identifies a file on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

/// Whether a path may be used here.
pub(super) fn can_hold(_: &[u8]) -> bool {
    true
}

/// The content as a file here can have it.
pub(super) fn as_kept_here(content: Content) -> Content {
    content
}

impl Root {
    /// Opens the folder; links to it are followed.
    pub(super) fn open(path: &Utf8Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(
            CWD,
            path.as_str(),
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?))
    }

    /// What is at the path.
    pub(super) fn look(&self, path: &[u8]) -> io::Result<Found> {
        let looked = self.inside(path).and_then(|(folder, name)| look_in(folder.as_fd(), name));
        match looked {
            Err(Errno::NOENT) => Ok(Found::Is(Content::Absent)),
            Err(Errno::NOTDIR) => Ok(Found::Behind),
            other => Ok(other?),
        }
    }

    /// The file itself, whatever its content; `None` if nothing is there or can be.
    pub(super) fn identity(&self, path: &[u8]) -> io::Result<Option<Identity>> {
        Ok(self.stat(path)?.map(|stat| identity(&stat)))
    }

    /// The permission bits; `None` if nothing is there or can be.
    pub(super) fn mode(&self, path: &[u8]) -> io::Result<Option<u32>> {
        Ok(self.stat(path)?.map(|stat| bits(Mode::from_raw_mode(stat.st_mode).bits())))
    }

    fn stat(&self, path: &[u8]) -> io::Result<Option<Stat>> {
        let stat =
            self.inside(path).and_then(|(folder, name)| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW));
        match stat {
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    /// Whether the folder `path` (empty: this one) is on the file system of the other one; `None` if it is absent.
    pub(super) fn is_beside(&self, path: &[u8], other: &Self) -> io::Result<Option<bool>> {
        match self.folder(path) {
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(folder) => {
                let (here, there) = (rustix::fs::fstat(folder)?, rustix::fs::fstat(&other.0)?);
                Ok(Some(here.st_dev == there.st_dev))
            }
        }
    }

    /// Sets the permission bits of a regular file or folder.
    pub(super) fn set_mode(&self, path: &[u8], mode: u32) -> io::Result<()> {
        let (folder, name) = self.inside(path)?;
        let file = open_in(folder.as_fd(), name)?;
        let mode = RawMode::try_from(mode).map_err(|_| ErrorKind::InvalidInput)?;
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
    }

    /// Makes a folder, as the umask will have it.
    pub(super) fn make_folder(&self, path: &[u8]) -> io::Result<()> {
        let (folder, name) = self.inside(path)?;
        Ok(rustix::fs::mkdirat(folder, name, Mode::RWXU | Mode::RWXG | Mode::RWXO)?)
    }

    /// Removes a folder if it is empty.
    pub(super) fn remove_folder(&self, path: &[u8]) -> io::Result<()> {
        let (folder, name) = self.inside(path)?;
        match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
            // Both are allowed for a folder that is not empty.
            Err(Errno::EXIST) => Err(Errno::NOTEMPTY.into()),
            other => Ok(other?),
        }
    }

    /// Removes a file or link.
    pub(super) fn remove_file(&self, path: &[u8]) -> io::Result<()> {
        let (folder, name) = self.inside(path)?;
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
    }

    /// Renames; what is at `to` is replaced.
    pub(super) fn rename(&self, from: &[u8], target: &Self, to: &[u8]) -> io::Result<()> {
        let ((folder, name), (other, new)) = (self.inside(from)?, target.inside(to)?);
        Ok(rustix::fs::renameat(folder, name, other, new)?)
    }

    /// Renames; fails with [`ErrorKind::AlreadyExists`] if something is at `to`, and with
    /// [`ErrorKind::Unsupported`] or [`ErrorKind::InvalidInput`] where the file system cannot.
    pub(super) fn rename_new(&self, from: &[u8], target: &Self, to: &[u8]) -> io::Result<()> {
        self.rename_with(from, target, to, Kind::New)
    }

    /// Exchanges what is at both paths in one step; fails like [`Root::rename_new`] where the file system cannot.
    pub(super) fn exchange(&self, one: &[u8], target: &Self, two: &[u8]) -> io::Result<()> {
        self.rename_with(one, target, two, Kind::Exchange)
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn rename_with(&self, from: &[u8], target: &Self, to: &[u8], kind: Kind) -> io::Result<()> {
        use rustix::fs::RenameFlags;
        let ((folder, name), (other, new)) = (self.inside(from)?, target.inside(to)?);
        let flags = match kind {
            Kind::New => RenameFlags::NOREPLACE,
            Kind::Exchange => RenameFlags::EXCHANGE,
        };
        Ok(rustix::fs::renameat_with(folder, name, other, new, flags)?)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn rename_with(&self, _: &[u8], _: &Self, _: &[u8], _: Kind) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    /// A second name for a file or link; fails with [`ErrorKind::AlreadyExists`] if something is at `to`.
    pub(super) fn link(&self, from: &[u8], target: &Self, to: &[u8]) -> io::Result<()> {
        let ((folder, name), (other, new)) = (self.inside(from)?, target.inside(to)?);
        match rustix::fs::linkat(folder, name, other, new, AtFlags::empty()) {
            // What a file system without hard links says.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK) => Err(ErrorKind::Unsupported.into()),
            other => Ok(other?),
        }
    }

    /// Flushes the file, or the folder (empty path: this one), to the disk. A link needs none.
    pub(super) fn flush(&self, path: &[u8]) -> io::Result<()> {
        let handle = match path {
            [] => self.0.try_clone()?,
            _ => {
                let (folder, name) = self.inside(path)?;
                open_in(folder.as_fd(), name)?
            }
        };
        crate::fs::flush(&File::from(handle))
    }

    /// The open folder that holds the path, and the name in it.
    fn inside<'a>(&self, path: &'a [u8]) -> Result<(OwnedFd, &'a [u8]), Errno> {
        let (folder, name) = super::plan::split(path);
        Ok((self.folder(folder)?, name))
    }

    fn folder(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut here = rustix::fs::openat(&self.0, ".", flags, Mode::empty())?;
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            here = open_as(here.as_fd(), name, flags)?;
        }
        Ok(here)
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    New,
    Exchange,
}

fn identity(stat: &Stat) -> Identity {
    Identity { device: wide(stat.st_dev), inode: wide(stat.st_ino) }
}

/// The widths of these differ between systems; of this one only equality counts.
fn wide(value: impl TryInto<u64>) -> u64 {
    value.try_into().unwrap_or(u64::MAX)
}

fn bits(mode: impl Into<u32>) -> u32 {
    mode.into()
}

/// Opens for reading without waiting for the other end of a FIFO.
fn open_in(folder: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open_as(folder, name, flags)
}

fn open_as(folder: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        // Systems differ in what they say of a symbolic link where none may be: one answer for all.
        Err(Errno::LOOP) => Err(Errno::NOTDIR),
        other => other,
    }
}

fn look_in(folder: BorrowedFd<'_>, name: &[u8]) -> Result<Found, Errno> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(Found::Folder),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
            Ok(Found::Is(Content::Link { sha256: Sha256::digest(target.as_bytes()).into() }))
        }
        FileType::RegularFile => look_at(File::from(open_in(folder, name)?)),
        _ => Ok(Found::Special),
    }
}

fn look_at(file: File) -> Result<Found, Errno> {
    // Asked again, for the name can lead to something else by now.
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Ok(Found::Folder),
        _ => return Ok(Found::Special),
    }
    let sha256 = super::disk::sha256(file).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let executable = Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR);
    Ok(Found::Is(Content::File { executable, sha256 }))
}
