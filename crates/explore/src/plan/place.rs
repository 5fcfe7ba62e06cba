//! Where a task works: files to change, their tests, files to read.

use planex_core::exploration::FileRole;
use planex_core::tech::ProjectTech;

use super::Frame;
use crate::classify::FileClass;
use crate::explorer::Explorer;
use crate::index::Index;
use crate::rank::Query;
use crate::report::{is_test_file, tests_of};

/// Most files that one task is given to change.
const MAX_FILES: usize = 5;
/// Most test files.
const MAX_TESTS: usize = 3;
/// Most files to read.
const MAX_READ: usize = 5;

/// Where a task works.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// To change, best first.
    pub(super) files: Vec<Target>,
    /// Tests of them.
    pub(super) tests: Vec<String>,
    /// To read, not to change.
    pub(super) read: Vec<String>,
    /// Globs for files that may have to be made.
    pub(super) globs: Vec<String>,
}

/// A file and what of it matters, such as `evict L40-L71`.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) places: Vec<String>,
}

impl Place {
    /// For a text: from its own ranking, and from what the explorations agree on.
    pub(super) fn of(frame: &Frame<'_>, text: &str) -> Self {
        let mut place = Self::default();
        let whole = text.trim() == frame.requirement.trim();
        if whole {
            place.files = explored(frame);
        }
        if let Some(explorer) = frame.explorer {
            let ranked = explorer.rank(&Query::new(text, 16)).files;
            let wanted = |class: FileClass| class == FileClass::Source;
            if place.files.is_empty() {
                let best = ranked.iter().filter(|f| wanted(f.class) && f.score >= 0.5).take(MAX_FILES);
                place.files = best
                    .map(|f| Target {
                        path: f.path.clone(),
                        places: f
                            .places
                            .iter()
                            .take(3)
                            .map(|p| {
                                format!(
                                    "{} L{}-L{}",
                                    p.symbol.as_deref().unwrap_or("lines"),
                                    p.range.start,
                                    p.range.end
                                )
                            })
                            .collect(),
                    })
                    .collect();
            }
            for target in &place.files {
                for test in tests_of(explorer, &target.path).into_iter().take(2) {
                    if place.tests.len() < MAX_TESTS && !place.tests.contains(&test) {
                        place.tests.push(test);
                    }
                }
            }
            if place.tests.is_empty() && !place.files.is_empty() {
                place.tests.extend(likely_test(explorer, text));
            }
            let others =
                ranked.iter().filter(|f| f.class.is_code() || f.class == FileClass::Config).map(|f| f.path.clone());
            place.read = others.filter(|p| !place.has(p)).take(MAX_READ).collect();
        }
        for file in frame.rows.iter().flat_map(|r| r.key_files) {
            let real = frame.explorer.is_none_or(|e| e.has_file(file));
            if place.read.len() < MAX_READ && real && !place.has(file) && !place.read.contains(file) && whole {
                place.read.push(file.clone());
            }
        }
        if place.files.is_empty() {
            place.globs = vec!["**".to_owned()];
        }
        place
    }

    /// Lets a new feature put files beside the best one.
    pub(super) fn with_room(mut self) -> Self {
        self.globs.extend(self.files.first().and_then(|f| beside(&f.path)));
        self
    }

    fn has(&self, path: &str) -> bool {
        self.files.iter().any(|f| f.path == path) || self.tests.iter().any(|t| t == path)
    }

