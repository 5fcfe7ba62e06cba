//! Whole trees, written by the tests: languages, odd files, the cache.

#![expect(clippy::unwrap_used, reason = "test helpers fail by panicking")]

use camino::{Utf8Path, Utf8PathBuf};
use planex_explore::{
    ExploreError, ExploreOptions, Explorer, FileClass, Query, WhyKind, assess, discoveries, findings,
};
use tempfile::TempDir;

struct Tree {
    _dir: TempDir,
    root: Utf8PathBuf,
    cache: Utf8PathBuf,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(dir.path()).unwrap().to_owned();
        let tree = Self { root: base.join("tree"), cache: base.join("cache"), _dir: dir };
        planex_sys::fs::create_dir_all(&tree.root).unwrap();
        for (path, text) in files {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        planex_sys::fs::create_dir_all(self.root.join(path).parent().unwrap()).unwrap();
        planex_sys::fs::write_atomic(&self.root.join(path), bytes).unwrap();
    }

    fn options(&self) -> ExploreOptions {
        ExploreOptions { cache_dir: Some(self.cache.clone()), threads: 2, ..ExploreOptions::default() }
    }

    fn open(&self) -> Explorer {
        Explorer::open(&self.root, &self.options()).unwrap()
    }

    fn best(&self, text: &str) -> Vec<String> {
        self.open().rank(&Query::new(text, 5)).files.into_iter().map(|f| f.path).collect()
    }
}

const SERVICE: &[(&str, &str)] = &[
    (".gitignore", "ignored/\n"),
    ("README.md", "# service\nThe login page and the session cache.\n"),
    (
        "src/auth/login.py",
        "from ..cache import session\n\nclass LoginError(Exception):\n    pass\n\ndef check_password(user, password):\n    \"\"\"Checks the password of a user.\"\"\"\n    if not password:\n        raise LoginError('empty password')\n    return session.load(user)\n",
    ),
    ("src/auth/__init__.py", ""),
    (
        "src/cache/session.py",
        "TTL = 60\n\ndef load(user):\n    return None\n\ndef expire_sessions(now):\n    # セッションの期限切れを処理する\n    return now - TTL\n",
    ),
    ("src/cache/__init__.py", ""),
    ("src/report/export.py", "import csv\n\ndef export_rows(rows, handle):\n    csv.writer(handle).writerows(rows)\n"),
    (
        "tests/test_login.py",
        "from src.auth.login import check_password\n\ndef test_check_password():\n    assert check_password('a', 'b') is None\n",
    ),
    ("ignored/login.py", "def check_password(): pass\n"),
];

#[test]
fn the_right_file_comes_first_and_says_why() {
    let tree = Tree::new(SERVICE);
    let ranking = tree.open().rank(&Query::new("check_password accepts an empty password", 5));
    let first = &ranking.files[0];
    assert_eq!(first.path, "src/auth/login.py");
    assert!((first.score - 1.0).abs() < f64::EPSILON);
    assert!(first.symbols.contains(&"check_password".to_owned()));
    assert_eq!((first.lines[0].start, first.lines[0].end), (6, 10));
    assert!(first.why.iter().any(|w| w.kind == WhyKind::Symbol && w.detail.contains("check_password")));
    assert!(ranking.files.iter().all(|f| !f.path.starts_with("ignored/")), "ignore rules hold without git");
}

#[test]
fn tests_stand_behind_sources_unless_they_are_asked_for() {
    let tree = Tree::new(SERVICE);
    assert_eq!(tree.best("check_password")[0], "src/auth/login.py");
    assert_eq!(tree.best("Add tests for check_password")[0], "tests/test_login.py");
    let found = tree.open().rank(&Query::new("check_password", 5).from_angle("testing"));
    assert!(found.files.iter().take(2).any(|f| f.path == "tests/test_login.py"));
}

