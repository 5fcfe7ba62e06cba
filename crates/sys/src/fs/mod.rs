//! Files: every error names its path, every replacement is atomic.
//!
//! - [`write_atomic`] for whole files: a reader sees the old content or the new, never a part, at any instant.
//! - [`append_line`] and [`AppendLog`] for line files that grow.
//! - [`CappedLog`] for output of unknown size, [`MaskedLog`] where it may hold secrets.
//! - [`safe_join`] for names that come from plans, CSVs and agents.
//!
//! Only regular files are read: a FIFO or a device in a file's place would hang planex or never end. Nothing is written
//! through a symbolic link that leads out of a project's `.workflow/`.

mod append;
mod atomic;
mod capped;
mod fence;
mod join;
mod masked;
mod tree;

use std::fmt;
use std::fs::{File, Metadata};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

#[cfg(unix)]
pub(crate) use atomic::flush;
pub(crate) use atomic::sync_folder;

pub use append::{AppendLog, append_line};
pub use atomic::{remove_temporaries, write_atomic, write_atomic_nosync, write_private};
pub use capped::{CappedLog, CappedSummary};
pub(crate) use fence::check as check_fence;
pub use join::{JoinError, safe_join};
pub use masked::MaskedLog;
pub use tree::{copy_tree, copy_with_times, remove_tree, symlink};

/// A failure of the file system, with what was tried and where.
#[derive(Debug)]
pub struct PathError {
    /// What was tried, as a verb: `read`.
    pub op: &'static str,
    /// Where.
    pub path: Utf8PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl PathError {
    /// What was tried, where, and what the system said.
    pub fn new(op: &'static str, path: impl Into<Utf8PathBuf>, source: io::Error) -> Self {
        Self { op, path: path.into(), source }
    }

    /// The kind of the failure.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// Whether the file is simply not there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to {} {}: {}", self.op, self.path, self.source)
    }
}

impl std::error::Error for PathError {
    // The text above holds the system's words already: naming them as the source would print them twice.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.get_ref().and_then(std::error::Error::source)
    }
}

/// Turns a system error into one with its path.
fn at<'a>(op: &'static str, path: &'a Utf8Path) -> impl Fn(io::Error) -> PathError + 'a {
    move |source| PathError::new(op, path, source)
}

/// Opens a regular file for reading, without waiting for anyone.
///
/// # Errors
/// It cannot be opened, or is a folder, FIFO, socket or device.
pub fn open(path: &Utf8Path) -> Result<File, PathError> {
    open_regular(path).map_err(at("read", path))
}

fn open_regular(path: &Utf8Path) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    // A FIFO would keep the opener waiting until someone writes; on regular files the flag means nothing.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    let meta = file.metadata()?;
    if meta.is_file() {
        return Ok(file);
    }
    Err(match meta.is_dir() {
        true => io::ErrorKind::IsADirectory.into(),
        false => not_regular(),
    })
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file but a FIFO, socket or device")
}

/// The whole file.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub fn read(path: &Utf8Path) -> Result<Vec<u8>, PathError> {
    use std::io::Read as _;
    let read = || {
        let mut file = open_regular(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(at("read", path))
}

/// The whole file as text.
///
/// # Errors
/// It cannot be read, or is not UTF-8 (the first wrong byte is named).
pub fn read_to_string(path: &Utf8Path) -> Result<String, PathError> {
    String::from_utf8(read(path)?).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(byte).filter(|&&b| b == b'\n').count() + 1;
        let text = format!("invalid UTF-8 at byte {byte} (line {line})");
        PathError::new("read", path, io::Error::new(io::ErrorKind::InvalidData, text))
    })
}