    /// The documents at the root that users read.
    pub(super) fn docs(frame: &Frame<'_>) -> Self {
        let files = |index: &Index| {
            let usual = |p: &str| !p.contains('/') && p.to_ascii_lowercase().starts_with("readme");
            index
                .entries
                .iter()
                .filter(|e| usual(&e.path))
                .map(|e| Target { path: e.path.clone(), places: Vec::new() })
                .take(2)
                .collect::<Vec<_>>()
        };
        let mut found = frame.explorer.map(|e| files(&e.index)).unwrap_or_default();
        if let Some(explorer) = frame.explorer {
            let ranked = explorer.rank(&Query::new(frame.requirement, 40)).files;
            for doc in ranked.into_iter().filter(|f| f.class == FileClass::Docs && f.score >= 0.15).take(2) {
                if !found.iter().any(|t| t.path == doc.path) {
                    found.push(Target { path: doc.path, places: Vec::new() });
                }
            }
        }
        let globs = if found.is_empty() { vec!["README.md".to_owned(), "docs/**".to_owned()] } else { Vec::new() };
        Self { files: found, globs, ..Self::default() }
    }

    /// Documents that speak of what the text speaks of.
    pub(super) fn docs_about(frame: &Frame<'_>, text: &str) -> Self {
        let Some(explorer) = frame.explorer else { return Self::default() };
        let ranked = explorer.rank(&Query::new(text, 30)).files;
        let guide = |p: &str| {
            let lower = p.to_ascii_lowercase();
            !["changelog", "license", "contributing", "security", "code_of_conduct", "history", "release"]
                .iter()
                .any(|w| lower.contains(w))
                && !lower.ends_with(".html")
        };
        let found = ranked.into_iter().filter(|f| f.class == FileClass::Docs && guide(&f.path)).take(1);
        Self { files: found.map(|f| Target { path: f.path, places: Vec::new() }).collect(), ..Self::default() }
    }

    /// The same place for a task that only writes tests.
    pub(super) fn tests_only(&self, frame: &Frame<'_>) -> Self {
        let files = self.tests.iter().map(|t| Target { path: t.clone(), places: Vec::new() }).collect::<Vec<_>>();
        let read = self.files.iter().map(|f| f.path.clone()).take(MAX_READ).collect();
        let globs = if files.is_empty() {
            test_globs(frame)
        } else {
            self.tests.iter().filter_map(|t| beside_test(t)).take(1).collect()
        };
        Self { files, tests: Vec::new(), read, globs }
    }

    pub(super) fn without_tests(mut self) -> Self {
        self.read.extend(std::mem::take(&mut self.tests));
        self.read.truncate(MAX_READ);
        self
    }

