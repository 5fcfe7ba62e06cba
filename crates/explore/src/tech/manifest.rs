//! Manifests of a tree.

use serde_json::Value;

use crate::classify::{FileClass, by_path};
use crate::explorer::Explorer;

/// Most manifests of one kind that are read.
const MAX_MANIFESTS: usize = 400;
/// Folders whose manifests belong to examples and test data, not to the project.
const ASIDE: [&str; 14] = [
    "test",
    "tests",
    "testdata",
    "fixtures",
    "fixture",
    "examples",
    "example",
    "__tests__",
    "templates",
    "template",
    "samples",
    "sample",
    "vendor",
    "third_party",
];

/// The files of a project, as manifests see them.
pub(super) struct Tree<'e> {
    explorer: &'e Explorer,
}

impl<'e> Tree<'e> {
    pub(super) fn new(explorer: &'e Explorer) -> Self {
        Self { explorer }
    }

    /// All paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'e str> {
        self.explorer.index.entries.iter().map(|e| e.path.as_str())
    }

    /// Manifests of that name, outermost first.
    pub(super) fn named(&self, name: &str) -> Vec<&'e str> {
        self.chosen(|file| file == name)
    }

    /// Manifests whose name ends so.
    pub(super) fn ending(&self, ending: &str) -> Vec<&'e str> {
        self.chosen(|file| file.ends_with(ending))
    }

    fn chosen(&self, wanted: impl Fn(&str) -> bool) -> Vec<&'e str> {
        let own = |path: &&str| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            wanted(name) && !folder.split('/').any(|f| ASIDE.contains(&f)) && by_path(path) != FileClass::Vendored
        };
        let mut found: Vec<&str> = self.paths().filter(own).collect();
        found.sort_by_key(|p| (p.matches('/').count(), *p));
        found.truncate(MAX_MANIFESTS);
        found
    }

    /// Whether a file is there, in the index or on disk (binary lock files are not in the index).
    pub(super) fn has(&self, path: &str) -> bool {
        self.explorer.has_file(path) || planex_sys::fs::is_file(&self.explorer.root().join(path))
    }

    pub(super) fn read(&self, path: &str) -> Option<String> {
        self.explorer.read(path)
    }

    pub(super) fn json(&self, path: &str) -> Option<Value> {
        serde_json::from_str(self.read(path)?.trim_start_matches('\u{feff}')).ok()
    }

    pub(super) fn toml(&self, path: &str) -> Option<toml::Table> {
        self.read(path)?.parse().ok()
    }

    /// Whether there is a test file below a folder that fits.
    pub(super) fn has_tests(&self, folder: &str, fits: impl Fn(&str) -> bool) -> bool {
        self.explorer
            .index
            .entries
            .iter()
            .any(|e| e.class == FileClass::Test && inside(&e.path, folder).is_some() && fits(&e.path))
    }
}

/// Folder of a manifest, `.` for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// A path below a folder.
pub(super) fn below(folder: &str, name: &str) -> String {
    if folder == "." { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The rest of a path inside a folder.
pub(super) fn inside<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder == "." { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// Last part of a folder, or the fall-back at the root.
pub(super) fn folder_name<'p>(folder: &'p str, root: &'p str) -> &'p str {
    if folder == "." { root } else { folder.rsplit('/').next().unwrap_or(folder) }
}

/// A word for a command line: quoted where a shell would split it.
pub(super) fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-@:+".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