#[test]
fn traces_paths_and_modules_lead_to_files() {
    let tree = Tree::new(SERVICE);
    let trace = "It dies\n\n```\nTraceback (most recent call last):\n  File \"/srv/app/src/cache/session.py\", line 7, in expire_sessions\nTypeError: x\n```\n";
    let ranking = tree.open().rank(&Query::new(trace, 3));
    assert_eq!(ranking.files[0].path, "src/cache/session.py");
    assert!(ranking.files[0].lines.iter().any(|r| r.start <= 7 && 7 <= r.end));
    assert_eq!(tree.best("see https://github.com/o/r/blob/main/src/report/export.py#L3")[0], "src/report/export.py");
    assert_eq!(tree.best("src.cache.session is wrong")[0], "src/cache/session.py");
}

#[test]
fn japanese_and_chinese_texts_find_english_code() {
    let tree = Tree::new(SERVICE);
    assert_eq!(tree.best("ログイン時に空のパスワードを拒否する")[0], "src/auth/login.py");
    assert_eq!(tree.best("期限切れのセッションを消す")[0], "src/cache/session.py");
    assert_eq!(tree.best("登录时检查密码")[0], "src/auth/login.py");
}

#[test]
fn every_language_has_symbols() {
    let files: &[(&str, &str)] = &[
        ("a.rs", "pub fn frobnicate_rust() {}"),
        ("a.ts", "export function frobnicateTs() {}"),
        ("a.tsx", "export const FrobnicateTsx = () => <p/>;"),
        ("a.js", "function frobnicateJs() {}"),
        ("a.py", "def frobnicate_py(): pass"),
        ("a.go", "package a\nfunc FrobnicateGo() {}"),
        ("A.java", "class A { void frobnicateJava() {} }"),
        ("a.c", "int frobnicate_c(void) { return 0; }"),
        ("a.cpp", "int A::frobnicateCpp() { return 0; }"),
        ("a.cs", "class A { void FrobnicateCs() {} }"),
        ("a.rb", "def frobnicate_rb\nend"),
        ("a.php", "<?php function frobnicatePhp() {}"),
        ("a.kt", "fun frobnicateKt() {}"),
        ("a.swift", "func frobnicateSwift() {}"),
        ("a.sh", "frobnicate_sh() {\n:\n}"),
    ];
    let tree = Tree::new(files);
    let explorer = tree.open();
    for (path, text) in files {
        let at = text.to_lowercase().find("frobnicate").unwrap();
        let name: String = text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let found = explorer.rank(&Query::new(format!("change `{name}`"), 3));
        assert_eq!(found.files[0].path, *path, "{name}");
        assert!(found.files[0].symbols.contains(&name), "{name} in {:?}", found.files[0].symbols);
    }
}

#[test]
fn imports_carry_weight_to_neighbours() {
    let tree = Tree::new(&[
        ("src/app.ts", "import { zebra } from './lib/stripes';\nexport function paintAnimal() { zebra(); }"),
        ("src/lib/stripes.ts", "export function zebra() {}"),
        ("src/other.ts", "export function nothing() {}"),
    ]);
    let ranking = tree.open().rank(&Query::new("paintAnimal is wrong", 5));
    assert_eq!(ranking.files[0].path, "src/app.ts");
    let near = ranking.files.iter().find(|f| f.path == "src/lib/stripes.ts").unwrap();
    assert!(near.why.iter().any(|w| w.kind == WhyKind::Import && w.detail == "imported by src/app.ts"));
    assert!(ranking.files.iter().all(|f| f.path != "src/other.ts"));
}

