//! Facts and tree as `project-tech.json`.

use std::collections::BTreeMap;

use planex_core::tech::{KeyComponent, LanguageShare, ProjectTech};
use serde_json::Map;

use super::facts::{Facts, Module};
use crate::classify::FileClass;
use crate::explorer::Explorer;
use crate::index::Entry;

/// Puts everything together.
pub(super) fn tech(explorer: &Explorer, facts: Facts, folder: String, now_stamp: &str) -> ProjectTech {
    let languages = languages(explorer);
    let name = facts
        .name
        .clone()
        .filter(|n| !["crate", "package", "python", "ruby", "gradle", "php"].contains(&n.as_str()))
        .unwrap_or(folder);
    let key_components = components(explorer, &facts.modules);
    let architecture = architecture(&name, &languages, &facts, &key_components, explorer);
    // A module alone is the project: its command is the project's.
    let alone = match facts.modules.as_slice() {
        [only] => only.module.test_command.clone(),
        _ => None,
    };
    ProjectTech {
        name,
        languages,
        frameworks: facts.frameworks,
        build_system: facts.build_system,
        test_framework: facts.test_framework,
        test_command: facts.test_commands.first().cloned().or(alone),
        build_command: facts.build_commands.first().cloned(),
        modules: facts.modules.into_iter().map(|m| m.module).collect(),
        entry_points: facts.entry_points.into_iter().take(20).collect(),
        architecture,
        key_components,
        generated_at: now_stamp.to_owned(),
        extra: Map::new(),
    }
}

fn languages(explorer: &Explorer) -> Vec<LanguageShare> {
    let mut by_name: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for entry in explorer.index.entries.iter().filter(|e| e.class.is_code()) {
        if let Some(language) = entry.language() {
            let slot = by_name.entry(language).or_default();
            slot.0 += 1;
            slot.1 += usize::try_from(entry.lines).unwrap_or(usize::MAX);
        }
    }
    let total: usize = by_name.values().map(|(_, lines)| lines).sum();
    let real = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let share = |lines: usize| if total == 0 { 0.0 } else { (real(lines) / real(total) * 1_000.0).round() / 1_000.0 };
    let mut found: Vec<LanguageShare> = by_name
        .into_iter()
        .map(|(name, (files, lines))| LanguageShare { name: name.to_owned(), files, lines, share: share(lines) })
        .collect();
    found.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
    // Samples for tests of an editor or a linter are not languages of the project.
    let main = found.first().map(|l| l.name.clone());
    found.retain(|l| l.share >= 0.005 || Some(&l.name) == main.as_ref());
    found
}

/// Modules with what their manifests say; in a project of one module its largest folders.
fn components(explorer: &Explorer, modules: &[Module]) -> Vec<KeyComponent> {
    let described = modules.iter().filter(|m| m.module.path != ".").take(30).map(|m| {
        let purpose =
            if m.description.is_empty() { folder_purpose(explorer, &m.module.path) } else { m.description.clone() };
        KeyComponent { path: m.module.path.clone(), purpose }
    });
    let mut found: Vec<KeyComponent> = described.collect();
    if found.len() < 2 {
        for folder in largest_folders(explorer) {
            if !found.iter().any(|c| c.path == folder) {
                let purpose = folder_purpose(explorer, &folder);
                found.push(KeyComponent { path: folder, purpose });
            }
        }
    }
    found
}

fn sources(explorer: &Explorer) -> impl Iterator<Item = &Entry> {
    explorer.index.entries.iter().filter(|e| e.class == FileClass::Source)
}

fn largest_folders(explorer: &Explorer) -> Vec<String> {
    let mut lines: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in sources(explorer) {
        if let Some((folder, _)) = entry.path.rsplit_once('/').filter(|(f, _)| !f.starts_with('.')) {
            *lines.entry(folder).or_default() += u64::from(entry.lines);
        }
    }
    let mut folders: Vec<(&str, u64)> = lines.into_iter().collect();
    folders.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    folders.into_iter().take(8).map(|(folder, _)| folder.to_owned()).collect()
}

/// What a folder is for, by the types and functions of its largest files.
fn folder_purpose(explorer: &Explorer, folder: &str) -> String {
    let inside = |e: &&Entry| folder == "." || e.path.strip_prefix(folder).is_some_and(|r| r.starts_with('/'));
    let mut files: Vec<&Entry> = sources(explorer).filter(inside).collect();
    let count = files.len();
    files.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
    let mut names: Vec<&str> = Vec::new();
    for entry in files.iter().take(6) {
        let first = entry
            .symbols
            .iter()
            .filter(|s| s.kind.is_type())
            .chain(&entry.symbols)
            .max_by_key(|s| (s.kind.is_type(), s.end - s.start));
        if let Some(symbol) = first.filter(|s| !names.contains(&s.name.as_str())) {
            names.push(&symbol.name);
        }
    }
    let plural = if count == 1 { "file" } else { "files" };
    if names.is_empty() {
        format!("{count} source {plural}")
    } else {
        format!("{count} source {plural}; defines {}", names.join(", "))
    }
}

fn architecture(
    name: &str,
    languages: &[LanguageShare],
    facts: &Facts,
    components: &[KeyComponent],
    explorer: &Explorer,
) -> String {
    let code: usize = languages.iter().map(|l| l.files).sum();
    if code == 0 {
        return format!("{name} has no source files yet.");
    }
    let main: Vec<String> = languages.iter().take(3).map(|l| format!("{} {:.0} %", l.name, l.share * 100.0)).collect();
    let mut text = format!("{name}: {code} code files ({}).", main.join(", "));
    let modules: Vec<String> = facts
        .modules
        .iter()
        .take(12)
        .map(|m| {
            if m.module.depends_on.is_empty() {
                m.module.name.clone()
            } else {
                format!("{} (uses {})", m.module.name, m.module.depends_on.join(", "))
            }
        })
        .collect();
    if facts.modules.len() > 1 {
        text.push_str(&format!(
            " {} modules: {}{}.",
            facts.modules.len(),
            modules.join("; "),
            if facts.modules.len() > 12 { "; …" } else { "" }
        ));
    } else if !components.is_empty() {
        let paths: Vec<&str> = components.iter().take(6).map(|c| c.path.as_str()).collect();
        text.push_str(&format!(" Most code is in {}.", paths.join(", ")));
    }
    let tests = explorer.index.entries.iter().filter(|e| e.class == FileClass::Test).count();
    text.push_str(&format!(" {tests} test files."));
    if !facts.entry_points.is_empty() {
        let shown: Vec<&str> = facts.entry_points.iter().take(5).map(String::as_str).collect();
        text.push_str(&format!(" Entry points: {}.", shown.join(", ")));
    }
    text
}
