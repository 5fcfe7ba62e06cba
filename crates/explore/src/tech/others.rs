//! .NET, Ruby, PHP, Elixir, Swift, Zig, `CMake`, and the targets of make and just.

use std::sync::LazyLock;

use planex_core::tech::TechModule;
use regex::Regex;
use serde_json::Value;

use super::facts::Facts;
use super::manifest::{Tree, below, folder_name, folder_of, inside, quoted};

static TARGET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^(test|tests|check)\s*(?:[\w*='\u0022.\- ]*)?:(?:[^=]|$)").ok());
static REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"<ProjectReference\s+Include="([^"]+)""#).ok());

/// Reads what the other readers do not know.
pub(super) fn read(tree: &Tree<'_>, facts: &mut Facts) {
    dotnet(tree, facts);
    ruby(tree, facts);
    php(tree, facts);
    plain(tree, facts, "mix.exs", "mix", "Elixir", "mix test");
    plain(tree, facts, "Package.swift", "swift", "Swift", "swift test");
    plain(tree, facts, "build.zig", "zig", "Zig", "zig build test");
    plain(tree, facts, "pubspec.yaml", "dart", "Dart", "dart test");
    cmake(tree, facts);
    targets(tree, facts);
}

fn module(
    facts: &mut Facts,
    name: &str,
    folder: &str,
    language: &str,
    command: Option<String>,
    depends_on: Vec<String>,
) {
    let module = TechModule {
        name: name.to_owned(),
        path: folder.to_owned(),
        language: language.to_owned(),
        test_command: command,
        depends_on,
    };
    facts.module(module, String::new());
}

fn in_folder(folder: &str, command: &str) -> String {
    if folder == "." { command.to_owned() } else { format!("cd {} && {command}", quoted(folder)) }
}

fn plain(tree: &Tree<'_>, facts: &mut Facts, manifest: &str, system: &str, language: &str, command: &str) {
    for path in tree.named(manifest) {
        let folder = folder_of(path);
        facts.build(system, None);
        module(facts, folder_name(folder, system), folder, language, Some(in_folder(folder, command)), Vec::new());
    }
}

fn dotnet(tree: &Tree<'_>, facts: &mut Facts) {
    let projects = tree.ending(".csproj");
    // Test projects live in folders named so; their manifests count all the same.
    let tests: Vec<&str> =
        tree.paths().filter(|p| p.ends_with(".csproj") && (p.contains("Test") || p.contains("test"))).collect();
    if projects.is_empty() && tests.is_empty() {
        return;
    }
    facts.build("dotnet", Some("dotnet build"));
    for mark in ["xunit", "nunit", "MSTest"] {
        if tests.iter().filter_map(|p| tree.read(p)).any(|t| t.contains(mark)) {
            Facts::add(&mut facts.test_framework, mark);
        }
    }
    if !tests.is_empty() {
        Facts::add(&mut facts.test_commands, "dotnet test");
    }
    for path in projects {
        let folder = folder_of(path);
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".csproj");
        let text = tree.read(path).unwrap_or_default();
        let references = LazyLock::force(&REFERENCE).as_ref().map(|r| {
            let stem = |c: regex::Captures<'_>| {
                Some(c.get(1)?.as_str().replace('\\', "/").rsplit('/').next()?.trim_end_matches(".csproj").to_owned())
            };
            r.captures_iter(&text).filter_map(stem).collect::<Vec<_>>()
        });
        let own = tests
            .iter()
            .find(|t| t.rsplit('/').next().is_some_and(|n| n.starts_with(name)))
            .map(|t| format!("dotnet test {}", quoted(t)));
        module(facts, name, folder, "C#", own, references.unwrap_or_default());
        let program = below(folder, "Program.cs");
        if tree.has(&program) {
            Facts::add(&mut facts.entry_points, program);
        }
    }
}

fn ruby(tree: &Tree<'_>, facts: &mut Facts) {
    for path in tree.named("Gemfile") {
        let folder = folder_of(path);
        let mut text = tree.read(path).unwrap_or_default();
        for spec in tree.ending(".gemspec").into_iter().filter(|p| folder_of(p) == folder) {
            text.push_str(&tree.read(spec).unwrap_or_default());
        }
        facts.build("bundler", None);
        let gems: Vec<&str> = text.split(['"', '\'']).collect();
        facts.frameworks_of(gems.into_iter());
        let tests = |part: &str| {
            tree.paths().any(|p| inside(p, folder).is_some_and(|r| r.starts_with(part) && r.ends_with(".rb")))
        };
        let command = if tests("spec/") {
            Some("bundle exec rspec")
        } else if tests("test/") && tree.has(&below(folder, "bin/rails")) {
            Some("bin/rails test")
        } else if tests("test/") {
            Some("bundle exec rake test")
        } else {
            None
        };
        module(facts, folder_name(folder, "ruby"), folder, "Ruby", command.map(|c| in_folder(folder, c)), Vec::new());
    }
}

fn php(tree: &Tree<'_>, facts: &mut Facts) {
    for path in tree.named("composer.json") {
        let folder = folder_of(path);
        let Some(composer) = tree.json(path) else { continue };
        facts.build("composer", None);
        let keys: Vec<&str> = ["require", "require-dev"]
            .iter()
            .filter_map(|s| composer.get(s)?.as_object())
            .flat_map(|m| m.keys().map(String::as_str))
            .collect();
        facts.frameworks_of(keys.iter().copied());
        let command = if composer.get("scripts").and_then(|s| s.get("test")).is_some() {
            Some("composer test")
        } else if tree.has(&below(folder, "artisan")) {
            Some("php artisan test")
        } else if keys.contains(&"pestphp/pest") {
            Some("vendor/bin/pest")
        } else if keys.contains(&"phpunit/phpunit") {
            Some("vendor/bin/phpunit")
        } else {
            None
        };
        let name = composer.get("name").and_then(Value::as_str).unwrap_or(folder_name(folder, "php")).to_owned();
        module(facts, &name, folder, "PHP", command.map(|c| in_folder(folder, c)), Vec::new());
    }
}

fn cmake(tree: &Tree<'_>, facts: &mut Facts) {
    let Some(text) = tree.read("CMakeLists.txt") else { return };
    facts.build("cmake", Some("cmake -S . -B build && cmake --build build"));
    let everything: String =
        tree.paths().filter(|p| p.ends_with("CMakeLists.txt")).take(60).filter_map(|p| tree.read(p)).collect();
    if everything.contains("enable_testing") || everything.contains("add_test") || everything.contains("include(CTest)")
    {
        Facts::add(&mut facts.test_framework, "CTest");
        let command = "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure";
        Facts::add(&mut facts.test_commands, command);
    }
    if let Some(name) =
        text.lines().find_map(|l| l.trim().to_ascii_lowercase().strip_prefix("project(").map(str::to_owned))
    {
        let name: String = name.chars().take_while(|c| c.is_alphanumeric() || "_-".contains(*c)).collect();
        facts.name.get_or_insert(name);
    }
}

/// `make test` and `just test` at the root stand last: they mostly call what was found before.
fn targets(tree: &Tree<'_>, facts: &mut Facts) {
    for (file, tool) in [
        ("Makefile", "make"),
        ("makefile", "make"),
        ("GNUmakefile", "make"),
        ("justfile", "just"),
        ("Justfile", "just"),
    ] {
        let Some(text) = tree.read(file) else { continue };
        facts.build(tool, None);
        let target = LazyLock::force(&TARGET)
            .as_ref()
            .and_then(|r| r.captures(&text))
            .and_then(|c| c.get(1).map(|m| m.as_str().to_owned()));
        if let Some(target) = target {
            Facts::add(&mut facts.test_commands, format!("{tool} {target}"));
        }
    }
}
