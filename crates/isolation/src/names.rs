//! Paths as git has them: bytes, relative to the top level, with `/`.

use std::fmt;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::git::lossy_path;

/// A path relative to a repository's top level, as git's bytes: it need not be UTF-8, and may hold a newline.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(pub Vec<u8>);

impl RepoPath {
    /// The file it names below `top`.
    #[must_use]
    pub fn below(&self, top: &Utf8Path) -> PathBuf {
        top.as_std_path().join(os_path(&self.0))
    }

    /// As text, with U+FFFD for what is not UTF-8.
    #[must_use]
    pub fn to_text(&self) -> Utf8PathBuf {
        lossy_path(self.0.clone())
    }

    /// Whether it is `folder` or lies below it. An empty folder holds everything.
    #[must_use]
    pub fn is_below(&self, folder: &[u8]) -> bool {
        match self.0.strip_prefix(folder) {
            Some(rest) => rest.is_empty() || folder.is_empty() || rest.first() == Some(&b'/'),
            None => false,
        }
    }

    /// The folders on the way to it, from the top, without itself.
    pub(crate) fn parents(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| self.0.get(..at).unwrap_or_default())
    }

    /// Relative to the project, whose folder `prefix` is below the top level (empty: the same): `../` leads out of it.
    #[must_use]
    pub fn in_project(&self, prefix: &str) -> Utf8PathBuf {
        if let Some(rest) = self.0.strip_prefix(prefix.as_bytes()) {
            if prefix.is_empty() {
                return self.to_text();
            }
            if let Some(rest) = rest.strip_prefix(b"/") {
                return lossy_path(rest.to_vec());
            }
        }
        let up = "../".repeat(prefix.split('/').filter(|name| !name.is_empty()).count());
        Utf8PathBuf::from(format!("{up}{}", self.to_text()))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_text().as_str())
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

#[cfg(unix)]
fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes)).to_owned()
}

#[cfg(not(unix))]
fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_project_in_a_sub_folder() {
        let path = RepoPath::from("packages/web/src/a.ts");
        assert_eq!(path.in_project(""), "packages/web/src/a.ts");
        assert_eq!(path.in_project("packages/web"), "src/a.ts");
        assert_eq!(path.in_project("packages/we"), "../../packages/web/src/a.ts");
        assert!(path.is_below(b"packages/web"));
        assert!(path.is_below(b""));
        assert!(!path.is_below(b"packages/we"));
        let parents: Vec<&[u8]> = path.parents().collect();
        assert_eq!(parents, [&b"packages"[..], b"packages/web", b"packages/web/src"]);
    }
}
