//! Cargo packages and workspaces.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
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
    let workspaces: Vec<(&str, Workspace)> =
        manifests.iter().filter_map(|(f, t)| Some((*f, Workspace::read(t.get("workspace")?)))).collect();
    if workspaces.iter().any(|(f, _)| *f == ".") {
        Facts::add(&mut facts.test_commands, "cargo test --workspace");
    }
    let packages: Vec<Package<'_>> = manifests.iter().filter_map(|(folder, table)| package(folder, table)).collect();
    let names: Vec<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    for found in &packages {
        facts.frameworks_of(found.dependencies.iter().map(String::as_str));
        // Path dependencies of members are members, listed or not.
        let needed = packages.iter().any(|p| p.dependencies.contains(&found.name));
        let member = workspaces.iter().any(|(f, w)| {
            found.folder == *f
                || inside(found.folder, f).is_some_and(|rest| w.lists(rest) || (needed && !w.excludes(rest)))
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

struct Workspace {
    members: GlobSet,
    exclude: Vec<String>,
}

impl Workspace {
    fn read(table: &Value) -> Self {
        let list = |key: &str| {
            let items = table.get(key).and_then(Value::as_array);
            items
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|s| s.trim_end_matches('/').to_owned())
                .collect::<Vec<_>>()
        };
        let mut members = GlobSetBuilder::new();
        for glob in list("members").iter().filter_map(|m| GlobBuilder::new(m).literal_separator(true).build().ok()) {
            members.add(glob);
        }
        Self { members: members.build().unwrap_or_default(), exclude: list("exclude") }
    }

    fn excludes(&self, folder: &str) -> bool {
        self.exclude.iter().any(|e| folder == e || inside(folder, e).is_some())
    }

    fn lists(&self, folder: &str) -> bool {
        self.members.is_match(folder) && !self.excludes(folder)
    }
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
