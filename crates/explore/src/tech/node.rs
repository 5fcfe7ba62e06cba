//! npm, pnpm, yarn, bun and Deno packages.

use planex_core::tech::TechModule;
use serde_json::Value;

use super::facts::Facts;
use super::manifest::{Tree, below, folder_name, folder_of, quoted};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    /// Runs a script of the package in `folder`, from the project root.
    fn script(self, folder: &str, script: &str) -> String {
        let place = quoted(folder);
        let test = script == "test";
        match (self, folder == ".") {
            (Self::Npm, true) if test => "npm test".to_owned(),
            (Self::Npm, true) => format!("npm run {script}"),
            (Self::Npm, false) if test => format!("npm --prefix {place} test"),
            (Self::Npm, false) => format!("npm --prefix {place} run {script}"),
            (Self::Pnpm, true) => format!("pnpm run {script}"),
            (Self::Pnpm, false) => format!("pnpm --dir {place} run {script}"),
            (Self::Yarn, true) => format!("yarn run {script}"),
            (Self::Yarn, false) => format!("yarn --cwd {place} run {script}"),
            (Self::Bun, true) => format!("bun run {script}"),
            (Self::Bun, false) => format!("bun run --cwd {place} {script}"),
        }
    }
}

/// Reads all `package.json` and `deno.json`.
pub(super) fn read(tree: &Tree<'_>, facts: &mut Facts) {
    let packages: Vec<(&str, Value)> =
        tree.named("package.json").into_iter().filter_map(|p| Some((folder_of(p), tree.json(p)?))).collect();
    let names: Vec<String> = packages.iter().filter_map(|(_, p)| p.get("name")?.as_str().map(str::to_owned)).collect();
    for (folder, package) in &packages {
        one(tree, facts, folder, package, &names);
    }
    for path in tree.named("deno.json").into_iter().chain(tree.named("deno.jsonc")) {
        let folder = folder_of(path);
        facts.build("deno", None);
        if !packages.iter().any(|(f, _)| *f == folder) {
            let command = if folder == "." { "deno test".to_owned() } else { format!("deno test {}", quoted(folder)) };
            let module = TechModule {
                name: folder_name(folder, "deno").to_owned(),
                path: folder.to_owned(),
                language: "TypeScript".to_owned(),
                test_command: Some(command),
                depends_on: Vec::new(),
            };
            facts.module(module, String::new());
        }
    }
}

fn one(tree: &Tree<'_>, facts: &mut Facts, folder: &str, package: &Value, names: &[String]) {
    let manager = manager_of(tree, folder, package);
    let build = script(package, "build").map(|_| manager.script(folder, "build"));
    facts.build(manager.name(), build.as_deref().filter(|_| folder == "."));
    let dependencies = dependencies(package);
    facts.frameworks_of(dependencies.iter().map(String::as_str));
    let name = package.get("name").and_then(Value::as_str).unwrap_or(folder_name(folder, "package")).to_owned();
    let typed = dependencies.iter().any(|d| d == "typescript") || tree.has(&below(folder, "tsconfig.json"));
    let module = TechModule {
        path: folder.to_owned(),
        language: if typed { "TypeScript" } else { "JavaScript" }.to_owned(),
        test_command: test_command(package, manager, folder, &dependencies),
        depends_on: dependencies.iter().filter(|d| names.contains(d) && **d != name).cloned().collect(),
        name,
    };
    entry_points(tree, facts, folder, package);
    facts.module(module, package.get("description").and_then(Value::as_str).unwrap_or("").to_owned());
}

fn script<'p>(package: &'p Value, name: &str) -> Option<&'p str> {
    let text = package.get("scripts")?.get(name)?.as_str()?.trim();
    // What `npm init` writes is a placeholder, not a test.
    (!text.is_empty() && !text.contains("Error: no test specified")).then_some(text)
}

fn test_command(package: &Value, manager: Manager, folder: &str, dependencies: &[String]) -> Option<String> {
    let watches =
        |text: &str| text.contains("--watch") && !text.contains("--watch=false") && !text.contains("--watchAll=false");
    let named = ["test", "test:unit", "unit", "test:ci", "test:run"];
    if let Some(name) = named.into_iter().find(|n| script(package, n).is_some_and(|text| !watches(text))) {
        return Some(manager.script(folder, name));
    }
    let has = |name: &str| dependencies.iter().any(|d| d == name);
    let direct = if has("vitest") {
        "vitest run"
    } else if has("jest") {
        "jest"
    } else {
        return None;
    };
    let root = if folder == "." { String::new() } else { format!(" --root {}", quoted(folder)) };
    let root = if direct == "jest" { root.replace("--root ", "--rootDir ") } else { root };
    Some(format!("npx {direct}{root}"))
}

fn manager_of(tree: &Tree<'_>, folder: &str, package: &Value) -> Manager {
    let declared = package.get("packageManager").and_then(Value::as_str).unwrap_or("");
    let by_name = [("pnpm", Manager::Pnpm), ("yarn", Manager::Yarn), ("bun", Manager::Bun), ("npm", Manager::Npm)];
    if let Some((_, manager)) = by_name.iter().find(|(n, _)| declared.starts_with(n)) {
        return *manager;
    }
    let locks = [
        ("pnpm-lock.yaml", Manager::Pnpm),
        ("yarn.lock", Manager::Yarn),
        ("bun.lock", Manager::Bun),
        ("bun.lockb", Manager::Bun),
        ("package-lock.json", Manager::Npm),
        ("pnpm-workspace.yaml", Manager::Pnpm),
    ];
    let mut at = folder;
    loop {
        if let Some((_, manager)) = locks.iter().find(|(name, _)| tree.has(&below(at, name))) {
            return *manager;
        }
        if at == "." {
            return Manager::Npm;
        }
        at = folder_of(at);
    }
}

fn dependencies(package: &Value) -> Vec<String> {
    let sections = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let mut found: Vec<String> = Vec::new();
    for key in sections.iter().filter_map(|s| package.get(s)?.as_object()).flat_map(serde_json::Map::keys) {
        if !found.contains(key) {
            found.push(key.clone());
        }
    }
    found
}

fn entry_points(tree: &Tree<'_>, facts: &mut Facts, folder: &str, package: &Value) {
    let bins = match package.get("bin") {
        Some(Value::String(path)) => vec![path.as_str()],
        Some(Value::Object(map)) => map.values().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let usual = [
        "src/index.ts",
        "src/main.ts",
        "src/main.tsx",
        "src/cli.ts",
        "src/index.js",
        "index.js",
        "index.ts",
        "server.js",
        "src/app.ts",
        "api/index.js",
    ];
    let named = package.get("main").and_then(Value::as_str).into_iter().chain(bins);
    for path in named.chain(usual) {
        let path = below(folder, path.trim_start_matches("./"));
        if tree.paths().any(|p| p == path) {
            Facts::add(&mut facts.entry_points, path);
        }
    }
}
