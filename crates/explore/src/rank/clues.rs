//! What the text names outright: paths, stack frames, modules, symbols.

use std::collections::HashMap;

use super::{Candidate, WhyKind};
use crate::classify::FileClass;
use crate::index::Index;
use crate::text::{Clues, Mention};
use crate::tokens::joined;

/// Adds to `named` of each file.
pub(super) fn score(index: &Index, clues: &Clues, candidates: &mut [Candidate]) {
    let by_name = files_by_name(index);
    mentions(index, clues, &by_name, candidates);
    modules(index, clues, &by_name, candidates);
    symbols(index, clues, candidates);
}

fn files_by_name(index: &Index) -> HashMap<&str, Vec<usize>> {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, entry) in index.entries.iter().enumerate() {
        by_name.entry(entry.path.rsplit('/').next().unwrap_or(&entry.path)).or_default().push(at);
    }
    by_name
}

/// Files that a mention may mean, and how many parts of the path agree.
pub(crate) fn resolve(index: &Index, by_name: &HashMap<&str, Vec<usize>>, path: &str) -> (Vec<usize>, usize) {
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty() && *p != "." && *p != "..").collect();
    let Some(candidates) = parts.last().and_then(|name| by_name.get(name)) else { return (Vec::new(), 0) };
    for skip in 0..parts.len() {
        let tail = parts.get(skip..).unwrap_or_default().join("/");
        let fits = |at: &&usize| {
            index
                .entries
                .get(**at)
                .is_some_and(|e| e.path == tail || e.path.strip_suffix(&tail).is_some_and(|r| r.ends_with('/')))
        };
        let found: Vec<usize> = candidates.iter().filter(fits).copied().collect();
        if !found.is_empty() {
            return (found, parts.len() - skip);
        }
    }
    (Vec::new(), 0)
}

fn mentions(index: &Index, clues: &Clues, by_name: &HashMap<&str, Vec<usize>>, candidates: &mut [Candidate]) {
    let frames = clues.mentions.iter().filter(|m| m.frame).count();
    let mut frame_number = 0;
    let mut gained: HashMap<usize, f64> = HashMap::new();
    for mention in &clues.mentions {
        let (found, agree) = resolve(index, by_name, &mention.path);
        let parts = mention.path.split('/').filter(|p| !p.is_empty()).count();
        frame_number += usize::from(mention.frame);
        let strength = mention_strength(mention, parts, agree, found.len(), frames - frame_number.min(frames));
        for at in found {
            let before = gained.entry(at).or_default();
            // Naming a file again says little more.
            let gain = if *before > 0.0 { (strength - *before).max(0.03) } else { strength };
            *before += gain;
            if let Some(candidate) = candidates.get_mut(at) {
                candidate.named += gain;
                let (kind, place) =
                    if mention.frame { (WhyKind::Frame, "stack frame") } else { (WhyKind::Path, "named") };
                let line = mention.line.map(|l| format!(" line {l}")).unwrap_or_default();
                candidate.reason(gain, kind, format!("{place} as {}{line}", mention.path));
            }
        }
    }
}

/// `depth` counts frames from the innermost one (Python prints it last).
fn mention_strength(mention: &Mention, parts: usize, agree: usize, matches: usize, depth: usize) -> f64 {
    let spread = f64::from(u32::try_from(matches.max(1)).unwrap_or(u32::MAX));
    if mention.frame {
        let near = 1.0 / (1.0 + 0.35 * f64::from(u32::try_from(depth).unwrap_or(u32::MAX)));
        return if agree >= 2 || parts == 1 { 0.55 * near / spread } else { 0.1 / spread };
    }
    if agree >= 2 || (parts == 1 && matches == 1) {
        1.0 / spread
    } else if parts == 1 {
        0.7 / spread
    } else {
        // Only the name of a longer path agrees: likely another project's file.
        0.15 / spread
    }
}

