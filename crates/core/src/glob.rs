//! Scopes: which paths a task may change, and whether two scopes meet (spec 20, *scope* and *Overlap*).
//!
//! Owns: reading a scope cell, matching a path, and the exact intersection of two scopes. Paths are relative to the
//! project root, with `/`, case-sensitive; nothing here looks at a tree.
//!
//! An entry is a path (it and all below it) or a glob. `*` and `?` stay within one name, `**` as a whole name stands
//! for any number of folders, `[a-z]`, `[!a]` for one character; `{a,b}` is written out before anything else, so each
//! alternative is an entry of its own. `!` excludes, wherever it stands in the list. A backslash is read as `/`, since
//! what writes one means a folder; a special character is meant literally as `[*]`. A glob that ends with `/` means
//! all below.

mod braces;
mod meet;
mod pattern;
#[cfg(test)]
mod tests;

use std::fmt;

pub use meet::{Overlap, overlap};
use pattern::Pattern;

/// Which paths a task may change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// None was given: any path, and no other task beside it.
    #[default]
    Everything,
    /// These paths.
    Paths(PathSet),
}

/// The paths of some entries, less those of others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PathSet {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    entries: Vec<String>,
}

/// What is wrong with an entry of a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeFault {
    /// A warning: words rather than a path; left out.
    #[error("`{0}` is no path and matches nothing: not used as a scope")]
    Prose(String),
    /// It leads out of the project.
    #[error("`{0}` leads out of the project")]
    Outside(String),
    /// A bracket or brace is not closed.
    #[error("`{0}` is not a glob: {1}")]
    Malformed(String, &'static str),
    /// Longer than 1,024 characters, or more than 256 alternatives.
    #[error("`{0}` is too long or has too many alternatives")]
    TooComplex(String),
}

impl ScopeFault {
    /// Whether the scope should be refused. A warning otherwise.
    #[must_use]
    pub fn is_error(&self) -> bool {
        match self {
            Self::Prose(_) => false,
            Self::Outside(_) | Self::Malformed(..) | Self::TooComplex(_) => true,
        }
    }
}

/// Longest entry, in characters.
const LONGEST_ENTRY: usize = 1024;

impl Scope {
    /// Reads a cell: entries separated by `;` or newlines. `exists` tells whether a path is in the tree.
    ///
    /// Entries with a fault permit nothing; a cell without any entry, or of prose alone, is no scope.
    #[must_use]
    pub fn parse(cell: &str, exists: impl Fn(&str) -> bool) -> (Self, Vec<ScopeFault>) {
        let mut set = PathSet::default();
        let mut faults = Vec::new();
        let mut prose = 0;
        let entries: Vec<&str> = split(cell);
        for entry in &entries {
            match set.add(entry, &exists) {
                Ok(()) => {}
                Err(fault) => {
                    prose += usize::from(!fault.is_error());
                    faults.push(fault);
                }
            }
        }
        if prose == entries.len() {
            return (Self::Everything, faults);
        }
        if set.include.is_empty() && !set.exclude.is_empty() {
            set.include.push(Pattern::all());
        }
        (Self::Paths(set), faults)
    }

    /// Whether the path, relative and with `/`, is in the scope.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        match self {
            Self::Everything => !path.is_empty(),
            Self::Paths(set) => set.matches(path),
        }
    }

    /// What the paths of each included pattern begin with; nothing for no scope.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        let include = match self {
            Self::Everything => &[],
            Self::Paths(set) => set.include.as_slice(),
        };
        include.iter().map(Pattern::prefix)
    }

    /// Whether a scope was given.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        matches!(self, Self::Paths(_))
    }
}

impl fmt::Display for Scope {
    /// The entries as they were read, separated by `;`; nothing for no scope.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => Ok(()),
            Self::Paths(set) => f.write_str(&set.entries.join(";")),
        }
    }
}

impl PathSet {
    fn matches(&self, path: &str) -> bool {
        let hit = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(path));
        hit(&self.include) && !hit(&self.exclude)
    }

    fn add(&mut self, entry: &str, exists: &impl Fn(&str) -> bool) -> Result<(), ScopeFault> {
        let (text, excludes) = match entry.strip_prefix('!') {
            Some(rest) => (rest.trim(), true),
            None => (entry, false),
        };
        let text = text.replace('\\', "/");
        if text.chars().count() > LONGEST_ENTRY {
            return Err(ScopeFault::TooComplex(text.chars().take(60).chain(['…']).collect()));
        }
        let literal = relative(&text).unwrap_or_default();
        let there = !literal.is_empty() && exists(&literal);
        if text.contains(char::is_whitespace) && !is_glob(&text) && !there {
            return Err(ScopeFault::Prose(entry.to_owned()));
        }
        let mut patterns = Vec::new();
        if there && is_glob(&text) {
            // Folders are named `[id]` and `{a}` in some frameworks: what is there is meant, too.
            relative(&text).ok_or_else(|| ScopeFault::Outside(entry.to_owned()))?;
            patterns.push(Pattern::below(&literal));
        }
        for plain in braces::expand(&text).map_err(|fault| fault.of(entry))? {
            let path = relative(&plain).ok_or_else(|| ScopeFault::Outside(entry.to_owned()))?;
            let tree = plain.ends_with('/');
            let pattern = Pattern::parse(&path, tree).map_err(|why| ScopeFault::Malformed(entry.to_owned(), why))?;
            patterns.push(pattern);
        }
        let list = if excludes { &mut self.exclude } else { &mut self.include };
        list.append(&mut patterns);
        self.entries.push(if excludes { format!("!{text}") } else { text });
        Ok(())
    }
}

/// Entries: `;` and newlines separate.
fn split(cell: &str) -> Vec<&str> {
    cell.split([';', '\n']).map(str::trim).filter(|entry| !entry.is_empty()).collect()
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The path without `./`, leading, doubled and trailing `/`; `None` if it leads out. Empty: the whole project.
fn relative(text: &str) -> Option<String> {
    let has_drive = text.as_bytes().get(1) == Some(&b':') && text.starts_with(|c: char| c.is_ascii_alphabetic());
    let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if has_drive || text.starts_with('~') || names.contains(&"..") {
        return None;
    }
    Some(names.join("/"))
}
