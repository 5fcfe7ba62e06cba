//! Output of unknown size on a disk of known size: the head and the tail are kept, the gap is said.
//!
//! The head goes to the file itself. Once half of the cap is used, the rest goes to two parts beside it in turn
//! (`….tail-old`, `….tail-new`, a quarter of the cap each): when the newer is full, the older is dropped. At the end
//! the parts are joined to the file behind a line that says how much is missing. A process killed before that leaves
//! the parts, and [`CappedLog::heal`] joins them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::{PathError, at};

/// Smallest cap that is respected, in bytes; a smaller one is taken as this.
const MIN_CAP: u64 = 1024;

/// What became of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CappedSummary {
    /// Bytes that came.
    pub total: u64,
    /// Bytes that were left out between head and tail.
    pub left_out: u64,
}

/// A file that takes any amount of any bytes and keeps at most its cap (and the line that tells the gap).
#[derive(Debug)]
pub struct CappedLog {
    path: Utf8PathBuf,
    file: File,
    cap: u64,
    total: u64,
    head: u64,
    tail: Option<Tail>,
}

#[derive(Debug)]
struct Tail {
    new: File,
    /// Bytes in the newer part.
    new_len: u64,
    /// Bytes in the older part; 0 while there is none.
    old_len: u64,
}

impl CappedLog {
    /// Creates the file, empty, and removes parts of an earlier one. The disk holds at most `cap` bytes of output, for
    /// the instant of [`finish`](Self::finish) a half more.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn create(path: &Utf8Path, cap: u64) -> Result<Self, PathError> {
        for part in [old_part(path), new_part(path)] {
            super::remove_file(&part)?;
        }
        let file = create(path).map_err(at("create", path))?;
        Ok(Self { path: path.to_owned(), file, cap: cap.max(MIN_CAP), total: 0, head: 0, tail: None })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Bytes that came so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds output. Written through at once, so that others can follow; nothing is held in memory.
    ///
    /// # Errors
    /// The disk refuses it.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), PathError> {
        self.total += bytes.len() as u64;
        let room = self.cap / 2 - self.head;
        let (head, rest) = bytes.split_at(clamp(room, bytes.len()));
        if !head.is_empty() {
            self.file.write_all(head).map_err(at("write", &self.path))?;
            self.head += head.len() as u64;
        }
        bytes = rest;
        while !bytes.is_empty() {
            let room = self.room_in_tail()?;
            let (now, later) = bytes.split_at(clamp(room, bytes.len()));
            self.write_tail(now)?;
            bytes = later;
        }
        Ok(())
    }

    /// Bytes that the newer part still takes, after a turn of the parts if it was full.
    fn room_in_tail(&mut self) -> Result<u64, PathError> {
        let part = self.cap / 4;
        let (new, old) = (new_part(&self.path), old_part(&self.path));
        match &mut self.tail {
            None => {
                let file = create(&new).map_err(at("create", &new))?;
                self.tail = Some(Tail { new: file, new_len: 0, old_len: 0 });
                Ok(part)
            }
            Some(tail) if tail.new_len < part => Ok(part - tail.new_len),
            Some(tail) => {
                super::rename(&new, &old)?;
                tail.new = create(&new).map_err(at("create", &new))?;
                tail.old_len = tail.new_len;
                tail.new_len = 0;
                Ok(part)
            }
        }
    }

    fn write_tail(&mut self, bytes: &[u8]) -> Result<(), PathError> {
        if let Some(tail) = &mut self.tail {
            tail.new.write_all(bytes).map_err(at("write", &self.path))?;
            tail.new_len += bytes.len() as u64;
        }
        Ok(())
    }

    /// Joins head and tail into the file.
    ///
    /// # Errors
    /// The disk refuses it; then the parts stay beside the head.
    pub fn finish(mut self) -> Result<CappedSummary, PathError> {
        let kept = self.head + self.tail.as_ref().map_or(0, |tail| tail.old_len + tail.new_len);
        let left_out = self.total - kept;
        if self.tail.take().is_some() {
            join_parts(&self.path, &mut self.file, (left_out > 0).then_some(left_out))?;
        }
        Ok(CappedSummary { total: self.total, left_out })
    }

    /// Joins the parts that a killed writer left beside the file at `path`; `false` if there were none.
    ///
    /// # Errors
    /// The disk refuses it; then what is not joined yet stays.
    pub fn heal(path: &Utf8Path) -> Result<bool, PathError> {
        let (old, new) = (old_part(path), new_part(path));
        if !super::exists(&old) && !super::exists(&new) {
            return Ok(false);
        }
        let open = || OpenOptions::new().append(true).create(true).open(path);
        let mut file = super::fence::check(path).and_then(|()| open()).map_err(at("open", path))?;
        let gap = super::exists(&old);
        join_parts(path, &mut file, gap.then_some(0))?;
        Ok(true)
    }
}

/// Appends the parts to the file; `gap` says that something may be missing before them (0: not known how much).
fn join_parts(path: &Utf8Path, file: &mut File, gap: Option<u64>) -> Result<(), PathError> {
    match gap {
        Some(0) => writeln!(file, "\n[planex: a part of the output is left out here, the log is capped]"),
        Some(bytes) => writeln!(file, "\n[planex: {bytes} bytes of output are left out here, the log is capped]"),
        None => Ok(()),
    }
    .map_err(at("write", path))?;
    for part in [old_part(path), new_part(path)] {
        match super::open_regular(&part) {
            Ok(mut from) => io::copy(&mut from, file).map_err(at("write", path))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(PathError::new("read", part, error)),
        };
        super::remove_file(&part)?;
    }
    Ok(())
}

fn create(path: &Utf8Path) -> io::Result<File> {
    super::fence::check(path)?;
    // Opening a FIFO for writing waits for its reader.
    if path.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(super::not_regular());
    }
    File::create(path)
}

fn clamp(room: u64, length: usize) -> usize {
    usize::try_from(room).unwrap_or(usize::MAX).min(length)
}

fn old_part(path: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{path}.tail-old"))
}

fn new_part(path: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{path}.tail-new"))
}