#[test]
fn odd_files_are_told_apart_and_counted() {
    let tree = Tree::new(&[
        ("src/lib.rs", "pub fn needle() {}"),
        ("web/app.min.js", "var needle=1;"),
        ("gen/a.go", "// Code generated by x. DO NOT EDIT.\npackage a\nfunc needle() {}"),
    ]);
    tree.write("logo.png", b"\x89PNG\0\0needle");
    tree.write("latin1.py", b"# caf\xe9\ndef needle(): pass\n");
    tree.write("big.txt", &b"needle ".repeat(300_000));
    tree.write("node_modules/x/index.js", b"function needle() {}");
    let explorer = tree.open();
    assert_eq!((explorer.stats().binary, explorer.stats().huge), (1, 1));
    let ranking = explorer.rank(&Query::new("needle", 10));
    let class = |path: &str| ranking.files.iter().find(|f| f.path == path).map(planex_explore::RankedFile::class);
    assert_eq!(class("gen/a.go"), Some(FileClass::Generated));
    assert_eq!(class("latin1.py"), Some(FileClass::Source));
    assert_eq!(class("node_modules/x/index.js"), None);
    assert!(explorer.has_file("big.txt") && !explorer.has_file("logo.png"));
    let top: Vec<&str> = ranking.files.iter().take(2).map(|f| f.path.as_str()).collect();
    assert!(top.contains(&"src/lib.rs") && top.contains(&"latin1.py"));
}

#[cfg(unix)]
#[test]
fn links_loops_and_names_that_are_not_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = Tree::new(&[("a/b.py", "def needle(): pass")]);
    std::os::unix::fs::symlink(&tree.root, tree.root.join("a/loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", tree.root.join("dead")).unwrap();
    let odd = tree.root.as_std_path().join(std::ffi::OsStr::from_bytes(b"odd\xff.py"));
    // Some file systems refuse such names: then there is nothing to say.
    let written = std::fs::OpenOptions::new().create(true).append(true).open(odd).is_ok();
    let explorer = tree.open();
    assert_eq!(explorer.file_count(), 1);
    assert_eq!(explorer.stats().links, 2);
    assert_eq!(explorer.stats().non_utf8.len(), usize::from(written));
}

#[test]
fn folders_that_cannot_be_opened_say_so() {
    let tree = Tree::new(&[("a.py", "x = 1")]);
    let open = |path: &Utf8Path| Explorer::open(path, &ExploreOptions::default());
    assert!(matches!(open(&tree.root.join("none")), Err(ExploreError::Missing(_))));
    assert!(matches!(open(&tree.root.join("a.py")), Err(ExploreError::NotAFolder(_))));
}

#[test]
fn the_cache_follows_every_change() {
    let tree = Tree::new(&[("a.py", "def alpha(): pass"), ("b.py", "def beta(): pass")]);
    assert_eq!(tree.open().files_read(), 2);
    assert_eq!(tree.open().files_read(), 0);
    // Same size, and written within the same tick: only the content tells.
    tree.write("a.py", b"def gamma(): pass");
    let explorer = tree.open();
    assert_eq!(explorer.files_read(), 1);
    assert_eq!(explorer.rank(&Query::new("gamma", 3)).files[0].path, "a.py");
    assert!(explorer.rank(&Query::new("alpha", 3)).files.is_empty());
    planex_sys::fs::remove_file(&tree.root.join("b.py")).unwrap();
    assert_eq!(tree.open().file_count(), 1);
    assert!(tree.open().rank(&Query::new("beta", 3)).files.is_empty());
    planex_sys::fs::remove_dir_all(&tree.cache).unwrap();
    assert_eq!(tree.open().files_read(), 1);
}

#[test]
fn a_cached_index_answers_as_a_fresh_one() {
    let tree = Tree::new(SERVICE);
    let query = Query::new("expire_sessions and check_password with csv", 10);
    let fresh = tree.open().rank(&query);
    assert_eq!(tree.open().rank(&query), fresh);
    let without = Explorer::open(&tree.root, &ExploreOptions { threads: 1, ..ExploreOptions::default() }).unwrap();
    assert_eq!(without.rank(&query), fresh);
}

#[test]
fn damaged_caches_and_writers_at_once_do_no_harm() {
    let tree = Tree::new(SERVICE);
    let expected = tree.best("check_password");
    let index = std::fs::read_dir(tree.cache.join("explore")).unwrap().next().unwrap().unwrap().path();
    planex_sys::fs::write_atomic(Utf8Path::from_path(&index).unwrap(), b"PXEXPL02 nonsense").unwrap();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| tree.best("check_password"))).collect();
        for run in runs {
            assert_eq!(run.join().unwrap(), expected);
        }
    });
    assert_eq!(tree.best("check_password"), expected);
}