    /// One place per module that is touched, those that others depend on first, with the ids they wait for.
    pub(super) fn by_module(&self, tech: &ProjectTech) -> Vec<(String, Vec<String>, Self)> {
        let module = |path: &str| {
            let around = tech
                .modules
                .iter()
                .filter(|m| m.path != "." && path.strip_prefix(&m.path).is_some_and(|r| r.starts_with('/')));
            around.max_by_key(|m| m.path.len()).map(|m| m.name.clone())
        };
        let mut names: Vec<String> = Vec::new();
        for name in self.files.iter().filter_map(|f| module(&f.path)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let uses = |a: &str, b: &str| tech.modules.iter().any(|m| m.name == a && m.depends_on.iter().any(|d| d == b));
        // A module stands behind those of the others that it uses; so few modules need no better sorting.
        names.sort_by_key(|a| names_used(a, &self.files, tech));
        let mut places = Vec::new();
        for (n, name) in names.iter().enumerate() {
            let own = |path: &str| module(path).as_deref() == Some(name);
            let place = Self {
                files: self.files.iter().filter(|f| own(&f.path)).cloned().collect(),
                tests: self.tests.iter().filter(|t| own(t)).cloned().collect(),
                read: self.read.clone(),
                globs: Vec::new(),
            };
            let deps = names
                .iter()
                .take(n)
                .zip(1..)
                .filter(|(other, _)| uses(name, other))
                .map(|(_, id): (_, usize)| format!("T{id}"))
                .collect();
            places.push((name.clone(), deps, place));
        }
        places
    }

    /// The scope as text.
    pub(super) fn scope(&self) -> String {
        let files = self.files.iter().map(|f| escaped(&f.path)).chain(self.tests.iter().map(|t| escaped(t)));
        let mut entries: Vec<String> = Vec::new();
        for entry in files.chain(self.globs.iter().cloned()) {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        entries.join(";")
    }

    /// All paths to change.
    pub(super) fn paths(&self) -> Vec<String> {
        self.files.iter().map(|f| f.path.clone()).chain(self.tests.iter().cloned()).collect()
    }
}

/// The glob of all files like this one in its folder; none at the root, where everything meets.
fn beside(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    let (_, extension) = name.rsplit_once('.')?;
    Some(format!("{}/*.{}", escaped(folder), escaped(extension)))
}

/// The glob of the test files in the folder of this one, by how its name marks it as a test.
fn beside_test(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    let (stem, extension) = name.rsplit_once('.')?;
    let mark = ["_test", "_spec", ".test", ".spec", "Tests", "Test"].iter().find(|m| stem.ends_with(**m));
    let shape = match mark {
        Some(mark) => format!("*{mark}"),
        None if stem.starts_with("test_") => "test_*".to_owned(),
        None => "*".to_owned(),
    };
    Some(format!("{}/{shape}.{}", escaped(folder), escaped(extension)))
}

/// The test file that speaks most of the text.
fn likely_test(explorer: &Explorer, text: &str) -> Option<String> {
    let ranked = explorer.rank(&Query::new(text, 12).from_angle("testing")).files;
    let holds_tests =
        |path: &str| explorer.index.find(path).and_then(|at| explorer.index.entries.get(at)).is_some_and(is_test_file);
    ranked.into_iter().find(|f| f.score >= 0.35 && holds_tests(&f.path)).map(|f| f.path)
}

fn names_used(name: &str, files: &[Target], tech: &ProjectTech) -> usize {
    let touched = |n: &str| {
        tech.modules.iter().any(|m| m.name == n && files.iter().any(|f| f.path.starts_with(&format!("{}/", m.path))))
    };
    tech.modules.iter().find(|m| m.name == name).map_or(0, |m| m.depends_on.iter().filter(|d| touched(d)).count())
}

/// Characters of a path that globs and lists would read otherwise.
fn escaped(path: &str) -> String {
    path.chars().map(|c| if "*?[]{}!;".contains(c) { '?' } else { c }).collect()
}

fn test_globs(frame: &Frame<'_>) -> Vec<String> {
    let Some(explorer) = frame.explorer else { return vec!["**".to_owned()] };
    let mut folders: Vec<&str> = Vec::new();
    for entry in explorer.index.entries.iter().filter(|e| e.class == FileClass::Test) {
        let folder = entry.path.split('/').next().filter(|f| *f != entry.path).unwrap_or("");
        if ["test", "tests", "spec", "__tests__"].contains(&folder) && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() { vec!["**".to_owned()] } else { folders.iter().map(|f| format!("{f}/**")).collect() }
}

/// Files to change that the explorations name: by how many angles and how much.
fn explored(frame: &Frame<'_>) -> Vec<Target> {
    let mut votes: Vec<(f64, Target)> = Vec::new();
    for row in frame.rows {
        let Some(exploration) = row.exploration else { continue };
        for file in exploration.relevant_files.iter().filter(|f| f.role == FileRole::ModifyTarget) {
            if frame.explorer.is_some_and(|e| !e.has_file(&file.path)) {
                continue;
            }
            match votes.iter_mut().find(|(_, t)| t.path == file.path) {
                Some((weight, _)) => *weight += file.relevance,
                None => {
                    let places = file.key_code.iter().take(3).map(|k| format!("{} {}", k.symbol, k.location)).collect();
                    votes.push((file.relevance, Target { path: file.path.clone(), places }));
                }
            }
        }
    }
    votes.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    votes.into_iter().take(MAX_FILES).map(|(_, target)| target).collect()
}
