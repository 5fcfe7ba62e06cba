//! Python projects.

use planex_core::tech::TechModule;
use toml::{Table, Value};

use super::facts::Facts;
use super::manifest::{Tree, below, folder_name, folder_of, quoted};

/// Reads `pyproject.toml`, `setup.py`, `setup.cfg`, `requirements*.txt`.
pub(super) fn read(tree: &Tree<'_>, facts: &mut Facts) {
    let mut folders: Vec<&str> = Vec::new();
    for name in ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "manage.py"] {
        for path in tree.named(name) {
            let folder = folder_of(path);
            // A tool's configuration beside a package is no package of its own.
            if !folders.contains(&folder)
                && (name != "requirements.txt"
                    || folder == "."
                    || tree.paths().any(|p| folder_of(p) == folder && p.ends_with(".py")))
            {
                folders.push(folder);
            }
        }
    }
    let projects: Vec<Project<'_>> =
        folders.iter().map(|f| Project::read(tree, f)).filter(|p| p.is_python(tree)).collect();
    let names: Vec<String> = projects.iter().map(|p| p.name.clone()).collect();
    for project in projects {
        one(tree, facts, &project, &names);
    }
}

struct Project<'p> {
    folder: &'p str,
    name: String,
    description: String,
    dependencies: Vec<String>,
    /// All manifests, joined: to look for names.
    text: String,
}

impl<'p> Project<'p> {
    fn read(tree: &Tree<'_>, folder: &'p str) -> Self {
        let table = tree.toml(&below(folder, "pyproject.toml")).unwrap_or_default();
        let project = table.get("project").or_else(|| table.get("tool")?.get("poetry"));
        let text_of = |key: &str| project.and_then(|p| p.get(key)).and_then(Value::as_str).map(str::to_owned);
        let files = [
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "requirements.txt",
            "requirements-dev.txt",
            "tox.ini",
            "pytest.ini",
            "Pipfile",
        ];
        let text = files.iter().filter_map(|f| tree.read(&below(folder, f))).collect::<Vec<_>>().join("\n");
        Self {
            folder,
            name: text_of("name").unwrap_or_else(|| folder_name(folder, "python").to_owned()),
            description: text_of("description").unwrap_or_default(),
            dependencies: dependencies(&table, &tree.read(&below(folder, "requirements.txt")).unwrap_or_default()),
            text,
        }
    }

    fn is_python(&self, tree: &Tree<'_>) -> bool {
        tree.paths().any(|p| p.ends_with(".py") && super::manifest::inside(p, self.folder).is_some())
    }
}

fn requirement_name(line: &str) -> String {
    line.trim()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c))
        .collect::<String>()
        .to_ascii_lowercase()
}

fn dependencies(table: &Table, requirements: &str) -> Vec<String> {
    let project = table.get("project");
    let mut lines: Vec<String> = Vec::new();
    let arrays = [project.and_then(|p| p.get("dependencies"))]
        .into_iter()
        .flatten()
        .chain(
            project
                .and_then(|p| p.get("optional-dependencies"))
                .and_then(Value::as_table)
                .into_iter()
                .flat_map(Table::values),
        )
        .chain(table.get("dependency-groups").and_then(Value::as_table).into_iter().flat_map(Table::values));
    for item in arrays.filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
        lines.push(requirement_name(item));
    }
    let poetry = table.get("tool").and_then(|t| t.get("poetry"));
    for section in ["dependencies", "dev-dependencies"] {
        lines.extend(
            poetry.and_then(|p| p.get(section)).and_then(Value::as_table).into_iter().flat_map(Table::keys).cloned(),
        );
    }
    lines.extend(requirements.lines().filter(|l| !l.trim_start().starts_with(['#', '-'])).map(requirement_name));
    lines.retain(|l| !l.is_empty());
    lines
}

fn one(tree: &Tree<'_>, facts: &mut Facts, project: &Project<'_>, names: &[String]) {
    let folder = project.folder;
    let lock = |name: &str| tree.has(&below(folder, name)) || tree.has(name);
    let (system, prefix) = if lock("uv.lock") || project.text.contains("[tool.uv") {
        ("uv", "uv run ")
    } else if lock("poetry.lock") || project.text.contains("[tool.poetry") {
        ("poetry", "poetry run ")
    } else if lock("pdm.lock") {
        ("pdm", "pdm run ")
    } else if lock("Pipfile.lock") {
        ("pipenv", "pipenv run ")
    } else {
        ("pip", "python -m ")
    };
    facts.build(system, None);
    facts.frameworks_of(project.dependencies.iter().map(String::as_str));
    let command = test_command(tree, project, prefix);
    if command.as_ref().is_some_and(|c| c.contains("pytest")) {
        Facts::add(&mut facts.test_framework, "pytest");
    } else if command.is_some() {
        Facts::add(&mut facts.test_framework, "unittest");
    }
    let own = project.dependencies.iter().filter(|d| names.contains(d) && **d != project.name).cloned().collect();
    for entry in [
        "manage.py",
        "app.py",
        "main.py",
        "wsgi.py",
        &format!("{0}/__main__.py", project.name),
        &format!("src/{0}/__main__.py", project.name),
        &format!("src/{0}/__init__.py", project.name),
        &format!("{0}/__init__.py", project.name),
    ] {
        let path = below(folder, &entry.replace('-', "_"));
        if tree.paths().any(|p| p == path) {
            Facts::add(&mut facts.entry_points, path);
        }
    }
    let module = TechModule {
        name: project.name.clone(),
        path: folder.to_owned(),
        language: "Python".to_owned(),
        test_command: command,
        depends_on: own,
    };
    facts.module(module, project.description.clone());
}

fn test_command(tree: &Tree<'_>, project: &Project<'_>, prefix: &str) -> Option<String> {
    let folder = project.folder;
    let is_test = |path: &str| {
        path.rsplit('/').next().is_some_and(|n| n.starts_with("test") || n.ends_with("_test.py"))
            && path.ends_with(".py")
    };
    if !tree.has_tests(folder, is_test) {
        return None;
    }
    let bare = if prefix == "python -m " { "python " } else { prefix };
    if tree.has(&below(folder, "manage.py")) && !project.text.contains("pytest") {
        let python = if bare == "python " { "python ".to_owned() } else { format!("{prefix}python ") };
        return Some(format!("{python}{} test", quoted(&below(folder, "manage.py"))));
    }
    let conftest = tree.paths().any(|p| p.ends_with("conftest.py") && super::manifest::inside(p, folder).is_some());
    let place = if folder == "." { String::new() } else { format!(" {}", quoted(folder)) };
    if project.text.contains("pytest") || conftest {
        return Some(format!("{prefix}pytest{place}"));
    }
    let python = if bare == "python " { "python ".to_owned() } else { format!("{prefix}python ") };
    let discover = if folder == "." { String::new() } else { format!(" -s {} -t {0}", quoted(folder)) };
    Some(format!("{python}-m unittest discover{discover}"))
}
