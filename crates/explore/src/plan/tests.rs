use camino::Utf8Path;
use planex_core::glob::{Scope, overlap};
use planex_core::schema::results::PlannedTask;
use planex_core::tech::ProjectTech;

use super::{ExploredRow, plan_tasks};
use crate::{ExploreOptions, Explorer, Query, findings, project_tech};

fn open(files: &[(&str, &str)]) -> (tempfile::TempDir, Explorer, ProjectTech) {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap();
    for (path, text) in files {
        planex_sys::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        planex_sys::fs::write_atomic(&root.join(path), text.as_bytes()).unwrap();
    }
    let explorer = Explorer::open(root, &ExploreOptions::default()).unwrap();
    let tech = project_tech(root, Some(&explorer), "");
    (dir, explorer, tech)
}

const SHOP: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"shop\"\n"),
    ("README.md", "# shop\nUse the `list` command to list orders.\n"),
    ("src/lib.rs", "pub mod orders;\npub mod cache;\n"),
    (
        "src/orders.rs",
        "use crate::cache::Cache;\n/// Lists orders.\npub fn list_orders(cache: &Cache) -> Vec<String> {\n    cache.get(\"orders\")\n}\n",
    ),
    (
        "src/cache.rs",
        "/// Cache of values.\npub struct Cache;\nimpl Cache {\n    pub fn get(&self, key: &str) -> Vec<String> { vec![key.to_owned()] }\n    /// Evicts expired values.\n    pub fn evict_expired(&self) {}\n}\n",
    ),
    ("tests/orders.rs", "use shop::orders::list_orders;\n#[test]\nfn lists() {}\n"),
];

fn disjoint_or_ordered(tasks: &[PlannedTask]) {
    let depends = |later: &PlannedTask, id: &str| {
        let mut seen = vec![later.id.clone()];
        let mut at = 0;
        while let Some(current) = seen.get(at).cloned() {
            for dep in tasks.iter().filter(|t| t.id == current).flat_map(|t| &t.deps) {
                if !seen.contains(dep) {
                    seen.push(dep.clone());
                }
            }
            at += 1;
        }
        seen.iter().any(|s| s == id)
    };
    for (n, later) in tasks.iter().enumerate() {
        for earlier in &tasks[..n] {
            let meet =
                overlap(&Scope::parse(&earlier.scope, |_| true).0, &Scope::parse(&later.scope, |_| true).0).is_some();
            assert!(!meet || depends(later, &earlier.id), "{} and {} may write the same files", earlier.id, later.id);
        }
    }
}

#[test]
fn a_list_gives_one_task_each() {
    let (_dir, explorer, tech) = open(SHOP);
    let tasks = plan_tasks(
        "1. make list_orders sort by date\n2. let evict_expired return a count\n3. update the README",
        &[],
        &tech,
        Some(&explorer),
    );
    let titles: Vec<&str> = tasks.iter().map(|t| t.title.as_str()).collect();
    assert_eq!(titles, ["make list_orders sort by date", "let evict_expired return a count", "update the README"]);
    assert!(tasks[0].scope.contains("src/orders.rs"), "{}", tasks[0].scope);
    assert!(tasks[1].scope.contains("src/cache.rs"), "{}", tasks[1].scope);
    assert_eq!(tasks[2].scope, "README.md");
    assert_eq!(tasks[2].deps, ["T1", "T2"]);
    assert_eq!(tasks[0].execution_directives, "`cargo test`");
    disjoint_or_ordered(&tasks);
}

#[test]
fn one_requirement_with_explorations() {
    let (_dir, explorer, tech) = open(SHOP);
    let text = "Add an option to list_orders that limits how many orders come back";
    let exploration = explorer.exploration(&Query::new(text, 8).from_angle("patterns"), 1, 1, "", 0.0);
    let (found, key_files) = findings(&exploration);
    let row = ExploredRow {
        id: "E1",
        angle: "patterns",
        findings: &found,
        key_files: &key_files,
        exploration: Some(&exploration),
    };
    let tasks = plan_tasks(text, &[row], &tech, Some(&explorer));
    assert!((1..=3).contains(&tasks.len()));
    assert!(tasks.iter().all(|t| t.context_from.contains(&"E1".to_owned())));
    assert!(tasks[0].scope.contains("src/orders.rs"));
    for task in &tasks {
        for path in task.scope.split(';').filter(|p| !p.contains('*')) {
            assert!(explorer.has_file(path), "{path}");
        }
        if let Some((_, files)) = task.hints.split_once("||") {
            assert!(files.split(';').all(|f| explorer.has_file(f.trim())), "{}", task.hints);
        }
    }
    disjoint_or_ordered(&tasks);
    let shown: Vec<String> = tasks.iter().map(show).collect();
    insta::assert_snapshot!(shown.join("\n---\n"));
}

fn show(task: &PlannedTask) -> String {
    format!(
        "{} {}\n{}\ntest: {}\naccept:\n{}\nscope: {}\nhints: {}\nrun: {}\ndeps: {:?} from: {:?}",
        task.id,
        task.title,
        task.description,
        task.test,
        task.acceptance_criteria,
        task.scope,
        task.hints,
        task.execution_directives,
        task.deps,
        task.context_from
    )
}

#[test]
fn empty_folders_and_empty_texts_still_give_a_task() {
    let (_dir, explorer, tech) = open(&[]);
    for text in ["Build a todo app", "", "- a thing\n- another thing"] {
        for explorer in [None, Some(&explorer)] {
            let tasks = plan_tasks(text, &[], &tech, explorer);
            assert!(!tasks.is_empty() && tasks.iter().all(|t| !t.title.is_empty() && t.scope == "**"));
            disjoint_or_ordered(&tasks);
        }
    }
}

#[test]
fn steps_depend_on_the_step_before() {
    let tasks = plan_tasks("Add a config file, and then read it at start", &[], &ProjectTech::default(), None);
    assert_eq!(tasks.len(), 2);
    assert_eq!(tasks[1].deps, ["T1"]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_planned(text in "(\\PC|\n){0,200}") {
        let tasks = plan_tasks(&text, &[], &ProjectTech::default(), None);
        assert!(!tasks.is_empty());
        disjoint_or_ordered(&tasks);
    }
}
