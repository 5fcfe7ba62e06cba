//! The calls themselves where there is no Unix: by name, after a look at every folder on the way. There is neither an
//! exchange nor a rename that replaces nothing in the standard library there, so hard links and three renames stand in
//! (`disk.rs`), and a crash between a link and the removal of the first name is reported as a conflict.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use camino::Utf8Path;
use sha2::{Digest as _, Sha256};

use super::{Content, Found};

/// A folder, and paths relative to it.
#[derive(Debug)]
pub(super) struct Root(PathBuf);

/// What identifies a file on this machine: not told by the standard library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(Never);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Never {}

/// Whether a path may be used here: text, without what would be another separator, a drive or a stream.
pub(super) fn can_hold(path: &[u8]) -> bool {
    std::str::from_utf8(path).is_ok_and(|path| !path.contains(['\\', ':']))
}

/// The content as a file here can have it: nothing is executable by its mode.
pub(super) fn as_kept_here(content: Content) -> Content {
    match content {
        Content::File { sha256, .. } => Content::File { executable: false, sha256 },
        other => other,
    }
}

impl Root {
    pub(super) fn open(path: &Utf8Path) -> io::Result<Self> {
        Ok(Self(std::fs::canonicalize(path)?))
    }

    pub(super) fn look(&self, path: &[u8]) -> io::Result<Found> {
        match self.inside(path).and_then(|path| look_at(&path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Is(Content::Absent)),
            Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(Found::Behind),
            other => other,
        }
    }

    pub(super) fn identity(&self, path: &[u8]) -> io::Result<Option<Identity>> {
        let _ = self.inside(path)?;
        Ok(None)
    }

    pub(super) fn mode(&self, path: &[u8]) -> io::Result<Option<u32>> {
        Ok(if self.look(path)?.is(Content::Absent) { None } else { Some(0) })
    }

    pub(super) fn is_beside(&self, _: &[u8], _: &Self) -> io::Result<Option<bool>> {
        Ok(None)
    }

    pub(super) fn set_mode(&self, path: &[u8], _: u32) -> io::Result<()> {
        self.inside(path).map(drop)
    }

    pub(super) fn make_folder(&self, path: &[u8]) -> io::Result<()> {
        std::fs::create_dir(self.inside(path)?)
    }

    pub(super) fn remove_folder(&self, path: &[u8]) -> io::Result<()> {
        std::fs::remove_dir(self.inside(path)?)
    }

    pub(super) fn remove_file(&self, path: &[u8]) -> io::Result<()> {
        std::fs::remove_file(self.inside(path)?)
    }

    pub(super) fn rename(&self, from: &[u8], target: &Self, to: &[u8]) -> io::Result<()> {
        std::fs::rename(self.inside(from)?, target.inside(to)?)
    }

    pub(super) fn rename_new(&self, from: &[u8], target: &Self, to: &[u8]) -> io::Result<()> {
        let _ = (self.inside(from)?, target.inside(to)?);
        Err(ErrorKind::Unsupported.into())
    }

    pub(super) fn exchange(&self, one: &[u8], target: &Self, two: &[u8]) -> io::Result<()> {
        self.rename_new(one, target, two)
    }

    pub(super) fn link(&self, from: &[u8], target: &Self, to: &[u8]) -> io::Result<()> {
        match std::fs::hard_link(self.inside(from)?, target.inside(to)?) {
            Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                Err(ErrorKind::Unsupported.into())
            }
            other => other,
        }
    }

    /// Folders cannot be flushed here, and a file only by who may write to it.
    pub(super) fn flush(&self, path: &[u8]) -> io::Result<()> {
        let path = if path.is_empty() { self.0.clone() } else { self.inside(path)? };
        if !path.is_file() || path.metadata()?.permissions().readonly() {
            return Ok(());
        }
        OpenOptions::new().write(true).open(path)?.sync_all()
    }

    fn inside(&self, path: &[u8]) -> io::Result<PathBuf> {
        let text = std::str::from_utf8(path).map_err(|_| ErrorKind::InvalidInput)?;
        let mut here = self.0.clone();
        let mut parts = text.split('/').peekable();
        while let Some(part) = parts.next() {
            here.push(part);
            if parts.peek().is_some() && !here.symlink_metadata()?.is_dir() {
                return Err(ErrorKind::NotADirectory.into());
            }
        }
        Ok(here)
    }
}

fn look_at(path: &std::path::Path) -> io::Result<Found> {
    let kind = path.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        let target = std::fs::read_link(path)?;
        let sha256 = Sha256::digest(target.to_string_lossy().replace('\\', "/").as_bytes()).into();
        return Ok(Found::Is(Content::Link { sha256 }));
    }
    if kind.is_dir() {
        return Ok(Found::Folder);
    }
    if !kind.is_file() {
        return Ok(Found::Special);
    }
    let sha256 = super::disk::sha256(File::open(path)?)?;
    Ok(Found::Is(Content::File { executable: false, sha256 }))
}
