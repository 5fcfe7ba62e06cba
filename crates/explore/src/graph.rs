//! Which file imports which: import texts resolved to files of the tree.

use std::collections::{HashMap, HashSet};

use crate::classify::FileClass;
use crate::index::Index;

/// Most files that one import may stand for (a Go package, a C header of that name).
const MAX_TARGETS: usize = 12;

/// Links between files, by entry.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// What each file imports.
    pub(crate) uses: Vec<Vec<usize>>,
    /// What imports each file.
    pub(crate) used_by: Vec<Vec<usize>>,
}

impl Graph {
    /// Resolves all imports.
    pub(crate) fn build(index: &Index) -> Self {
        let finder = Finder::new(index);
        let mut graph =
            Self { uses: vec![Vec::new(); index.entries.len()], used_by: vec![Vec::new(); index.entries.len()] };
        for (at, entry) in index.entries.iter().enumerate() {
            let mut targets = HashSet::new();
            for import in &entry.imports {
                targets.extend(finder.resolve(&entry.path, entry.language().unwrap_or(""), import));
            }
            targets.remove(&at);
            let mut targets: Vec<usize> = targets.into_iter().collect();
            targets.sort_unstable();
            for target in &targets {
                if let Some(list) = graph.used_by.get_mut(*target) {
                    list.push(at);
                }
            }
            if let Some(list) = graph.uses.get_mut(at) {
                *list = targets;
            }
        }
        graph
    }

    /// What a file imports.
    pub(crate) fn uses(&self, at: usize) -> &[usize] {
        self.uses.get(at).map_or(&[], Vec::as_slice)
    }

    /// What imports a file.
    pub(crate) fn used_by(&self, at: usize) -> &[usize] {
        self.used_by.get(at).map_or(&[], Vec::as_slice)
    }
}

struct Finder<'i> {
    index: &'i Index,
    /// Files by the name without endings.
    by_stem: HashMap<&'i str, Vec<usize>>,
    by_folder: HashMap<&'i str, Vec<usize>>,
}

fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().filter(|s| !s.is_empty()).unwrap_or(name)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl<'i> Finder<'i> {
    fn new(index: &'i Index) -> Self {
        let mut finder = Self { index, by_stem: HashMap::new(), by_folder: HashMap::new() };
        for (at, entry) in index.entries.iter().enumerate().filter(|(_, e)| e.language().is_some()) {
            finder.by_stem.entry(stem_of(&entry.path)).or_default().push(at);
            finder.by_folder.entry(folder_of(&entry.path)).or_default().push(at);
        }
        finder
    }

    fn resolve(&self, from: &str, language: &str, import: &str) -> Vec<usize> {
        match language {
            "Python" => self.python(from, import),
            "Rust" => self.rust(from, import),
            "Go" => self.go(import),
            "JavaScript" | "TypeScript" | "Vue" | "Svelte" => self.script(from, import),
            "C" | "C++" => self.ending(&join(folder_of(from), import), true).or_else_try(|| self.ending(import, true)),
            "Ruby" => self.module(from, import),
            "Java" | "Kotlin" | "Scala" | "C#" | "PHP" => self.dotted(&import.replace(['.', '\\'], "/")),
            "Shell" => self.module(from, import),
            _ => Vec::new(),
        }
    }

    /// Files whose path without ending is `path` or ends with `/path`; with `whole` the ending is part of it.
    fn ending(&self, path: &str, whole: bool) -> Vec<usize> {
        let path = path.trim_start_matches("./");
        let Some(candidates) = self.by_stem.get(stem_of(path)).filter(|_| !path.is_empty()) else { return Vec::new() };
        let fits = |at: &&usize| {
            let Some(entry) = self.index.entries.get(**at) else { return false };
            let own = if whole { entry.path.as_str() } else { without_ending(&entry.path) };
            own == path || own.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'))
        };
        candidates.iter().filter(fits).take(MAX_TARGETS).copied().collect()
    }

    fn exact(&self, path: &str) -> Vec<usize> {
        let candidates = self.by_stem.get(stem_of(path)).map_or(&[][..], Vec::as_slice);
        candidates
            .iter()
            .filter(|at| {
                self.index.entries.get(**at).is_some_and(|e| without_ending(&e.path) == path || e.path == path)
            })
            .copied()
            .collect()
    }

    fn python(&self, from: &str, import: &str) -> Vec<usize> {
        let dots = import.len() - import.trim_start_matches('.').len();
        let rest = import.trim_start_matches('.').replace('.', "/");
        if dots == 0 {
            return self.ending(&rest, false).or_else_try(|| self.ending(&format!("{rest}/__init__"), false));
        }
        let mut folder = folder_of(from);
        for _ in 1..dots {
            folder = folder_of(folder);
        }
        let base = join(folder, &rest);
        self.exact(&base).or_else_try(|| self.exact(&join(&base, "__init__")))
    }

    fn rust(&self, from: &str, import: &str) -> Vec<usize> {
        let parts: Vec<&str> = import.split("::").map(str::trim).collect();
        let Some((first, rest)) = parts.split_first() else { return Vec::new() };
        let source = from.find("src/").map_or("", |i| from.get(..i + 3).unwrap_or(""));
        let own = if matches!(stem_of(from), "mod" | "lib" | "main") {
            folder_of(from).to_owned()
        } else {
            without_ending(from).to_owned()
        };
        let (base, rest) = match *first {
            "crate" => (source.to_owned(), rest),
            "self" => (own, rest),
            "super" => {
                let ups = rest.iter().take_while(|p| **p == "super").count();
                let mut base = folder_of(&own).to_owned();
                for _ in 0..ups {
                    base = folder_of(&base).to_owned();
                }
                (base, rest.get(ups..).unwrap_or_default())
            }
            name => return self.rust_crate(name, rest),
        };
        self.rust_module(&base, rest)
    }

    /// The longest part of the path that is a file.
    fn rust_module(&self, base: &str, rest: &[&str]) -> Vec<usize> {
        for len in (1..=rest.len()).rev() {
            let path = join(base, &rest.get(..len).unwrap_or_default().join("/"));
            let found = self.exact(&path).or_else_try(|| self.exact(&join(&path, "mod")));
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn rust_crate(&self, name: &str, rest: &[&str]) -> Vec<usize> {
        let dashed = name.replace('_', "-");
        for lib in self.by_stem.get("lib").map_or(&[][..], Vec::as_slice) {
            let Some(path) = self.index.entries.get(*lib).map(|e| e.path.as_str()) else { continue };
            let Some(krate) = path.strip_suffix("/src/lib.rs") else { continue };
            let folder = krate.rsplit('/').next().unwrap_or(krate);
            if folder == name || folder == dashed || dashed.strip_suffix(folder).is_some_and(|p| p.ends_with('-')) {
                let source = format!("{krate}/src");
                return self.rust_module(&source, rest).or_else_try(|| vec![*lib]);
            }
        }
        Vec::new()
    }

    fn go(&self, import: &str) -> Vec<usize> {
        // The module's own prefix is not known here: the longest ending that is a folder counts.
        let mut path = import;
        loop {
            if let Some(files) = self.by_folder.get(path).filter(|_| path.contains('/') || import.contains('/')) {
                let own = |at: &&usize| {
                    self.index
                        .entries
                        .get(**at)
                        .is_some_and(|e| e.class == FileClass::Source && e.path.ends_with(".go"))
                };
                return files.iter().filter(own).take(MAX_TARGETS).copied().collect();
            }
            match path.split_once('/') {
                Some((_, rest)) => path = rest,
                None => return Vec::new(),
            }
        }
    }

    fn script(&self, from: &str, import: &str) -> Vec<usize> {
        if import.starts_with('.') {
            let base = join(folder_of(from), import);
            let bare = ["js", "jsx", "mjs", "cjs", "ts"]
                .iter()
                .find_map(|e| base.strip_suffix(&format!(".{e}")))
                .unwrap_or(&base);
            return self.exact(&base).or_else_try(|| self.exact(bare)).or_else_try(|| self.exact(&join(bare, "index")));
        }
        if let Some(rest) =
            import.strip_prefix("@/").or_else(|| import.strip_prefix("~/")).or_else(|| import.strip_prefix("src/"))
        {
            return self.ending(rest, false).or_else_try(|| self.ending(&format!("{rest}/index"), false));
        }
        Vec::new()
    }

    fn module(&self, from: &str, import: &str) -> Vec<usize> {
        if import.starts_with('.') {
            return self.exact(&join(folder_of(from), import));
        }
        self.ending(import, false).or_else_try(|| self.ending(import, true))
    }

    fn dotted(&self, path: &str) -> Vec<usize> {
        // Root namespaces are often not folders, and the last part may be a member.
        let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
        for (skip, cut) in [(0, 0), (0, 1), (1, 0), (2, 0)] {
            let end = parts.len().saturating_sub(cut);
            let Some(slice) = parts.get(skip..end).filter(|s| s.len() >= 2) else { continue };
            let found = self.ending(&slice.join("/"), false);
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}

fn without_ending(path: &str) -> &str {
    let name_at = path.rfind('/').map_or(0, |i| i + 1);
    let name = path.get(name_at..).unwrap_or(path);
    name.rfind('.').filter(|i| *i > 0).and_then(|i| path.get(..name_at + i)).unwrap_or(path)
}

/// Joins and resolves `.` and `..`.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}

trait OrElseTry {
    fn or_else_try(self, other: impl FnOnce() -> Self) -> Self;
}

impl OrElseTry for Vec<usize> {
    fn or_else_try(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_empty() { other() } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join() {
        assert_eq!(join("a/b", "../c"), "a/c");
        assert_eq!(join("", "./x"), "x");
        assert_eq!(without_ending("a.b/c.test.ts"), "a.b/c.test");
        assert_eq!(without_ending(".env"), ".env");
    }
}
