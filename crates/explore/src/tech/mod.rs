//! What a project is made of: languages, build systems, modules and the commands that test them, from tree and manifests.
//! Nothing is ever run.

mod cargo;
mod facts;
mod go;
mod jvm;
mod manifest;
mod node;
mod others;
mod python;
mod summary;

#[cfg(test)]
mod tests;

use camino::Utf8Path;
use planex_core::tech::{ProjectTech, TechModule};

use crate::explorer::{ExploreOptions, Explorer};
use facts::Facts;
use manifest::Tree;

/// Reads tree and manifests. `now_stamp` is RFC 3339. Without an explorer the tree is read for this call.
///
/// A folder that cannot be read gives a project of which only the name is known.
#[must_use]
pub fn project_tech(root: &Utf8Path, explorer: Option<&Explorer>, now_stamp: &str) -> ProjectTech {
    let own;
    let explorer = match explorer {
        Some(explorer) => Some(explorer),
        None => {
            own = Explorer::open(root, &ExploreOptions::default()).ok();
            own.as_ref()
        }
    };
    let folder = planex_sys::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let name = folder.file_name().unwrap_or("project").to_owned();
    let Some(explorer) = explorer else {
        return ProjectTech { name, generated_at: now_stamp.to_owned(), ..ProjectTech::default() };
    };
    let tree = Tree::new(explorer);
    let mut facts = Facts::default();
    cargo::read(&tree, &mut facts);
    node::read(&tree, &mut facts);
    python::read(&tree, &mut facts);
    go::read(&tree, &mut facts);
    jvm::read(&tree, &mut facts);
    others::read(&tree, &mut facts);
    summary::tech(explorer, facts, name, now_stamp)
}

/// The commands that test changed paths, each with the name of its module, without repetition.
///
/// The innermost module around a path counts; where it has no command, the one around it, at last the project's.
#[must_use]
pub fn test_command_for(tech: &ProjectTech, paths: &[String]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, command: &str| {
        if !found.iter().any(|(_, known)| known == command) {
            found.push((name.to_owned(), command.to_owned()));
        }
    };
    for path in paths {
        match module_of(tech, path) {
            Some((module, command)) => add(&module.name, &narrowed(module, command, path)),
            None => {
                if let Some(command) = &tech.test_command {
                    add(&tech.name, command);
                }
            }
        }
    }
    if found.is_empty()
        && let Some(command) = &tech.test_command
    {
        found.push((tech.name.clone(), command.clone()));
    }
    found
}

/// The innermost module around a path that has a test command.
fn module_of<'t>(tech: &'t ProjectTech, path: &str) -> Option<(&'t TechModule, &'t str)> {
    let around = |module: &&TechModule| {
        module.path == "." || path.strip_prefix(&module.path).is_some_and(|r| r.is_empty() || r.starts_with('/'))
    };
    let with_command = tech.modules.iter().filter(around).filter_map(|m| Some((m, m.test_command.as_deref()?)));
    let language = crate::symbols::language_of(path).0;
    // Of two modules in one folder (a crate with a web page) the one of the file's language is meant.
    with_command.max_by_key(|(m, _)| {
        (if m.path == "." { 0 } else { m.path.len() + 1 }, language.is_some_and(|l| same_family(l, &m.language)))
    })
}

fn same_family(a: &str, b: &str) -> bool {
    let family = |name: &str| match name {
        "TypeScript" | "JavaScript" | "Vue" | "Svelte" => "js".to_owned(),
        "C" | "C++" => "c".to_owned(),
        "Java" | "Kotlin" | "Scala" | "Groovy" => "jvm".to_owned(),
        other => other.to_owned(),
    };
    family(a) == family(b)
}

/// Go tests by package: the package of the path is enough.
fn narrowed(module: &TechModule, command: &str, path: &str) -> String {
    if module.language != "Go" || !command.ends_with("go test ./...") || !path.ends_with(".go") {
        return command.to_owned();
    }
    let inside = path.strip_prefix(&format!("{}/", module.path)).unwrap_or(path);
    match inside.rsplit_once('/') {
        Some((folder, _)) if folder.chars().all(|c| c.is_ascii_alphanumeric() || "/_.-".contains(c)) => {
            command.replace("./...", &format!("./{folder}/..."))
        }
        _ => command.to_owned(),
    }
}
