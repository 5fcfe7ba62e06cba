//! Cargo packages and workspaces.

use planex_core::tech::TechModule;
use toml::{Table, Value};

use super::facts::Facts;
use super::manifest::{Tree, below, folder_name, folder_of, inside, quoted};

struct Package<'p> {
    folder: &'p str,
    name: String,
    description: String,
    dependencies: Vec<String>,
}

/// Reads all `Cargo.toml`.
pub(super) fn read(tree: &Tree<'_>, facts: &mut Facts) {
    let manifests: Vec<(&str, Table)> =
        tree.named("Cargo.toml").into_iter().filter_map(|p| Some((folder_of(p), tree.toml(p)?))).collect();
    if manifests.is_empty() {
        return;
    }
    facts.build("cargo", manifests.iter().any(|(f, _)| *f == ".").then_some("cargo build"));
    Facts::add(&mut facts.test_framework, "cargo test");
    let workspaces: Vec<(&str, Vec<String>)> =
        manifests.iter().filter_map(|(f, t)| Some((*f, excluded(t.get("workspace")?)))).collect();
    if workspaces.iter().any(|(f, _)| *f == ".") {
        Facts::add(&mut facts.test_commands, "cargo test --workspace");
    }
    let packages: Vec<Package<'_>> = manifests.iter().filter_map(|(folder, table)| package(folder, table)).collect();
    let names: Vec<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    for found in &packages {
        facts.frameworks_of(found.dependencies.iter().map(String::as_str));
        let member = workspaces.iter().any(|(f, out)| {
            inside_or_same(found.folder, f) && !out.iter().any(|o| inside_or_same(found.folder, &below(f, o)))
        });
        let command = match (found.folder, member) {
            (".", false) => "cargo test".to_owned(),
            (_, true) => format!("cargo test -p {}", quoted(&found.name)),
            (folder, false) => format!("cargo test --manifest-path {}", quoted(&below(folder, "Cargo.toml"))),
        };
        let own =
            found.dependencies.iter().filter(|d| names.contains(&d.as_str()) && **d != found.name).cloned().collect();
        let module = TechModule {
            name: found.name.clone(),
            path: found.folder.to_owned(),
            language: "Rust".to_owned(),
            test_command: Some(command),
            depends_on: own,
        };
        facts.module(module, found.description.clone());
        for entry in ["src/main.rs", "src/lib.rs"] {
            let path = below(found.folder, entry);
            if tree.has(&path) {
                Facts::add(&mut facts.entry_points, path);
            }
        }
    }
}

fn inside_or_same(folder: &str, around: &str) -> bool {
    folder == around || inside(folder, around).is_some()
}

fn excluded(workspace: &Value) -> Vec<String> {
    let list = workspace.get("exclude").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(|s| s.trim_end_matches('/').to_owned()).collect()
}

fn package<'p>(folder: &'p str, table: &Table) -> Option<Package<'p>> {
    let package = table.get("package")?;
    let text = |key: &str| package.get(key).and_then(Value::as_str);
    let name = text("name").unwrap_or(folder_name(folder, "crate")).to_owned();
    let mut dependencies = Vec::new();
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let listed = table.get(section).and_then(Value::as_table);
        for (key, value) in listed.into_iter().flatten() {
            let real = value.get("package").and_then(Value::as_str).unwrap_or(key);
            if !dependencies.iter().any(|d| d == real) {
                dependencies.push(real.to_owned());
            }
        }
    }
    Some(Package { folder, name, description: text("description").unwrap_or("").to_owned(), dependencies })
}
