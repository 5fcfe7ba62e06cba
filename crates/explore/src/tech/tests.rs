use camino::Utf8Path;
use planex_core::tech::ProjectTech;

use super::{project_tech, test_command_for};

type Files<'a> = &'a [(&'a str, &'a str)];

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, ProjectTech) {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap();
    for (path, text) in files {
        planex_sys::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        planex_sys::fs::write_atomic(&root.join(path), text.as_bytes()).unwrap();
    }
    let tech = project_tech(root, None, "2026-01-01T00:00:00+00:00");
    (dir, tech)
}

fn commands(files: &[(&str, &str)], path: &str) -> Vec<String> {
    let (_dir, tech) = project(files);
    test_command_for(&tech, &[path.to_owned()]).into_iter().map(|(_, command)| command).collect()
}

#[test]
fn test_commands_of_single_projects() {
    let table: &[(Files, &str, &str)] = &[
        (&[("package.json", r#"{"name":"a","scripts":{"test":"jest"}}"#)], "src/a.js", "npm test"),
        (&[("package.json", r#"{"scripts":{"test":"vitest run"}}"#), ("pnpm-lock.yaml", "")], "a.ts", "pnpm run test"),
        (&[("package.json", r#"{"scripts":{"test":"x"}}"#), ("yarn.lock", "")], "a.ts", "yarn run test"),
        (&[("package.json", r#"{"scripts":{"test":"x"}}"#), ("bun.lock", "")], "a.ts", "bun run test"),
        (
            &[("package.json", r#"{"scripts":{"test":"vitest --watch"},"devDependencies":{"vitest":"1"}}"#)],
            "a.ts",
            "npx vitest run",
        ),
        (&[("Cargo.toml", "[package]\nname=\"a\"")], "src/lib.rs", "cargo test"),
        (
            &[("go.mod", "module x/y\n\nrequire a/b v1.0.0\n"), ("internal/z/z.go", "package z")],
            "internal/z/z.go",
            "go test ./internal/z/...",
        ),
        (&[("go.mod", "module x/y")], "main.go", "go test ./..."),
        (
            &[
                ("pyproject.toml", "[project]\nname=\"a\"\n[dependency-groups]\ndev=[\"pytest>=8\"]"),
                ("uv.lock", ""),
                ("tests/test_a.py", "def test_a(): pass"),
            ],
            "a.py",
            "uv run pytest",
        ),
        (
            &[
                ("pyproject.toml", "[tool.poetry]\nname=\"a\"\n[tool.poetry.dependencies]\npytest=\"*\""),
                ("tests/test_a.py", ""),
            ],
            "a.py",
            "poetry run pytest",
        ),
        (&[("setup.py", ""), ("a.py", ""), ("test_a.py", "import unittest")], "a.py", "python -m unittest discover"),
        (
            &[("manage.py", ""), ("requirements.txt", "Django==5"), ("app/tests/test_x.py", "")],
            "app/x.py",
            "python manage.py test",
        ),
        (
            &[("pom.xml", "<project><artifactId>a</artifactId></project>"), ("mvnw", "")],
            "src/main/java/A.java",
            "./mvnw test",
        ),
        (&[("build.gradle.kts", "plugins {}"), ("gradlew", "")], "src/A.kt", "./gradlew test"),
        (
            &[("App/App.csproj", "<Project/>"), ("App.Tests/App.Tests.csproj", "xunit")],
            "App/A.cs",
            "dotnet test App.Tests/App.Tests.csproj",
        ),
        (&[("Gemfile", "gem 'rspec'"), ("spec/a_spec.rb", "")], "lib/a.rb", "bundle exec rspec"),
        (&[("composer.json", r#"{"require-dev":{"phpunit/phpunit":"^10"}}"#)], "src/A.php", "vendor/bin/phpunit"),
        (&[("Makefile", "all: a\n\ntest: all\n\t./run\n"), ("a.c", "int main(){}")], "a.c", "make test"),
        (&[("mix.exs", "")], "lib/a.ex", "mix test"),
    ];
    for (files, path, command) in table {
        assert_eq!(commands(files, path), [*command], "{files:?}");
    }
}

#[test]
fn placeholders_and_empty_folders_have_no_command() {
    let npm = r#"{"name":"a","scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
    assert!(commands(&[("package.json", npm)], "a.js").is_empty());
    let (_dir, tech) = project(&[]);
    assert!(tech.languages.is_empty() && tech.test_command.is_none() && tech.modules.is_empty());
    assert!(tech.architecture.contains("no source files"));
}

#[test]
fn broken_manifests_are_passed_over() {
    let (_dir, tech) = project(&[
        ("package.json", "{"),
        ("Cargo.toml", "[["),
        ("pyproject.toml", "="),
        ("pom.xml", "<"),
        ("a.py", "x = 1"),
    ]);
    assert_eq!(tech.languages.first().map(|l| l.name.as_str()), Some("Python"));
}

#[test]
fn monorepos_have_each_module() {
    let (_dir, tech) = project(&[
        ("Cargo.toml", "[workspace]\nmembers=[\"crates/*\"]\nexclude=[\"tool\"]"),
        ("crates/core/Cargo.toml", "[package]\nname=\"acme-core\"\ndescription=\"The heart.\""),
        ("crates/core/src/lib.rs", "pub fn f() {}"),
        ("crates/cli/Cargo.toml", "[package]\nname=\"acme\"\n[dependencies]\nacme-core={path=\"../core\"}\nclap=\"4\""),
        ("crates/cli/src/main.rs", "fn main() {}"),
        ("tool/Cargo.toml", "[package]\nname=\"tool\""),
        (
            "web/package.json",
            r#"{"name":"web","scripts":{"test":"vitest run"},"dependencies":{"react":"19"},"devDependencies":{"vitest":"3","typescript":"5"}}"#,
        ),
        ("web/src/index.ts", "export const a = 1;"),
        ("web/package-lock.json", "{}"),
    ]);
    let of = |path: &str| test_command_for(&tech, &[path.to_owned()]);
    assert_eq!(of("crates/core/src/lib.rs"), [("acme-core".to_owned(), "cargo test -p acme-core".to_owned())]);
    assert_eq!(of("tool/src/main.rs"), [("tool".to_owned(), "cargo test --manifest-path tool/Cargo.toml".to_owned())]);
    assert_eq!(of("web/src/index.ts"), [("web".to_owned(), "npm --prefix web test".to_owned())]);
    assert_eq!(tech.test_command.as_deref(), Some("cargo test --workspace"));
    let cli = tech.modules.iter().find(|m| m.name == "acme").unwrap();
    assert_eq!(cli.depends_on, ["acme-core"]);
    assert!(tech.frameworks.contains(&"React".to_owned()) && tech.frameworks.contains(&"clap".to_owned()));
    assert!(tech.entry_points.contains(&"crates/cli/src/main.rs".to_owned()));
    assert!(tech.key_components.iter().any(|c| c.path == "crates/core" && c.purpose == "The heart."));
    assert_eq!(test_command_for(&tech, &["crates/core/a.rs".to_owned(), "crates/core/b.rs".to_owned()]).len(), 1);
}

#[test]
fn names_that_a_shell_would_split_are_quoted() {
    let found = commands(&[("my app/package.json", r#"{"scripts":{"test":"x"}}"#)], "my app/a.js");
    assert_eq!(found, ["npm --prefix 'my app' test"]);
}
