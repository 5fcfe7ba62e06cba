//! What is on disk, and what git says, so that two moments can be compared.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// One file, link, folder or special file.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// `f`, `l`, `d` (whose mode and time do not count) or `p`.
    pub(crate) kind: char,
    /// Permission bits.
    pub(crate) mode: u32,
    /// Bytes, or the link's target.
    pub(crate) content: Vec<u8>,
    /// Time of modification; `None` where it does not matter.
    pub(crate) time: Option<(i64, i64)>,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let start = self.content.get(..60).unwrap_or(&self.content);
        write!(f, "{} {:o} {:?} {:?}", self.kind, self.mode, String::from_utf8_lossy(start), self.time)
    }
}

/// All below a folder, by path relative to it.
pub(crate) type Files = BTreeMap<Vec<u8>, Seen>;

/// Everything below `root` except what `skip` names.
pub(crate) fn walk(root: &Path, skip: &dyn Fn(&[u8]) -> bool) -> Files {
    let mut files = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
            if skip(&name) {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            let (kind, content) = match meta.file_type() {
                kind if kind.is_dir() => ('d', Vec::new()),
                kind if kind.is_symlink() => ('l', std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()),
                kind if kind.is_file() => ('f', std::fs::read(&path).unwrap_or_default()),
                _ => ('p', Vec::new()),
            };
            if kind == 'd' {
                folders.push(path);
            }
            let time = (kind != 'd').then(|| (meta.mtime(), meta.mtime_nsec()));
            let mode = if matches!(kind, 'd' | 'l') { 0 } else { meta.mode() & 0o7777 };
            files.insert(name, Seen { kind, mode, content, time });
        }
    }
    files
}

/// The paths in which two states differ, each with what it was and is. A time of `None` equals any.
pub(crate) fn differences(want: &Files, found: &Files) -> Vec<String> {
    let paths: std::collections::BTreeSet<&Vec<u8>> = want.keys().chain(found.keys()).collect();
    let same = |a: &Seen, b: &Seen| {
        let times = a.time.is_none() || b.time.is_none() || a.time == b.time;
        times && (a.kind, a.mode, &a.content) == (b.kind, b.mode, &b.content)
    };
    let mut lines = Vec::new();
    for path in paths {
        let (a, b) = (want.get(path), found.get(path));
        if !matches!((a, b), (Some(a), Some(b)) if same(a, b)) {
            lines.push(format!("{}: {a:?} -> {b:?}", String::from_utf8_lossy(path)));
        }
    }
    lines
}

/// Fails, naming every path that differs.
#[track_caller]
pub(crate) fn assert_files(want: &Files, found: &Files, when: &str) {
    let lines = differences(want, found);
    assert!(lines.is_empty(), "{when}:\n{}", lines.join("\n"));
}