/// The whole file, or `None` if it is absent.
///
/// # Errors
/// It is there and cannot be read.
pub fn read_if_exists(path: &Utf8Path) -> Result<Option<Vec<u8>>, PathError> {
    match read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// At most the first `limit` bytes of the file.
///
/// # Errors
/// It cannot be read.
pub fn read_head(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, PathError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    open_regular(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(at("read", path))?;
    Ok(bytes)
}

/// At most the last `limit` bytes of the file.
///
/// # Errors
/// It cannot be read.
pub fn read_tail(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, PathError> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || {
        let mut file = open_regular(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(at("read", path))
}

/// Creates the folder and those above it; one that is there is fine.
///
/// # Errors
/// It cannot be created.
pub fn create_dir_all(path: &Utf8Path) -> Result<(), PathError> {
    fence::check(path).and_then(|()| std::fs::create_dir_all(path)).map_err(at("create the folder", path))
}

/// Creates the folder; `false` if something of that name is there already. For names that must not be shared.
///
/// # Errors
/// It cannot be created for another reason.
pub fn create_dir_new(path: &Utf8Path) -> Result<bool, PathError> {
    match fence::check_parent(path).and_then(|()| std::fs::create_dir(path)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(PathError::new("create the folder", path, source)),
    }
}

/// Removes the file; an absent one is fine.
///
/// # Errors
/// It is there and cannot be removed.
pub fn remove_file(path: &Utf8Path) -> Result<(), PathError> {
    fence::check_parent(path).and_then(|()| absent_is_fine(std::fs::remove_file(path))).map_err(at("remove", path))
}

/// Removes the folder and all in it, without following symbolic links; an absent one is fine.
///
/// # Errors
/// Something in it cannot be removed.
pub fn remove_dir_all(path: &Utf8Path) -> Result<(), PathError> {
    fence::check_parent(path)
        .and_then(|()| absent_is_fine(std::fs::remove_dir_all(path)))
        .map_err(at("remove the folder", path))
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Renames within a file system, replacing a file of the new name.
///
/// # Errors
/// The system refuses; the error names the old path.
pub fn rename(from: &Utf8Path, to: &Utf8Path) -> Result<(), PathError> {
    let checked = fence::check_parent(from).and_then(|()| fence::check_parent(to));
    checked.and_then(|()| std::fs::rename(from, to)).map_err(at("rename", from))
}

/// Copies the content and the mode of a file.
///
/// # Errors
/// The source cannot be read or the target not written; the error names the source.
pub fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<u64, PathError> {
    fence::check(to).and_then(|()| std::fs::copy(from, to)).map_err(at("copy", from))
}

/// What a folder's entry is, symbolic links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A device, FIFO or socket.
    Other,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The folder joined with the name.
    pub path: Utf8PathBuf,
    /// What it is.
    pub kind: EntryKind,
}

/// The entries of a folder, by name. Names that are not UTF-8 are left out: no path of planex can hold them.
///
/// # Errors
/// The folder cannot be read.
pub fn list(path: &Utf8Path) -> Result<Vec<Entry>, PathError> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(at("list", path))? {
        let entry = entry.map_err(at("list", path))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = match entry.file_type().map_err(at("list", path))? {
            kind if kind.is_symlink() => EntryKind::Symlink,
            kind if kind.is_dir() => EntryKind::Dir,
            kind if kind.is_file() => EntryKind::File,
            _ => EntryKind::Other,
        };
        entries.push(Entry { path: path.join(&name), name, kind });
    }
    entries.sort();
    Ok(entries)
}

/// Whether something is there, symbolic links followed.
#[must_use]
pub fn exists(path: &Utf8Path) -> bool {
    path.exists()
}

/// Whether a folder is there, symbolic links followed.
#[must_use]
pub fn is_dir(path: &Utf8Path) -> bool {
    path.is_dir()
}

/// Whether a regular file is there, symbolic links followed.
#[must_use]
pub fn is_file(path: &Utf8Path) -> bool {
    path.is_file()
}

/// Size, times and mode, symbolic links followed.
///
/// # Errors
/// It is absent or out of reach.
pub fn metadata(path: &Utf8Path) -> Result<Metadata, PathError> {
    std::fs::metadata(path).map_err(at("look at", path))
}

/// Absolute path without symbolic links and `..`.
///
/// # Errors
/// It is absent, out of reach or not UTF-8.
pub fn canonicalize(path: &Utf8Path) -> Result<Utf8PathBuf, PathError> {
    path.canonicalize_utf8().map_err(at("resolve", path))
}

/// Bytes of all regular files below the folder, symbolic links not followed; what cannot be read counts nothing.
#[must_use]
pub fn dir_size(path: &Utf8Path) -> u64 {
    let mut total = 0;
    let mut folders = vec![path.as_std_path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) if meta.is_file() => total += meta.len(),
                _ => {}
            }
        }
    }
    total
}

/// Makes the file readable and writable by its owner alone (0600; a folder 0700). Does nothing on Windows.
///
/// # Errors
/// The mode cannot be changed.
pub fn set_private(path: &Utf8Path) -> Result<(), PathError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        let permissions = std::fs::Permissions::from_mode(mode);
        let checked = fence::check(path);
        checked.and_then(|()| std::fs::set_permissions(path, permissions)).map_err(at("make private", path))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests;
