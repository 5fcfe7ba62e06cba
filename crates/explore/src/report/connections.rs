//! How the files to change hang together with the rest.

use crate::classify::FileClass;
use crate::explorer::Explorer;
use crate::rank::RankedFile;
use crate::symbols::SymbolKind;

/// Most integration points named.
const MAX_POINTS: usize = 8;
/// Most files searched for uses of one file.
const MAX_SEARCHED: usize = 40;

/// What each file to change imports and what imports it.
pub(super) fn dependencies(explorer: &Explorer, targets: &[&RankedFile]) -> Vec<String> {
    let graph = explorer.graph();
    let mut lines = Vec::new();
    for target in targets {
        let Some(at) = explorer.index.find(&target.path) else { continue };
        let uses = listed(explorer, graph.uses(at));
        let used_by = listed(explorer, graph.used_by(at));
        let outside = external(explorer, at);
        let mut parts = Vec::new();
        if !uses.is_empty() {
            parts.push(format!("imports {uses}"));
        }
        if !used_by.is_empty() {
            parts.push(format!("is imported by {used_by}"));
        }
        if !outside.is_empty() {
            parts.push(format!("needs {outside} from outside"));
        }
        if !parts.is_empty() {
            lines.push(format!("{} {}.", target.path, parts.join("; ")));
        }
    }
    lines
}

fn listed(explorer: &Explorer, files: &[usize]) -> String {
    let mut sources: Vec<&str> = files
        .iter()
        .filter_map(|at| explorer.index.entries.get(*at))
        .filter(|e| e.class != FileClass::Test)
        .map(|e| e.path.as_str())
        .collect();
    sources.sort_unstable();
    let more = if sources.len() > 5 { format!(" and {} more", sources.len() - 5) } else { String::new() };
    sources.truncate(5);
    if sources.is_empty() { String::new() } else { format!("{}{more}", sources.join(", ")) }
}

/// First parts of imports that are no files of the tree.
fn external(explorer: &Explorer, at: usize) -> String {
    let Some(entry) = explorer.index.entries.get(at) else { return String::new() };
    let go = entry.path.ends_with(".go");
    let own = ["crate", "self", "super", "std", "core", "alloc"];
    let mut names: Vec<&str> = Vec::new();
    for import in entry.imports.iter().filter(|i| !i.starts_with('.')) {
        let first = if go || import.starts_with('@') {
            import.as_str()
        } else {
            import.split(['/', '.', ':', '\\']).next().unwrap_or(import)
        };
        let standard = go && !first.split('/').next().unwrap_or("").contains('.');
        let here = explorer.index.entries.iter().any(|e| e.path.split('/').any(|p| p.split('.').next() == Some(first)));
        if !standard && !here && !own.contains(&first) && !names.contains(&first) && first.len() > 1 {
            names.push(first);
        }
    }
    names.truncate(5);
    names.join(", ")
}

/// Lines outside the files to change that name what they define, as `file:line`; without any, the definitions themselves.
pub(super) fn integration_points(explorer: &Explorer, targets: &[&RankedFile]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for target in targets {
        let Some(at) = explorer.index.find(&target.path) else { continue };
        let names = exported(target);
        for user in explorer.graph().used_by(at).iter().take(MAX_SEARCHED) {
            let Some(entry) = explorer.index.entries.get(*user).filter(|e| e.class == FileClass::Source) else {
                continue;
            };
            if let Some(point) = first_use(explorer, &entry.path, &names, &target.path) {
                lines.push(point);
            }
            if lines.len() >= MAX_POINTS {
                return lines;
            }
        }
    }
    if lines.is_empty() {
        for target in targets.iter().take(3) {
            if let (Some(range), Some(symbol)) = (target.lines.first(), target.symbols.first()) {
                lines.push(format!("{}:{} defines `{symbol}`", target.path, range.start));
            }
        }
    }
    lines
}

/// Names by which others reach a file: its best places first.
fn exported(target: &RankedFile) -> Vec<String> {
    let own =
        target.places.iter().filter(|p| !matches!(p.kind, Some(SymbolKind::Module))).filter_map(|p| p.symbol.clone());
    let mut names: Vec<String> = own.filter(|n| n.len() > 2).collect();
    let stem = target.path.rsplit('/').next().and_then(|n| n.split('.').next()).unwrap_or("");
    if stem.len() > 2 && !["mod", "lib", "main", "index", "__init__"].contains(&stem) {
        names.push(stem.to_owned());
    }
    names
}

fn first_use(explorer: &Explorer, path: &str, names: &[String], target: &str) -> Option<String> {
    let text = explorer.read(path)?;
    for name in names {
        let mut import = None;
        for (number, line) in (1..).zip(text.lines()) {
            if !has_word(line, name) {
                continue;
            }
            let trimmed = line.trim_start();
            if ["import", "use ", "from", "#include", "require", "export"].iter().any(|w| trimmed.starts_with(w)) {
                import.get_or_insert(number);
            } else if !trimmed.starts_with(['/', '#', '*']) {
                return Some(format!("{path}:{number} uses `{name}` of {target}"));
            }
        }
        if let Some(number) = import {
            return Some(format!("{path}:{number} imports `{name}` of {target}"));
        }
    }
    None
}

/// Whether a line holds a name as a whole word.
fn has_word(line: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).and_then(|h| h.chars().next_back());
        let after = line.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(word) && !after.is_some_and(word)
    })
}
