//! Whole trees: copying with shared blocks, removing whatever their modes say, links.

use std::fs::FileTimes;
use std::io;
use std::path::Path;

use camino::Utf8Path;

use super::{EntryKind, PathError, at};

/// Copies content, mode and times of a file.
///
/// # Errors
/// The source cannot be read or the target not written; the error names the source.
pub fn copy_with_times(from: &Utf8Path, to: &Utf8Path) -> Result<(), PathError> {
    let copy = || {
        std::fs::copy(from, to)?;
        let meta = std::fs::metadata(from)?;
        let times = FileTimes::new().set_modified(meta.modified()?);
        std::fs::File::options().write(true).open(to)?.set_times(times)
    };
    copy().map_err(at("copy", from))
}

/// Copies a file or a folder with all below it: modes and symbolic links as they are, blocks shared where the file
/// system can (never hard links). FIFOs, sockets and devices are left out.
///
/// # Errors
/// Something cannot be read or written; what was copied until then stays.
pub fn copy_tree(from: &Utf8Path, to: &Utf8Path) -> Result<(), PathError> {
    let meta = std::fs::symlink_metadata(from).map_err(at("look at", from))?;
    if !meta.is_dir() {
        return copy_entry(from.as_std_path(), to.as_std_path()).map_err(at("copy", from));
    }
    let mut folders = vec![(from.as_std_path().to_owned(), to.as_std_path().to_owned())];
    while let Some((from_dir, to_dir)) = folders.pop() {
        let copy = || -> io::Result<Vec<_>> {
            std::fs::create_dir_all(&to_dir)?;
            let mut below = Vec::new();
            for entry in std::fs::read_dir(&from_dir)? {
                let entry = entry?;
                let target = to_dir.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    below.push((entry.path(), target));
                } else {
                    copy_entry(&entry.path(), &target)?;
                }
            }
            Ok(below)
        };
        folders.extend(copy().map_err(at("copy", from))?);
    }
    Ok(())
}

fn copy_entry(from: &Path, to: &Path) -> io::Result<()> {
    let meta = std::fs::symlink_metadata(from)?;
    if meta.is_symlink() {
        return link_to(&std::fs::read_link(from)?, to);
    }
    if !meta.is_file() {
        return Ok(());
    }
    if !reflink(from, to, &meta)? {
        std::fs::copy(from, to)?;
    }
    Ok(())
}

/// Shares the blocks of a file; `false` if the file system cannot.
#[cfg(target_os = "linux")]
fn reflink(from: &Path, to: &Path, meta: &std::fs::Metadata) -> io::Result<bool> {
    let source = std::fs::File::open(from)?;
    let target = std::fs::File::options().write(true).create(true).truncate(true).open(to)?;
    if rustix::fs::ioctl_ficlone(&target, &source).is_err() {
        return Ok(false);
    }
    target.set_permissions(meta.permissions())?;
    Ok(true)
}

/// `std::fs::copy` shares blocks itself on macOS.
#[cfg(not(target_os = "linux"))]
fn reflink(_from: &Path, _to: &Path, _meta: &std::fs::Metadata) -> io::Result<bool> {
    Ok(false)
}

/// Makes a symbolic link at `link` to `target`.
///
/// # Errors
/// Something is there, or the system refuses.
pub fn symlink(target: &Utf8Path, link: &Utf8Path) -> Result<(), PathError> {
    link_to(target.as_std_path(), link.as_std_path()).map_err(at("make a link at", link))
}

#[cfg(unix)]
fn link_to(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn link_to(target: &Path, link: &Path) -> io::Result<()> {
    if target.is_dir() {
        std::os::windows::fs::symlink_dir(target, link)
    } else {
        std::os::windows::fs::symlink_file(target, link)
    }
}

/// Removes a folder and all in it, also where the modes of folders forbid it (caches of tools are read-only); an absent
/// one is fine. Symbolic links are not followed.
///
/// # Errors
/// Something in it cannot be removed.
pub fn remove_tree(path: &Utf8Path) -> Result<(), PathError> {
    match super::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path);
            super::remove_dir_all(path)
        }
        other => other,
    }
}

#[cfg(unix)]
fn make_writable(path: &Utf8Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        // What stays closed is named by the removal that follows.
        let _closed = std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700));
        let entries = super::list(&folder).unwrap_or_default();
        folders.extend(entries.into_iter().filter(|entry| entry.kind == EntryKind::Dir).map(|entry| entry.path));
    }
}

#[cfg(not(unix))]
fn make_writable(_path: &Utf8Path) {
    let _ = EntryKind::Dir;
}
