//! Conventions to follow and conditions to keep, each with an example from the tree.

use super::files::{tests_of, ticked};
use crate::classify::FileClass;
use crate::explorer::Explorer;
use crate::index::Entry;
use crate::rank::RankedFile;
use crate::symbols::SymbolKind;
use crate::tech::test_command_for;

/// From so many importers on a file's public names are said to be load-bearing.
const MANY: usize = 5;
/// A file that long deserves a word of warning. Lines.
const LONG: u32 = 3_000;

/// Conventions near the files to change.
pub(super) fn patterns(explorer: &Explorer, targets: &[&RankedFile]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: Option<String>| {
        if let Some(line) = line.filter(|l| !lines.contains(l)) {
            lines.push(line);
        }
    };
    let Some(first) = targets.first().and_then(|t| entry(explorer, t)) else { return lines };
    add(siblings(explorer, first));
    add(naming(first));
    add(errors(explorer, first));
    for target in targets.iter().take(3) {
        add(testing(explorer, &target.path));
    }
    lines
}

fn entry<'e>(explorer: &'e Explorer, file: &RankedFile) -> Option<&'e Entry> {
    explorer.index.entries.get(explorer.index.find(&file.path)?)
}

/// Files of one folder that share a shape: the next one should share it too.
fn siblings(explorer: &Explorer, first: &Entry) -> Option<String> {
    let folder = |p: &str| p.rsplit_once('/').map_or(String::new(), |(f, _)| f.to_owned());
    let own = folder(&first.path);
    let extension = first.path.rsplit('.').next()?;
    let mut near: Vec<&Entry> = explorer
        .index
        .entries
        .iter()
        .filter(|e| {
            e.class == FileClass::Source
                && e.path != first.path
                && folder(&e.path) == own
                && e.path.ends_with(extension)
                && !e.symbols.is_empty()
        })
        .collect();
    near.sort_by_key(|e| (e.lines.abs_diff(first.lines), e.path.clone()));
    let shown: Vec<&str> = near.iter().take(3).filter_map(|e| e.path.rsplit('/').next()).collect();
    if shown.is_empty() {
        return None;
    }
    let place = if own.is_empty() { "the root folder".to_owned() } else { format!("{own}/") };
    Some(format!("Neighbours of {} in {place} show how such files are built: {}.", first.path, shown.join(", ")))
}

fn naming(first: &Entry) -> Option<String> {
    let functions: Vec<&str> = first
        .symbols
        .iter()
        .filter(|s| matches!(s.kind, SymbolKind::Function | SymbolKind::Method))
        .map(|s| s.name.as_str())
        .collect();
    let snake = functions.iter().filter(|n| n.trim_matches('_').contains('_')).count();
    let camel = functions.iter().filter(|n| n.chars().any(char::is_uppercase) && !n.contains('_')).count();
    let (style, pick): (&str, Vec<&&str>) = if snake > camel && snake >= 2 {
        ("snake_case", functions.iter().filter(|n| n.trim_matches('_').contains('_')).take(2).collect())
    } else if camel > snake && camel >= 2 {
        let pascal = functions.iter().filter(|n| n.starts_with(char::is_uppercase)).count() * 2 > functions.len();
        (
            if pascal { "PascalCase" } else { "camelCase" },
            functions.iter().filter(|n| n.chars().any(char::is_uppercase) && !n.contains('_')).take(2).collect(),
        )
    } else {
        return None;
    };
    let names: Vec<String> = pick.into_iter().map(|n| (*n).to_owned()).collect();
    Some(format!("Functions are named in {style}: {} in {}.", ticked(&names, 2), first.path))
}

/// How failures are told, by the words the file uses most.
fn errors(explorer: &Explorer, first: &Entry) -> Option<String> {
    let text = explorer.read(&first.path)?;
    let ways: &[(&str, &str, &str)] = &[
        (".rs", "anyhow", "Failures are `anyhow` errors with context"),
        (".rs", "Result<", "Failures are returned as `Result`"),
        (".go", "fmt.Errorf(", "Failures are wrapped with `fmt.Errorf`"),
        (".go", "return err", "Failures are returned as `error`"),
        (".py", "raise ", "Failures are raised as exceptions"),
        (".ts", "throw new ", "Failures are thrown as errors"),
        (".js", "throw new ", "Failures are thrown as errors"),
        (".java", "throw new ", "Failures are thrown as exceptions"),
        (".cs", "throw new ", "Failures are thrown as exceptions"),
        (".rb", "raise ", "Failures are raised"),
        (".php", "throw new ", "Failures are thrown as exceptions"),
    ];
    let fits = ways.iter().filter(|(ending, mark, _)| first.path.ends_with(ending) && text.contains(mark));
    fits.into_iter().find_map(|(_, mark, said)| {
        let line = (1..).zip(text.lines()).find(|(_, l)| l.contains(mark)).map(|(n, _)| n)?;
        Some(format!("{said}: {}:{line}.", first.path))
    })
}

fn testing(explorer: &Explorer, path: &str) -> Option<String> {
    let tests = tests_of(explorer, path);
    if let Some(test) = tests.first() {
        return Some(format!("{path} is tested by {test}."));
    }
    let text = explorer.read(path)?;
    let line = (1..).zip(text.lines()).find(|(_, l)| l.contains("#[cfg(test)]")).map(|(n, _)| n)?;
    Some(format!("Unit tests stand in the file itself: {path}:{line}."))
}

/// What a change must keep.
pub(super) fn constraints(explorer: &Explorer, targets: &[&RankedFile]) -> Vec<String> {
    let mut lines = Vec::new();
    for target in targets {
        let Some(at) = explorer.index.find(&target.path) else { continue };
        let users = explorer.graph().used_by(at).len();
        if users >= MANY {
            lines.push(format!("{users} files import {}: keep its public names and their meaning.", target.path));
        }
        if let Some(long) = explorer.index.entries.get(at).filter(|e| e.lines >= LONG) {
            lines.push(format!("{} has {} lines: change the named places only.", long.path, long.lines));
        }
    }
    let paths: Vec<String> = targets.iter().map(|t| t.path.clone()).collect();
    for (module, command) in test_command_for(explorer.tech(), &paths) {
        lines.push(format!("Tests of {module} must pass: `{command}`."));
    }
    let rules = [
        "AGENTS.md",
        "CLAUDE.md",
        "CONTRIBUTING.md",
        ".github/CONTRIBUTING.md",
        "CONTRIBUTING.rst",
        "docs/CONTRIBUTING.md",
    ];
    let written: Vec<&str> = rules.into_iter().filter(|p| explorer.has_file(p)).collect();
    if !written.is_empty() {
        lines.push(format!("The project's rules are written in {}.", written.join(", ")));
    }
    lines
}
