//! Go modules.

use planex_core::tech::TechModule;

use super::facts::Facts;
use super::manifest::{Tree, folder_name, folder_of, inside, quoted};

/// Reads all `go.mod`.
pub(super) fn read(tree: &Tree<'_>, facts: &mut Facts) {
    let modules: Vec<(&str, String, Vec<String>)> =
        tree.named("go.mod").into_iter().filter_map(|p| one(folder_of(p), &tree.read(p)?)).collect();
    if modules.is_empty() {
        return;
    }
    facts.build("go", modules.iter().any(|(f, _, _)| *f == ".").then_some("go build ./..."));
    Facts::add(&mut facts.test_framework, "go test");
    let names: Vec<&String> = modules.iter().map(|(_, name, _)| name).collect();
    for (folder, name, requires) in &modules {
        facts.frameworks_of(requires.iter().map(String::as_str));
        let command =
            if *folder == "." { "go test ./...".to_owned() } else { format!("go -C {} test ./...", quoted(folder)) };
        let module = TechModule {
            name: name.clone(),
            path: (*folder).to_owned(),
            language: "Go".to_owned(),
            test_command: Some(command),
            depends_on: requires.iter().filter(|r| names.contains(r) && *r != name).cloned().collect(),
        };
        facts.module(module, String::new());
        for path in tree.paths().filter(|p| p.ends_with("main.go")) {
            let rest = inside(path, folder).unwrap_or("");
            if rest == "main.go" || (rest.starts_with("cmd/") && rest.matches('/').count() <= 2) {
                Facts::add(&mut facts.entry_points, path);
            }
        }
    }
}

fn one<'p>(folder: &'p str, text: &str) -> Option<(&'p str, String, Vec<String>)> {
    let name = text.lines().find_map(|l| l.trim().strip_prefix("module "))?.trim().trim_matches('"').to_owned();
    let name = if name.is_empty() { folder_name(folder, "go").to_owned() } else { name };
    let word = |line: &str| line.trim().trim_start_matches("require ").split_whitespace().next().map(str::to_owned);
    let requires = text.lines().filter(|l| l.contains(" v") && !l.contains("=>")).filter_map(word).collect();
    Some((folder, name, requires))
}
