//! Which files an exploration names, and what it says of each.

use planex_core::exploration::{FileRole, KeyCode, RelevantFile};

use crate::angle::Angle;
use crate::classify::FileClass;
use crate::explorer::Explorer;
use crate::index::Entry;
use crate::rank::{Place, RankedFile, WhyKind};

/// Below this score a file is named only to reach three.
const FLOOR: f64 = 0.3;
/// From this score on a source file is a place to change.
const TARGET: f64 = 0.55;
/// Most test files named.
const MAX_TESTS: usize = 3;

/// The best files; at least three where there are as many.
pub(super) fn choose(ranked: &[RankedFile], limit: usize) -> Vec<&RankedFile> {
    let mut chosen: Vec<&RankedFile> = Vec::new();
    let mut tests = 0;
    for file in ranked {
        let test = file.class == FileClass::Test;
        if chosen.len() >= limit || (file.score < FLOOR && chosen.len() >= 3) || (test && tests >= MAX_TESTS) {
            continue;
        }
        tests += usize::from(test);
        chosen.push(file);
    }
    chosen
}

/// Whether a file is one to change.
pub(super) fn is_target(file: &RankedFile) -> bool {
    file.class == FileClass::Source && file.score >= TARGET
}

/// The entries, best first, with the tests of the best sources behind them.
pub(super) fn relevant(explorer: &Explorer, chosen: &[&RankedFile], angle: &Angle) -> Vec<RelevantFile> {
    let mut found: Vec<RelevantFile> = chosen.iter().map(|file| entry(explorer, file, chosen, angle)).collect();
    for file in chosen.iter().filter(|f| is_target(f)).take(2) {
        for test in tests_of(explorer, &file.path).into_iter().take(1) {
            if !found.iter().any(|f| f.path == test) {
                found.push(RelevantFile {
                    rationale: format!("Holds the tests of {}: run and extend them.", file.path),
                    topic_relation: Some(format!(
                        "For {angle}: shows what is tested of {} and what is not.",
                        file.path
                    )),
                    path: test,
                    relevance: 0.5,
                    role: FileRole::TestTarget,
                    discovery_source: Some("dependency-trace".to_owned()),
                    key_symbols: Vec::new(),
                    key_code: Vec::new(),
                });
            }
        }
    }
    if found.is_empty() {
        found = fallback(explorer, angle);
    }
    found
}

fn entry(explorer: &Explorer, file: &RankedFile, chosen: &[&RankedFile], angle: &Angle) -> RelevantFile {
    let traced = file.why.first().is_some_and(|w| w.kind == WhyKind::Import);
    let mut symbols: Vec<String> = Vec::new();
    for symbol in &file.symbols {
        if !symbols.contains(symbol) {
            symbols.push(symbol.clone());
        }
    }
    let around = if symbols.is_empty() { file.path.clone() } else { ticked(&symbols, 3) };
    RelevantFile {
        path: file.path.clone(),
        relevance: relevance(file.score),
        rationale: rationale(file),
        role: role(explorer, file, chosen),
        discovery_source: Some(if traced { "dependency-trace" } else { "bash-scan" }.to_owned()),
        key_code: file.places.iter().map(|p| key_code(file, p)).collect(),
        topic_relation: Some(match file.class {
            FileClass::Test => format!("For {angle}: shows which of it is tested, around {around}."),
            FileClass::Docs => format!("For {angle}: tells users of it, around {around}."),
            _ => format!("For {angle}: {}, around {around}.", angle.family().concern()),
        }),
        key_symbols: symbols,
    }
}

fn relevance(score: f64) -> f64 {
    ((0.3 + 0.65 * score) * 100.0).round() / 100.0
}

