//! Line files that grow: whole lines only, whatever happened to the last one.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::{PathError, at};

/// Bytes that an [`AppendLog`] holds back before it writes on its own.
const BUFFER: usize = 64 * 1024;

/// Appends one line by one write, so that lines of several processes do not mix. A last line that a crash left
/// without its end is closed first, and stays a line of its own. Readers skip empty lines: where two processes heal
/// the same line at once, one is left.
///
/// # Errors
/// The file cannot be opened or written, or the text holds a line feed.
pub fn append_line(path: &Utf8Path, line: &str) -> Result<(), PathError> {
    let fail = at("append to", path);
    check_line(line).map_err(&fail)?;
    let mut file = open(path).map_err(&fail)?;
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if is_torn(&mut file).map_err(&fail)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    let written = file.write(&bytes).map_err(&fail)?;
    if written == bytes.len() {
        return Ok(());
    }
    // The rest would be a second write, and another process's line may lie between: the next append heals it.
    Err(fail(io::Error::new(io::ErrorKind::StorageFull, "only a part of the line could be written")))
}

fn check_line(line: &str) -> io::Result<()> {
    if line.contains('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a line cannot hold a line feed"));
    }
    Ok(())
}

fn open(path: &Utf8Path) -> io::Result<File> {
    super::fence::check(path)?;
    OpenOptions::new().read(true).append(true).create(true).open(path)
}

/// Whether the file ends without a line feed.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    Ok(file.read(&mut last)? == 1 && last != *b"\n")
}

/// A line file with one writer: lines gather in a buffer and go to the disk together.
///
/// The journal's group commit: [`append`](Self::append) each event, [`sync`](Self::sync) once before anyone is shown
/// any of them. What was not written when the process is killed is lost; what was dropped normally is written.
#[derive(Debug)]
pub struct AppendLog {
    file: File,
    path: Utf8PathBuf,
    waiting: Vec<u8>,
    unsynced: bool,
}

impl AppendLog {
    /// Opens the file (created if absent) behind its last whole line.
    ///
    /// # Errors
    /// It cannot be opened or healed.
    pub fn open(path: &Utf8Path) -> Result<Self, PathError> {
        let mut file = open(path).map_err(at("open", path))?;
        let torn = is_torn(&mut file).map_err(at("read", path))?;
        let waiting = if torn { vec![b'\n'] } else { Vec::new() };
        Ok(Self { file, path: path.to_owned(), waiting, unsynced: false })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Adds one line; at the disk after [`sync`](Self::sync).
    ///
    /// # Errors
    /// The text holds a line feed, or the buffer was full and could not be written. In the second case the line is
    /// kept and tried again with the next write.
    pub fn append(&mut self, line: &str) -> Result<(), PathError> {
        check_line(line).map_err(at("append to", &self.path))?;
        self.waiting.extend_from_slice(line.as_bytes());
        self.waiting.push(b'\n');
        if self.waiting.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Writes what waits, so that other processes can read it, without waiting for the disk.
    ///
    /// # Errors
    /// It could not be written whole; what is left is kept for the next try.
    pub fn flush(&mut self) -> Result<(), PathError> {
        while !self.waiting.is_empty() {
            match self.file.write(&self.waiting) {
                Ok(0) => return Err(at("append to", &self.path)(io::ErrorKind::WriteZero.into())),
                Ok(written) => {
                    self.waiting.drain(..written);
                    self.unsynced = true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(at("append to", &self.path)(source)),
            }
        }
        Ok(())
    }

    /// Writes what waits and returns when it is on the disk; cheap when nothing is new.
    ///
    /// # Errors
    /// It could not be written or flushed.
    pub fn sync(&mut self) -> Result<(), PathError> {
        self.flush()?;
        if self.unsynced {
            self.file.sync_data().map_err(at("flush", &self.path))?;
            self.unsynced = false;
        }
        Ok(())
    }
}

impl Drop for AppendLog {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!("{error}");
        }
    }
}
