//! What a write is to do, on the disk before the first change; its name says how far the write is.

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::{Content, Step, SwapError};
use crate::fs;

/// Version of the journal's form.
const FORMAT: u32 = 1;

/// How far a write is. Going on is a rename of the journal, which needs no room on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The changes are being put into the tree.
    Forward,
    /// They are being taken out again.
    Back,
    /// All are in the tree.
    Done,
    /// None is in the tree.
    Undone,
}

impl State {
    /// All of them.
    pub(super) const ALL: [Self; 4] = [Self::Forward, Self::Back, Self::Done, Self::Undone];

    /// Name of the journal in this state.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Forward => "journal",
            Self::Back => "journal.back",
            Self::Done => "journal.done",
            Self::Undone => "journal.undone",
        }
    }
}

/// A folder that goes when the files in it are gone, and has to come back with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Emptied {
    pub(super) path: Vec<u8>,
    /// Permission bits.
    pub(super) mode: u32,
}

/// All that a write needs to know, besides what is on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Journal {
    /// In the order in which they are carried out: deletions first.
    pub(super) steps: Vec<Step>,
    /// Folders that may be empty after the deletions, deepest first.
    pub(super) emptied: Vec<Emptied>,
    /// Folders that are missing for new files, the outermost first.
    pub(super) missing: Vec<Vec<u8>>,
    /// Folder of what could neither be put back nor dropped, below that of the write: no other write has it.
    pub(super) kept: String,
}

/// The form on the disk. Bytes are hexadecimal digits, for names need not be text.
#[derive(Serialize, Deserialize)]
struct Written {
    format: u32,
    steps: Vec<WrittenStep>,
    emptied: Vec<(String, u32)>,
    missing: Vec<String>,
    kept: String,
}

#[derive(Serialize, Deserialize)]
struct WrittenStep {
    path: String,
    old: String,
    new: String,
}

impl Journal {
    /// The bytes of the journal.
    pub(super) fn write(&self) -> serde_json::Result<Vec<u8>> {
        let step = |step: &Step| WrittenStep { path: hex(&step.path), old: write(step.old), new: write(step.new) };
        serde_json::to_vec(&Written {
            format: FORMAT,
            steps: self.steps.iter().map(step).collect(),
            emptied: self.emptied.iter().map(|folder| (hex(&folder.path), folder.mode)).collect(),
            missing: self.missing.iter().map(|path| hex(path)).collect(),
            kept: self.kept.clone(),
        })
    }

    /// The journal below `dir` and how far the write is; `None` if there is none.
    pub(super) fn load(dir: &Utf8Path) -> Result<Option<(Self, State)>, SwapError> {
        for state in State::ALL {
            let path = dir.join(state.file());
            let Some(bytes) = fs::read_if_exists(&path)? else { continue };
            return match Self::read(&bytes) {
                Ok(journal) => Ok(Some((journal, state))),
                Err(reason) => Err(SwapError::Journal { path, reason }),
            };
        }
        Ok(None)
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        let written: Written = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if written.format != FORMAT {
            return Err(format!("its form {} is not known to this planex", written.format));
        }
        let path = |digits: &str| {
            let path = bytes_of(digits).ok_or_else(|| format!("`{digits}` is no path"))?;
            super::plan::check_path(&path).map_err(|error| error.to_string())?;
            Ok::<_, String>(path)
        };
        let content = |text: &str| read(text).ok_or_else(|| format!("`{text}` is no content"));
        let mut journal = Self { kept: written.kept, ..Self::default() };
        for step in &written.steps {
            let (old, new) = (content(&step.old)?, content(&step.new)?);
            journal.steps.push(Step { path: path(&step.path)?, old, new });
        }
        for (digits, mode) in &written.emptied {
            journal.emptied.push(Emptied { path: path(digits)?, mode: *mode });
        }
        for digits in &written.missing {
            journal.missing.push(path(digits)?);
        }
        Ok(journal)
    }
}

fn write(content: Content) -> String {
    match content {
        Content::Absent => "absent".to_owned(),
        Content::File { executable: false, sha256 } => format!("file {}", hex(&sha256)),
        Content::File { executable: true, sha256 } => format!("program {}", hex(&sha256)),
        Content::Link { sha256 } => format!("link {}", hex(&sha256)),
    }
}

fn read(text: &str) -> Option<Content> {
    if text == "absent" {
        return Some(Content::Absent);
    }
    let (kind, digits) = text.split_once(' ')?;
    let sha256 = bytes_of(digits)?.try_into().ok()?;
    match kind {
        "file" | "program" => Some(Content::File { executable: kind == "program", sha256 }),
        "link" => Some(Content::Link { sha256 }),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    let (pairs, []) = digits.as_deref()?.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_as_it_was_written() {
        let step = |path: &[u8], old, new| Step { path: path.to_vec(), old, new };
        let file = |executable| Content::File { executable, sha256: [0xab; 32] };
        let journal = Journal {
            steps: vec![
                step(b"a\xff\n/b", file(true), Content::Absent),
                step(b"c", file(false), Content::Link { sha256: [9; 32] }),
            ],
            emptied: vec![Emptied { path: b"a\xff\n".to_vec(), mode: 0o2750 }],
            missing: vec![b"x/y".to_vec()],
            kept: "kept-2".to_owned(),
        };
        assert_eq!(Journal::read(&journal.write().unwrap()), Ok(journal));
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let text = |format: u32, path: &str, old: &str| {
            let step = format!(r#"{{"path":"{path}","old":"{old}","new":"absent"}}"#);
            format!(r#"{{"format":{format},"steps":[{step}],"emptied":[],"missing":[],"kept":"kept-1"}}"#)
        };
        let file = format!("file {}", "0".repeat(64));
        assert!(Journal::read(text(1, "61", &file).as_bytes()).is_ok());
        for (format, path, old) in
            [(2, "61", &*file), (1, "6", &*file), (1, "6x", &*file), (1, "2e2e", &*file), (1, "61", "file 00")]
        {
            assert!(Journal::read(text(format, path, old).as_bytes()).is_err(), "{format} {path} {old}");
        }
        assert!(Journal::read(b"{").is_err());
    }
}
