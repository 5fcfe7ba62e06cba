use globset::GlobBuilder;
use proptest::prelude::*;

use super::{Overlap, Scope, ScopeFault, overlap};

fn scope(cell: &str) -> Scope {
    let (scope, faults) = Scope::parse(cell, |_| false);
    assert_eq!(faults, [], "{cell}");
    scope
}

#[test]
fn paths_are_matched() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("src/auth", &["src/auth", "src/auth/a.rs", "src/auth/b/c"], &["src/author", "src", "x/src/auth"]),
        ("./src//auth/", &["src/auth/a.rs", "src/auth"], &["src"]),
        ("/src", &["src/a"], &["a/src/b"]),
        ("src/**", &["src/a", "src/a/b"], &["src", "srcx/a"]),
        ("**", &["a", "a/b"], &[]),
        (".", &["a", "a/b"], &[]),
        ("**/*.rs", &["a.rs", "b/a.rs", "b/c/.rs"], &["a.rs/b", "a.r"]),
        ("src/**/mod.rs", &["src/mod.rs", "src/a/mod.rs", "src/a/b/mod.rs"], &["src/amod.rs", "mod.rs"]),
        ("a**b", &["ab", "axxb"], &["a/b"]),
        ("*", &["a"], &["a/b"]),
        ("src/*/", &["src/a/b", "src/a/b/c"], &["src/a"]),
        ("a?c", &["abc", "aöc"], &["ac", "a/c"]),
        ("[a-c]x", &["ax", "cx"], &["dx", "/x"]),
        ("[!a-c]x", &["dx"], &["ax", "x"]),
        ("[]]x", &["]x"], &["x"]),
        ("[*]", &["*"], &["a"]),
        ("src/{a,b}", &["src/a", "src/b/c"], &["src/c", "src/{a,b}"]),
        ("{src,tests}/**/*.{rs,toml}", &["src/a.rs", "tests/x/y.toml"], &["src/a.py", "doc/a.rs"]),
        ("{a,b{c,d}}", &["a", "bc", "bd"], &["b", "c"]),
        ("src;!src/gen", &["src/a"], &["src/gen", "src/gen/a"]),
        ("!src/gen;src", &["src/a"], &["src/gen/a"]),
        ("!**/*.md", &["a.rs"], &["a.md", "b/a.md"]),
        ("a.rs\nb.rs", &["a.rs", "b.rs"], &["c.rs"]),
        (r"src\auth\**", &["src/auth/a"], &["src/a"]),
        ("文档/**", &["文档/a.md"], &["文/a"]),
        ("", &["a"], &[]),
    ];
    for (cell, inside, outside) in table {
        let scope = scope(cell);
        for path in *inside {
            assert!(scope.matches(path), "{cell} should match {path}");
            assert!(scope.matches(&format!("./{path}")), "{cell} should match ./{path}");
        }
        for path in *outside {
            assert!(!scope.matches(path), "{cell} should not match {path}");
        }
    }
    assert!(!scope("Src").matches("src/a"), "case counts");
}

#[test]
fn entries_with_faults_are_told_apart() {
    let read = |cell: &str| Scope::parse(cell, |path| path == "my docs/plan.md");
    assert_eq!(read("my docs/plan.md").1, []);
    assert!(read("my docs/plan.md").0.is_limited());
    assert_eq!(read("my docs/*.md").1, []);
    let (scope, faults) = read("all the files about login");
    assert_eq!(scope, Scope::Everything);
    assert!(matches!(faults.as_slice(), [ScopeFault::Prose(_)]) && !faults[0].is_error());
    let (scope, faults) = read("the auth module; src/auth");
    assert!(scope.matches("src/auth/a") && !scope.matches("src/b") && faults.len() == 1);
    for bad in ["../x", "src/../../x", "C:\\x", "~/x", "{../a,b}", "src/[ab", "src/{a,b", "src/a}", "[z-a]"] {
        let (scope, faults) = read(bad);
        assert!(faults.len() == 1 && faults[0].is_error(), "{bad}: {faults:?}");
        assert!(!scope.matches("x") && !scope.matches("src/a"), "{bad} permits nothing");
    }
    let wide = "{a,b}".repeat(20);
    assert!(matches!(read(&wide).1.as_slice(), [ScopeFault::TooComplex(_)]));
    assert!(matches!(read(&"x".repeat(2000)).1.as_slice(), [ScopeFault::TooComplex(_)]));
}

#[test]
fn a_folder_named_like_a_glob_is_meant_literally_too() {
    let (scope, faults) = Scope::parse("app/[id]/page.tsx", |path| path == "app/[id]/page.tsx");
    assert_eq!(faults, []);
    assert!(scope.matches("app/[id]/page.tsx"));
    assert!(scope.matches("app/i/page.tsx"));
}