/// Up to `max` names in back-ticks.
pub(super) fn ticked(names: &[String], max: usize) -> String {
    names.iter().take(max).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

fn rationale(file: &RankedFile) -> String {
    let mut parts: Vec<String> = Vec::new();
    for why in file.why.iter().take(4) {
        parts.push(match why.kind {
            WhyKind::Path => format!("the task names it ({})", why.detail),
            WhyKind::Frame => format!("the stack trace passes through it ({})", why.detail),
            WhyKind::Symbol => why.detail.clone(),
            WhyKind::Terms => format!("holds the task's words {}", why.detail),
            WhyKind::Name => format!("its path says {}", why.detail),
            WhyKind::Import => why.detail.clone(),
            WhyKind::Angle => format!("speaks of {}", why.detail),
        });
    }
    if let Some(place) = file.places.first() {
        let symbol = place.symbol.as_ref().map(|s| format!(" in `{s}`")).unwrap_or_default();
        parts.push(format!("most of it{symbol} at L{}-L{}", place.range.start, place.range.end));
    }
    let text = parts.join("; ");
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

fn key_code(file: &RankedFile, place: &Place) -> KeyCode {
    let name = place.symbol.clone().unwrap_or_else(|| file.path.rsplit('/').next().unwrap_or(&file.path).to_owned());
    let kind = place.kind.map_or("lines", crate::symbols::SymbolKind::as_str);
    let words = if place.terms.is_empty() { String::new() } else { format!(" with {}", place.terms.join(", ")) };
    KeyCode {
        symbol: name,
        location: format!("L{}-L{}", place.range.start, place.range.end),
        description: format!("{kind}{words}"),
    }
}

fn role(explorer: &Explorer, file: &RankedFile, chosen: &[&RankedFile]) -> FileRole {
    match file.class {
        FileClass::Test => return FileRole::TestTarget,
        FileClass::Config => return FileRole::Config,
        FileClass::Docs
        | FileClass::Data
        | FileClass::Generated
        | FileClass::Vendored
        | FileClass::Minified
        | FileClass::Huge => {
            return FileRole::ContextOnly;
        }
        FileClass::Source => {}
    }
    let Some(at) = explorer.index.find(&file.path) else { return FileRole::ContextOnly };
    if is_target(file) {
        return FileRole::ModifyTarget;
    }
    let symbols = explorer.index.entries.get(at).map_or(&[][..], |e| e.symbols.as_slice());
    let types = symbols.iter().filter(|s| s.kind.is_type()).count();
    if types >= 2 && types * 2 > symbols.len() {
        return FileRole::TypeDefinition;
    }
    let target = |other: &usize| chosen.iter().any(|c| is_target(c) && explorer.index.find(&c.path) == Some(*other));
    if explorer.graph().used_by(at).iter().any(target) {
        FileRole::Dependency
    } else if explorer.graph().uses(at).iter().any(target) {
        FileRole::IntegrationPoint
    } else {
        FileRole::PatternReference
    }
}

/// Whether a file holds tests; examples, benchmarks, fixtures and mocks are classed with them but hold none.
pub(crate) fn is_test_file(entry: &Entry) -> bool {
    let aside = [
        "example",
        "examples",
        "bench",
        "benches",
        "benchmark",
        "benchmarks",
        "fixture",
        "fixtures",
        "testdata",
        "test_data",
        "mocks",
        "__mocks__",
        "snapshots",
        "__snapshots__",
    ];
    entry.class == FileClass::Test
        && entry.language().is_some()
        && !entry.path.split('/').any(|part| aside.contains(&part))
}

/// Test files of a source file: by their name first, then by what they import.
pub(crate) fn tests_of(explorer: &Explorer, path: &str) -> Vec<String> {
    let stem = |p: &str| p.rsplit('/').next().and_then(|n| n.split('.').next()).unwrap_or("").to_ascii_lowercase();
    let own = stem(path);
    let bare = |name: String| {
        let cut = ["test_", "tests_"].iter().find_map(|p| name.strip_prefix(p)).unwrap_or(&name);
        ["_tests", "_test", "_spec", "tests", "test", "spec"]
            .iter()
            .find_map(|s| cut.strip_suffix(s))
            .unwrap_or(cut)
            .to_owned()
    };
    let general = ["mod", "lib", "main", "index", "__init__", "utils", "types"].contains(&own.as_str());
    let shared = |other: &str| path.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count();
    let tests = explorer.index.entries.iter().enumerate().filter(|(_, e)| is_test_file(e));
    let importers: &[usize] = explorer.index.find(path).map_or(&[], |at| explorer.graph().used_by(at));
    let mut found: Vec<(u8, usize, &str)> = Vec::new();
    for (at, entry) in tests {
        let name = stem(&entry.path);
        let core = bare(name.clone());
        // In these languages a test says so in its name; a file of the same name below tests/ is a helper.
        let marked = core != name || !matches!(entry.language(), Some("Python" | "Go" | "Java" | "C#"));
        let named = !general && marked && core == own && crate::symbols::language_of(path).0 == entry.language();
        if named || importers.contains(&at) {
            found.push((u8::from(!named), shared(&entry.path), &entry.path));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then(a.2.cmp(b.2)));
    found.into_iter().map(|(_, _, p)| p.to_owned()).collect()
}

/// Nothing of the text is in the tree: where a reader would begin.
fn fallback(explorer: &Explorer, angle: &Angle) -> Vec<RelevantFile> {
    let entry_points = explorer.tech().entry_points.iter().map(String::as_str);
    let mut largest: Vec<_> = explorer.index.entries.iter().filter(|e| e.class == FileClass::Source).collect();
    largest.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
    let mut paths: Vec<&str> = entry_points.chain(largest.iter().map(|e| e.path.as_str())).collect();
    if paths.is_empty() {
        paths = explorer.index.entries.iter().map(|e| e.path.as_str()).collect();
    }
    let mut seen = std::collections::HashSet::new();
    paths.retain(|p| seen.insert(*p));
    let file = |path: &str| RelevantFile {
        path: path.to_owned(),
        relevance: 0.3,
        rationale: "No word of the task occurs in the code; a reader of this project would begin here.".to_owned(),
        role: FileRole::ContextOnly,
        discovery_source: Some("bash-scan".to_owned()),
        key_symbols: Vec::new(),
        key_code: Vec::new(),
        topic_relation: Some(format!("For {angle}: a starting point only.")),
    };
    paths.into_iter().take(3).map(file).collect()
}
