//! Renames inside a tree, reached folder by folder without following symbolic links.

use std::io;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};

/// The file below a folder that a path of bytes names.
pub(super) fn below(folder: &Utf8Path, path: &[u8]) -> PathBuf {
    folder.as_std_path().join(os(path))
}

/// The same, for messages.
pub(super) fn shown(folder: &Utf8Path, path: &[u8]) -> Utf8PathBuf {
    folder.join(String::from_utf8_lossy(path).into_owned())
}

#[cfg(unix)]
fn os(path: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(path))
}

#[cfg(not(unix))]
fn os(path: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(path).into_owned())
}

/// The folders on the way to a path, from the top.
pub(super) fn parents(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let cuts: Vec<usize> = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).collect();
    cuts.into_iter().map(|at| path.get(..at).unwrap_or_default())
}

/// Told of each folder before it is made.
pub(super) type Making<'a> = &'a dyn Fn(&[u8]) -> io::Result<()>;

/// How a rename ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Renamed {
    /// As asked for.
    Yes,
    /// Something is where nothing was expected, or nothing where something was, or no folder is on the way.
    NotAsExpected,
}

#[cfg(unix)]
pub(super) use unix::Place;

#[cfg(not(unix))]
pub(super) use other::Place;

#[cfg(unix)]
mod unix {
    use std::os::fd::OwnedFd;

    use rustix::fs::{
        AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, mkdirat, openat, renameat, renameat_with, unlinkat,
    };
    use rustix::io::Errno;

    use super::{Making, Path, Renamed, Utf8Path, io, parents};

    /// A name in an open folder of the tree.
    #[derive(Debug)]
    pub(in crate::swap) struct Place {
        folder: OwnedFd,
        name: Vec<u8>,
    }

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    impl Place {
        /// The place of a path. `None`: a folder on the way is something else, or is missing and not to be made.
        /// `making` is told of each folder before it is made.
        pub(in crate::swap) fn find(
            top: &Utf8Path,
            path: &[u8],
            making: Option<Making<'_>>,
        ) -> io::Result<Option<Self>> {
            let mut folder =
                openat(CWD, top.as_std_path(), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            for parent in parents(path) {
                let name = parent.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                folder = match openat(&folder, name, FOLDER, Mode::empty()) {
                    Ok(next) => next,
                    Err(Errno::NOENT) => {
                        let Some(making) = making else { return Ok(None) };
                        making(parent)?;
                        match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                            Ok(()) | Err(Errno::EXIST) => {}
                            Err(error) => return Err(error.into()),
                        }
                        match openat(&folder, name, FOLDER, Mode::empty()) {
                            Ok(next) => next,
                            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => return Ok(None),
                            Err(error) => return Err(error.into()),
                        }
                    }
                    Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                    Err(error) => return Err(error.into()),
                };
            }
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_owned();
            Ok(Some(Self { folder, name }))
        }

        /// Moves a file of planex's here, where nothing may be.
        pub(in crate::swap) fn put(&self, from: &Path) -> io::Result<Renamed> {
            match renameat_with(CWD, from, &self.folder, &self.name, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    if let Err(error) = linkat(CWD, from, &self.folder, &self.name, AtFlags::empty()) {
                        return expected(Err(error));
                    }
                    unlinkat(CWD, from, AtFlags::empty())?;
                    Ok(Renamed::Yes)
                }
                result => expected(result),
            }
        }

        /// Moves what is here to a name of planex's, where nothing is.
        pub(in crate::swap) fn take(&self, to: &Path) -> io::Result<Renamed> {
            expected(renameat(&self.folder, &self.name, CWD, to))
        }

        /// Exchanges what is here with a file of planex's.
        pub(in crate::swap) fn exchange(&self, with: &Path) -> io::Result<Renamed> {
            match renameat_with(CWD, with, &self.folder, &self.name, RenameFlags::EXCHANGE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    let aside = with.with_extension("planex-aside");
                    if self.take(&aside)? == Renamed::NotAsExpected {
                        return Ok(Renamed::NotAsExpected);
                    }
                    let put = self.put(with)?;
                    std::fs::rename(&aside, with)?;
                    Ok(put)
                }
                result => expected(result),
            }
        }

        /// Removes an empty folder of this name; one that is not empty, or is none, stays.
        pub(in crate::swap) fn remove_folder(&self) {
            let _stays = unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR);
        }

        /// Flushes the folder that the name is in.
        pub(in crate::swap) fn flush(&self) -> io::Result<()> {
            match rustix::fs::fsync(&self.folder) {
                Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
                other => Ok(other?),
            }
        }
    }

    fn expected(result: rustix::io::Result<()>) -> io::Result<Renamed> {
        match result {
            Ok(()) => Ok(Renamed::Yes),
            Err(Errno::EXIST | Errno::NOENT | Errno::ISDIR | Errno::NOTDIR | Errno::NOTEMPTY) => {
                Ok(Renamed::NotAsExpected)
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
mod other {
    use super::{Making, Path, PathBuf, Renamed, Utf8Path, below, io, parents};

    /// A path of the tree.
    #[derive(Debug)]
    pub(in crate::swap) struct Place {
        path: PathBuf,
    }

    impl Place {
        pub(in crate::swap) fn find(
            top: &Utf8Path,
            path: &[u8],
            making: Option<Making<'_>>,
        ) -> io::Result<Option<Self>> {
            for parent in parents(path) {
                let folder = below(top, parent);
                match std::fs::symlink_metadata(&folder) {
                    Ok(meta) if meta.is_dir() => {}
                    Ok(_) => return Ok(None),
                    Err(_) => {
                        let Some(making) = making else { return Ok(None) };
                        making(parent)?;
                        std::fs::create_dir(&folder)?;
                    }
                }
            }
            Ok(Some(Self { path: below(top, path) }))
        }

        pub(in crate::swap) fn put(&self, from: &Path) -> io::Result<Renamed> {
            if std::fs::symlink_metadata(&self.path).is_ok() {
                return Ok(Renamed::NotAsExpected);
            }
            rename(from, &self.path)
        }

        pub(in crate::swap) fn take(&self, to: &Path) -> io::Result<Renamed> {
            rename(&self.path, to)
        }

        pub(in crate::swap) fn exchange(&self, with: &Path) -> io::Result<Renamed> {
            let aside = with.with_extension("planex-aside");
            if self.take(&aside)? == Renamed::NotAsExpected {
                return Ok(Renamed::NotAsExpected);
            }
            let put = self.put(with)?;
            rename(&aside, with)?;
            Ok(put)
        }

        pub(in crate::swap) fn remove_folder(&self) {
            let _stays = std::fs::remove_dir(&self.path);
        }

        pub(in crate::swap) fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the error is named by the caller, with the path in the tree")]
    fn rename(from: &Path, to: &Path) -> io::Result<Renamed> {
        match std::fs::rename(from, to) {
            Ok(()) => Ok(Renamed::Yes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Renamed::NotAsExpected),
            Err(error) => Err(error),
        }
    }
}