#[test]
fn scopes_meet_or_do_not() {
    let table: &[(&str, &str, Option<&str>)] = &[
        ("src/a", "src/b", None),
        ("src/a", "src/a/b.rs", Some("src/a/b.rs")),
        ("src", "src/a", Some("src/a")),
        ("src/**", "src", Some("src/x")),
        ("src/*.rs", "src/m*", Some("src/m.rs")),
        ("src/*.rs", "src/*.ts", None),
        ("**/*.rs", "src/**", Some("src/.rs")),
        ("*.rs", "src/**", None),
        ("src;!src/gen", "src/gen/**", None),
        ("src;!src/gen", "src/gen*", Some("src/genx")),
        ("src/**;!**/*.md", "**/*.md", None),
        ("src;!src/**", "src/a", None),
        ("a?", "?b", Some("ab")),
        ("[a-c]", "[c-e]", Some("c")),
        ("[!a]", "a", None),
        ("*", ".", Some("x")),
        ("x/*/z", "x/**/y/z", Some("x/y/z")),
        ("{a,b}/c", "b/*", Some("b/c")),
        ("..a", "..*", Some("..a")),
    ];
    for (a, b, expected) in table {
        let (a, b) = (scope(a), scope(b));
        let expected = expected.map(|path| Overlap::At(path.to_owned()));
        assert_eq!(overlap(&a, &b), expected, "{a} and {b}");
        assert_eq!(overlap(&b, &a).is_some(), expected.is_some(), "{b} and {a}");
    }
    assert_eq!(overlap(&Scope::Everything, &scope("a")), Some(Overlap::Unlimited));
    assert_eq!(overlap(&scope("a"), &Scope::Everything), Some(Overlap::Unlimited));
}

#[test]
fn hostile_patterns_end_soon_and_count_as_meeting() {
    let a = scope(&format!("**;!**/*a{}", "?".repeat(24)));
    let b = scope(&format!("**/*a{}b", "?".repeat(24)));
    assert!(overlap(&a, &b).is_some());
    let stars = "*a".repeat(100);
    assert!(overlap(&scope(&stars), &scope(&format!("{stars}b"))).is_none());
    assert!(scope(&stars).matches(&"a".repeat(3000)));
}

/// Every path of up to three names of up to two letters, over a small alphabet.
fn all_paths() -> Vec<String> {
    let letters = ['a', 'b', '.'];
    let mut names: Vec<String> = letters.iter().map(ToString::to_string).collect();
    names.extend(letters.iter().flat_map(|x| letters.iter().map(move |y| format!("{x}{y}"))));
    names.retain(|name| name != "." && name != "..");
    let mut paths = names.clone();
    let mut last = names.clone();
    for _ in 0..2 {
        last = last.iter().flat_map(|path| names.iter().map(move |name| format!("{path}/{name}"))).collect();
        paths.extend(last.iter().cloned());
    }
    paths
}

fn glob() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", ".", "*", "?", "[ab]", "[!a]", "{a,b}", "ab"]);
    let name = prop_oneof![
        1 => Just("**".to_owned()),
        3 => prop::collection::vec(part, 1..3).prop_map(|parts| parts.concat()),
    ];
    prop::collection::vec(name, 1..4)
        .prop_map(|names| names.join("/"))
        .prop_filter("leads nowhere", |path| path.split('/').all(|name| name != "." && name != ".."))
}

fn cell() -> impl Strategy<Value = String> {
    let excluded = glob().prop_map(|glob| format!("!{glob}"));
    (prop::collection::vec(glob(), 1..3), prop::collection::vec(excluded, 0..3)).prop_map(|(mut entries, excluded)| {
        entries.extend(excluded);
        entries.join(";")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_intersection_is_exact(a in cell(), b in cell()) {
        let (a, b) = (Scope::parse(&a, |_| false).0, Scope::parse(&b, |_| false).0);
        match overlap(&a, &b) {
            Some(Overlap::At(path)) => {
                prop_assert!(a.matches(&path) && b.matches(&path), "{} is not in both {} and {}", path, a, b);
                prop_assert!(path.split('/').all(|name| !matches!(name, "" | "." | "..")));
            }
            Some(other) => prop_assert!(false, "{other}"),
            None => {
                for path in all_paths() {
                    prop_assert!(!(a.matches(&path) && b.matches(&path)), "{} is in both {} and {}", path, a, b);
                }
            }
        }
    }

    #[test]
    fn globs_mean_what_globset_means(glob in glob(), paths in prop::collection::vec("[ab.]{1,2}(/[ab.]{1,2}){0,3}", 20)) {
        prop_assume!(glob.contains(['*', '?', '[']) && !glob.contains('{'));
        let theirs = GlobBuilder::new(&glob).literal_separator(true).build().expect("a glob").compile_matcher();
        let ours = Scope::parse(&glob, |_| false).0;
        for path in paths.iter().filter(|path| path.split('/').all(|name| name != "." && name != "..")) {
            prop_assert_eq!(ours.matches(path), theirs.is_match(path), "{} on {}", glob, path);
        }
    }

    #[test]
    fn any_cell_is_read(cell in any::<String>(), path in any::<String>()) {
        let (scope, _) = Scope::parse(&cell, |_| false);
        let _ = scope.matches(&path);
        let _ = overlap(&scope, &scope);
    }
}
