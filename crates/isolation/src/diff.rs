//! What differs between two commits or trees, from `git diff-tree --raw -z`.

use planex_sys::git::Plumbing;

use crate::{IsolationError, RepoPath, Result};

/// Mode of a submodule's commit.
pub(crate) const GITLINK: u32 = 0o160_000;
/// Mode of an executable file.
pub(crate) const EXECUTABLE: u32 = 0o100_755;

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Git's mode: 0o100644, 0o100755, 0o120000 (link), 0o160000 (submodule).
    pub mode: u32,
    /// Id of the blob.
    pub oid: String,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Content, mode or kind changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub path: RepoPath,
    /// Before; `None` where it was not there.
    pub old: Option<Entry>,
    /// After; `None` where it is gone.
    pub new: Option<Entry>,
}

impl Change {
    /// What happened.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Added,
            (Some(_), Some(_)) => ChangeKind::Modified,
            (Some(_), None) => ChangeKind::Deleted,
        }
    }

    /// Whether either side is a submodule's commit.
    pub(crate) fn is_submodule(&self) -> bool {
        [&self.old, &self.new].into_iter().flatten().any(|entry| entry.mode == GITLINK)
    }
}

/// The paths that differ between two commits or trees, renames as delete and add.
pub(crate) fn changes(git: &Plumbing, from: &str, to: &str) -> Result<Vec<Change>> {
    let args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to];
    parse(&git.run(&args, Vec::new())?)
}

/// `:oldmode newmode oldid newid status\0path\0` …
fn parse(bytes: &[u8]) -> Result<Vec<Change>> {
    let mut parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    let mut changes = Vec::new();
    while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
        let head = std::str::from_utf8(head).ok().and_then(|head| head.strip_prefix(':'));
        let fields: Vec<&str> = head.unwrap_or_default().split(' ').collect();
        let [old_mode, new_mode, old_oid, new_oid, _status] = fields.as_slice() else {
            return Err(strange(path));
        };
        let entry = |mode: &str, oid: &str| match u32::from_str_radix(mode, 8) {
            Ok(0) => Ok(None),
            Ok(mode) => Ok(Some(Entry { mode, oid: oid.to_owned() })),
            Err(_) => Err(strange(path)),
        };
        let (old, new) = (entry(old_mode, old_oid)?, entry(new_mode, new_oid)?);
        changes.push(Change { path: RepoPath(path.to_owned()), old, new });
    }
    Ok(changes)
}

fn strange(path: &[u8]) -> IsolationError {
    IsolationError::Strange(format!("a raw difference at {}", RepoPath(path.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_read() {
        let (a, b, zero) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let raw = format!(
            ":100644 100755 {a} {b} M\0with\nnewline\0:000000 120000 {zero} {b} A\0link\0:100644 000000 {a} {zero} D\0gone\0"
        );
        let changes = parse(raw.as_bytes()).unwrap();
        let kinds: Vec<ChangeKind> = changes.iter().map(Change::kind).collect();
        assert_eq!(kinds, [ChangeKind::Modified, ChangeKind::Added, ChangeKind::Deleted]);
        assert_eq!(changes[0].path, RepoPath::from("with\nnewline"));
        assert_eq!(changes[0].new.as_ref().unwrap().mode, EXECUTABLE);
        assert_eq!(changes[1].new.as_ref().unwrap().mode, 0o120_000);
        assert!(parse(b":nonsense\0path\0").is_err());
        assert!(parse(b"").unwrap().is_empty());
    }
}
