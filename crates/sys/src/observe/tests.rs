//! Real trees, with and without a repository around them.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::fs;

struct Tree {
    _temp: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Tree {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(temp.path().join("p")).unwrap();
        fs::create_dir_all(&root).unwrap();
        Self { root, _temp: temp }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }

    fn scan(&self) -> TreeState {
        TreeState::scan(&self.root, &ObserveOptions::default())
    }

    fn changes(&self, since: &TreeState) -> Vec<String> {
        let letter = |kind| match kind {
            ChangeKind::Created => 'C',
            ChangeKind::Modified => 'M',
            ChangeKind::Deleted => 'D',
        };
        diff(since, &self.scan()).iter().map(|change| format!("{} {}", letter(change.kind), change.path)).collect()
    }
}

#[test]
fn every_kind_of_change_is_seen() {
    let tree = Tree::new();
    for path in ["same", "edit", "gone", "mode", "swap", "restored", "dir/deep/x", ".hidden/f", "日本 語"] {
        tree.write(path, "1234");
    }
    symlink("same", tree.root.join("link")).unwrap();
    symlink("/", tree.root.join("outside")).unwrap();
    let before = tree.scan();
    assert_eq!(before.files.len(), 11, "a link is one entry and not what it leads to");
    assert_eq!(tree.changes(&before), [""; 0]);

    tree.write("edit", "5678");
    tree.write(".hidden/f", "12345");
    tree.write("new/file", "");
    fs::remove_file(&tree.root.join("gone")).unwrap();
    std::fs::set_permissions(tree.root.join("mode"), std::fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(&tree.root.join("swap")).unwrap();
    symlink("same", tree.root.join("swap")).unwrap();
    fs::remove_file(&tree.root.join("link")).unwrap();
    symlink("edit", tree.root.join("link")).unwrap();
    // Same size, same time: only the change time tells.
    let file = std::fs::File::options().write(true).open(tree.root.join("restored")).unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    tree.write("restored", "abcd");
    file.set_modified(time).unwrap();
    let seen = tree.changes(&before);
    let want = ["M .hidden/f", "M edit", "D gone", "M link", "M mode", "C new/file", "M restored", "M swap"];
    assert_eq!(seen, want);
    let text = serde_json::to_string(&before).unwrap();
    assert_eq!(serde_json::from_str::<TreeState>(&text).unwrap(), before);
}

#[test]
fn what_is_ignored_or_a_by_product_is_not_counted() {
    for repository in [false, true] {
        let tree = Tree::new();
        // A rule above the repository is none of its rules.
        std::fs::write(tree.root.parent().unwrap().join(".gitignore"), "src\n").unwrap();
        if repository {
            fs::create_dir_all(&tree.root.join(".git/info")).unwrap();
            tree.write(".git/info/exclude", "excluded\n");
        }
        tree.write(".gitignore", "target/\n*.log\n!keep.log\n");
        tree.write(".ignore", "src\n");
        let before = tree.scan();
        for path in [
            ".git/index2",
            ".workflow/x/plan.json",
            "target/debug/a",
            "a.log",
            "src/__pycache__/m.cpython-312.pyc",
            ".pytest_cache/v/x",
            ".coverage",
            ".coverage.host.1",
            "src/.mypy_cache/x",
            "vendor/.hg/x",
            ".DS_Store",
        ] {
            tree.write(path, "x");
        }
        assert_eq!(tree.changes(&before), [""; 0], "repository: {repository}");
        for path in ["keep.log", "src/.workflow/x", "src/main.py", "coverage.py"] {
            tree.write(path, "x");
        }
        assert_eq!(tree.changes(&before), ["C coverage.py", "C keep.log", "C src/.workflow/x", "C src/main.py"]);
        tree.write("excluded", "x");
        assert_eq!(tree.changes(&before).contains(&"C excluded".to_owned()), !repository);
    }
}

#[test]
fn tracked_files_that_a_rule_names_are_counted_when_asked() {
    let tree = Tree::new();
    tree.write(".gitignore", "build/\n");
    tree.write("build/tracked", "1");
    tree.write("build/other", "1");
    let always = ["build/tracked", "build/none", ".git/x", "build"].map(Utf8PathBuf::from).to_vec();
    let options = ObserveOptions { always, ..ObserveOptions::default() };
    let before = TreeState::scan(&tree.root, &options);
    tree.write("build/tracked", "22");
    tree.write("build/other", "22");
    let changes = diff(&before, &TreeState::scan(&tree.root, &options));
    assert_eq!(changes, [Change { path: "build/tracked".into(), kind: ChangeKind::Modified }]);
    let all = ObserveOptions { respect_ignore: false, ..ObserveOptions::default() };
    assert_eq!(TreeState::scan(&tree.root, &all).files.len(), 3);
}

#[test]
fn what_cannot_be_seen_is_said() {
    let none = TreeState::scan("/planex/none".into(), &ObserveOptions::default());
    assert!(none.files.is_empty());
    assert_eq!(none.unseen.len(), 1, "{:?}", none.unseen);
    assert!(is_never_counted("a/__pycache__/b".into()) && is_never_counted(".workflow/x".into()));
    assert!(!is_never_counted("a/.workflow/b".into()) && !is_never_counted("src/cache.py".into()));
}
