//! Replacing whole files so that no reader ever sees a part.

#[cfg(unix)]
use std::fs::File;
use std::fs::Permissions;
use std::io::{self, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::{Builder, NamedTempFile};

use super::{PathError, at};

/// Front of the names of temporary files; what is left of them after a crash is known by it.
const TEMPORARY: &str = ".planex-write-";

/// Longest chain of symbolic links that is followed (the kernel's own limit).
const MAX_LINKS: u32 = 40;

/// Replaces the file at `path` (or creates it) so that a reader sees the old content or the new at any instant, and
/// that the new one is on the disk when this returns.
///
/// A temporary file in the same folder is written, flushed and renamed, then the folder is flushed. Where `path` is a
/// symbolic link, the file it leads to is replaced and the link stays. The mode of the file stays; a new one gets
/// what the umask leaves of 0666. On any error the old file is whole and nothing is left beside it.
///
/// # Errors
/// The folder is absent or read-only, the disk is full, or the path is a folder.
pub fn write_atomic(path: &Utf8Path, bytes: &[u8]) -> Result<(), PathError> {
    replace(path, bytes, 0o666, true)
}

/// As [`write_atomic`], without waiting for the disk: whole for every reader, but after a loss of power possibly the
/// old content or none. For files that a restart makes anew.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_atomic_nosync(path: &Utf8Path, bytes: &[u8]) -> Result<(), PathError> {
    replace(path, bytes, 0o666, false)
}

/// As [`write_atomic`]; a new file is readable by its owner alone (0600) from its first byte on.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_private(path: &Utf8Path, bytes: &[u8]) -> Result<(), PathError> {
    replace(path, bytes, 0o600, true)
}

fn replace(path: &Utf8Path, bytes: &[u8], new_mode: u32, sync: bool) -> Result<(), PathError> {
    let fail = at("write", path);
    let target = super::fence::check(path).and_then(|()| resolve_links(path)).map_err(&fail)?;
    let folder = match target.parent() {
        Some(parent) if parent.as_str().is_empty() => Utf8Path::new("."),
        Some(parent) => parent,
        None => return Err(fail(io::ErrorKind::IsADirectory.into())),
    };
    let kept = match std::fs::metadata(&target) {
        Ok(meta) if meta.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
        Ok(meta) => Some(meta.permissions()),
        Err(_) => None,
    };
    let mut temporary = create(folder, new_mode).map_err(&fail)?;
    fill(&mut temporary, bytes, kept, sync).map_err(&fail)?;
    temporary.persist(&target).map_err(|error| fail(error.error))?;
    if sync {
        sync_folder(folder).map_err(&fail)?;
    }
    Ok(())
}

fn fill(file: &mut NamedTempFile, bytes: &[u8], mode: Option<Permissions>, sync: bool) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    if sync { file.as_file().sync_all() } else { Ok(()) }
}

fn create(folder: &Utf8Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(TEMPORARY).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder.tempfile_in(folder)
}

/// The path that a write to `path` has to replace: `path` itself, or what its chain of links leads to.
fn resolve_links(path: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let mut here = path.to_owned();
    for _ in 0..MAX_LINKS {
        match here.read_link_utf8() {
            Ok(next) => here = here.parent().unwrap_or(Utf8Path::new("")).join(next),
            // Not a link, or not there: the end of the chain.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => {
                return Ok(here);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Waits until what was changed in the folder is on the disk.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Utf8Path) -> io::Result<()> {
    flush(&File::open(folder)?)
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Utf8Path) -> io::Result<()> {
    Ok(())
}

/// Waits until the open file or folder is on the disk.
#[cfg(unix)]
pub(crate) fn flush(file: &File) -> io::Result<()> {
    match file.sync_all() {
        // Some file systems cannot flush a folder; a rename is as durable there as it can be.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

/// Removes the temporary files that writers killed in the middle of a write left in `folder`; gives their number.
/// Only for the holder of the session's lock: a living writer's file would go as well.
///
/// # Errors
/// The folder cannot be listed or a file not removed.
pub fn remove_temporaries(folder: &Utf8Path) -> Result<usize, PathError> {
    let mut removed = 0;
    for entry in super::list(folder)? {
        if entry.kind == super::EntryKind::File && entry.name.starts_with(TEMPORARY) && entry.name.ends_with(".tmp") {
            super::remove_file(&entry.path)?;
            removed += 1;
        }
    }
    Ok(removed)
}