#[test]
fn an_exploration_is_specific() {
    let tree = Tree::new(SERVICE);
    let explorer = tree.open();
    let query = Query::new("check_password accepts an empty password", 8).from_angle("security");
    let found = explorer.exploration(&query, 1, 2, "2026-01-01T00:00:00+00:00", 0.5);
    for file in &found.relevant_files {
        assert!(explorer.has_file(&file.path));
        assert!(file.rationale.chars().count() > 10);
        assert!(file.topic_relation.as_ref().is_some_and(|t| t.chars().count() >= 15 && t.contains("security")));
        assert!(file.relevance < 0.7 || !file.key_code.is_empty());
    }
    assert!(
        found.clarification_needs.iter().all(|c| (2..=4).contains(&c.options.len()) && c.recommended < c.options.len())
    );
    insta::assert_json_snapshot!(found);
    let (text, key_files) = findings(&found);
    assert!(text.chars().count() <= 800);
    assert_eq!(key_files[0], "src/auth/login.py");
    insta::assert_snapshot!(text);
    let lines = discoveries(&found, "E1", "2026-01-01T00:00:00+00:00");
    assert!((1..=5).contains(&lines.len()));
}

#[test]
fn nothing_found_still_makes_an_exploration() {
    let empty = Tree::new(&[]);
    let found = empty.open().exploration(&Query::new("Build a todo app", 8), 1, 1, "", 0.0);
    assert!(found.relevant_files.is_empty());
    assert!(findings(&found).0.contains("no files"));
    let tree = Tree::new(SERVICE);
    let found = tree.open().exploration(&Query::new("zzz qqq", 8), 1, 1, "", 0.0);
    assert!(!found.relevant_files.is_empty() && found.relevant_files.iter().all(|f| f.relevance < 0.5));
}

#[test]
fn a_missing_path_with_a_namesake_is_asked_about() {
    let tree = Tree::new(SERVICE);
    let ask = |text: &str| tree.open().exploration(&Query::new(text, 8), 1, 1, "", 0.0).clarification_needs;
    let asked = ask("Change src/web/login.py to log out");
    assert_eq!(asked.len(), 1);
    assert!(asked[0].options[0].contains("src/auth/login.py"));
    assert!(ask("Change src/auth/login.py to log out").is_empty());
    assert!(ask("Add src/web/logout.py").is_empty());
}

#[test]
fn assessments_name_real_files() {
    let tree = Tree::new(SERVICE);
    let found = assess("Add a rate limit to check_password and tell the user when to come back", Some(&tree.open()));
    assert!((1..=4).contains(&found.angles.len()));
    let mut names: Vec<&str> = found.angles.iter().map(|a| a.angle.as_str()).collect();
    names.dedup();
    assert_eq!(names.len(), found.angles.len());
    assert!(
        found.angles.iter().all(|a| a.description.contains("src/auth/login.py") && a.focus.contains("check_password"))
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    #[test]
    fn any_file_and_any_text_are_answered(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400), text in "(\\PC|\n){0,200}", which in 0usize..8) {
        let tree = Tree::new(&[("src/known.rs", "pub fn known() {}")]);
        let name = ["x.rs", "x.py", "x.ts", "x.go", "x.c", "x.kt", "package.json", "Cargo.toml"][which];
        tree.write(name, &bytes);
        let explorer = tree.open();
        let query = Query::new(text, 5);
        let ranking = explorer.rank(&query);
        assert!(ranking.files.iter().all(|f| (0.0..=1.0).contains(&f.score)));
        let found = explorer.exploration(&query, 1, 1, "", 0.0);
        assert!(findings(&found).0.chars().count() <= 800);
    }
}