/// `a.b.c` in the text: a file `a/b.py`, `a/b/c.java`.
fn modules(index: &Index, clues: &Clues, by_name: &HashMap<&str, Vec<usize>>, candidates: &mut [Candidate]) {
    let mut stems: HashMap<&str, Vec<usize>> = HashMap::new();
    for (name, files) in by_name {
        stems.entry(name.split('.').next().unwrap_or(name)).or_default().extend(files);
    }
    let mut seen: HashMap<usize, f64> = HashMap::new();
    for dotted in &clues.dotted {
        let parts: Vec<&str> = dotted.split('.').collect();
        for end in (2..=parts.len()).rev() {
            let Some(slice) = parts.get(..end) else { continue };
            let tail = slice.join("/");
            let package = format!("{tail}/__init__.py");
            let last = slice.last().copied().unwrap_or_default();
            let own = stems.get(last).into_iter().flatten().filter(|at| {
                index.entries.get(**at).is_some_and(|e| e.class.is_code() && ends_with_module(&e.path, &tail))
            });
            let packages = by_name.get("__init__.py").into_iter().flatten().filter(|at| {
                index.entries.get(**at).is_some_and(|e| e.path == package || e.path.ends_with(&format!("/{package}")))
            });
            let found: Vec<(usize, f64)> = own.map(|at| (*at, 0.35)).chain(packages.map(|at| (*at, 0.08))).collect();
            if found.is_empty() {
                continue;
            }
            for (at, gain) in found {
                let before = seen.entry(at).or_default();
                let gain = (gain - *before).max(0.0);
                *before += gain;
                if let Some(candidate) = candidates.get_mut(at) {
                    candidate.named += gain;
                    candidate.reason(gain, WhyKind::Path, format!("module {}", slice.join(".")));
                }
            }
            break;
        }
    }
}

fn ends_with_module(path: &str, tail: &str) -> bool {
    let Some(at) = path.rfind('/').map_or(Some(0), |i| Some(i + 1)) else { return false };
    let name = path.get(at..).unwrap_or_default();
    let bare = path.get(..at + name.find('.').unwrap_or(name.len())).unwrap_or(path);
    bare == tail || bare.strip_suffix(tail).is_some_and(|rest| rest.ends_with('/'))
}

/// Files that define what the text names: the rarer the name, the more.
fn symbols(index: &Index, clues: &Clues, candidates: &mut [Candidate]) {
    let mut gained: HashMap<usize, Vec<(f64, String)>> = HashMap::new();
    for ident in &clues.idents {
        let Some(definitions) = index.definitions.get(&joined(&ident.name)) else { continue };
        let exact = |(at, n): &&(usize, usize)| {
            index.entries.get(*at).and_then(|e| e.symbols.get(*n)).is_some_and(|s| s.name == ident.name)
        };
        let mut files: Vec<usize> = definitions.iter().filter(exact).map(|(at, _)| *at).collect();
        files.dedup();
        let source = |at: &usize| index.entries.get(*at).is_some_and(|e| e.class != FileClass::Test);
        let sources = files.iter().filter(|at| source(at)).count().max(1);
        let rarity = 1.0 / (1.0 + 0.5 * f64::from(u32::try_from(sources - 1).unwrap_or(u32::MAX)));
        for at in files {
            let owner = ident.owner.as_ref().is_some_and(|o| owns(index, at, o));
            let gain = 0.16 * ident.weight.min(2.5) * if owner { rarity.max(0.7) } else { rarity };
            gained.entry(at).or_default().push((gain, ident.name.clone()));
        }
    }
    for (at, mut list) in gained {
        list.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        // Each further name counts less: large files define much.
        let gain: f64 = list.iter().zip([1.0, 0.5, 0.3, 0.2, 0.1]).map(|((g, _), share)| g * share).sum();
        let names: Vec<&str> = list.iter().take(5).map(|(_, n)| n.as_str()).collect();
        if let Some(candidate) = candidates.get_mut(at) {
            candidate.named += gain.min(0.8);
            candidate.reason(gain.min(0.8), WhyKind::Symbol, format!("defines {}", names.join(", ")));
        }
    }
}

fn owns(index: &Index, at: usize, owner: &str) -> bool {
    index.entries.get(at).is_some_and(|e| e.symbols.iter().any(|s| s.name == owner) || ends_with_module(&e.path, owner))
}
