use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Compared, Failures};

/// Output of the tools themselves (of surefire, gradle, dotnet, phpunit, exunit and turbo: as others show it).
macro_rules! sample {
    ($name:literal) => {
        Failures::read(include_str!(concat!("samples/", $name, ".txt")), false)
    };
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn names(failures: &Failures) -> Vec<&str> {
    failures.known.iter().flatten().map(String::as_str).collect()
}

/// Named, and all of them.
fn whole(failures: &Failures, expected: &[&str]) {
    assert_eq!((names(failures), failures.whole), (expected.to_vec(), true));
    assert!(failures.ran.is_empty(), "needed only where not all are named");
}

/// Named, but there may be more.
fn partial(failures: &Failures, expected: &[&str]) {
    assert_eq!((names(failures), failures.whole), (expected.to_vec(), false));
}

#[test]
fn cargo_names_tests_by_program() {
    let all = [
        "demo src/lib.rs › tests::bad",
        "demo src/lib.rs › tests::calm",
        "demo src/lib.rs › tests::deep::worse",
        "doc demo › src/lib.rs - one (line 2)",
        "it tests/it.rs › outer",
    ];
    whole(&sample!("cargo-nff"), &all);
    whole(
        &sample!("cargo-q"),
        &["outer", "src/lib.rs - one (line 2)", "tests::bad", "tests::calm", "tests::deep::worse"],
    );
    // It stops at the first red program.
    let stopped = sample!("cargo");
    partial(&stopped, &all[..3]);
    assert_eq!(stopped.ran, set(&["demo src/lib.rs"]));
}

#[test]
fn cargo_tells_of_programs_that_die_and_of_code_that_does_not_compile() {
    let died = sample!("cargo-abort");
    assert!(names(&died).contains(&"abort tests/abort.rs › died before its end"), "{died:?}");
    assert!(!died.whole && died.ran.contains("it tests/it.rs") && !died.ran.contains("abort tests/abort.rs"));
    partial(&sample!("cargo-broken"), &["build › `demo` (test \"broken\")"]);
}

#[test]
fn nextest_names_tests_by_program() {
    let all = ["demo › tests::bad", "demo › tests::calm", "demo › tests::deep::worse", "demo::it › outer"];
    whole(&sample!("nextest"), &all);
    let stopped = sample!("nextest-ff");
    partial(&stopped, &all[..2]);
    let all = [
        "demo › tests::bad",
        "demo › tests::calm",
        "demo › tests::deep::worse",
        "demo::abort › dies",
        "demo::abort › slow",
        "demo::it › outer",
    ];
    whole(&sample!("nextest-abort"), &all);
    whole(&sample!("nextest-retry"), &all);
}

#[test]
fn pytest_names_node_ids() {
    let all = [
        "test_a.py::TestCart::test_total",
        "test_a.py::test_fixture",
        "test_a.py::test_p[\\u65e5\\u672c]",
        "test_a.py::test_p[x y]",
        "test_a.py::test_p[z - w]",
    ];
    whole(&sample!("pytest-xdist"), &all);
    whole(&sample!("pytest-color"), &all);
    // Its summary is switched off.
    assert_eq!((sample!("pytest-rN").known, sample!("pytest-rN").whole), (None, false));
    partial(&sample!("pytest-x"), &all[..1]);
    partial(&sample!("pytest"), &["test_b.py"]);
}

#[test]
fn other_runners_name_their_tests() {
    let names = ["test_err (test_u.T.test_err)", "test_one (test_u.T.test_one)", "test_sub (test_u.T.test_sub) (i=1)"];
    whole(&sample!("unittest"), &names);
    let names = [
        "cart › adds up",
        "cart › deep › breaks: badly",
        "cart › hook › \"before each\" hook for \"never\"",
        "slow one",
        "top level",
    ];
    whole(&sample!("mocha"), &names);
    whole(&sample!("npm-mocha"), &names);
    whole(&sample!("node-spec"), &["n.test.mjs › adds up", "n.test.mjs › top level"]);
    whole(&sample!("node"), &["cart", "cart › adds up", "top level"]);
    let names =
        ["./spec/a_spec.rb › Cart adds up", "./spec/a_spec.rb › Cart deep breaks # badly", "./spec/a_spec.rb › Cart n"];
    whole(&sample!("rspec"), &names);
    partial(&sample!("rspec-load"), &["build › ./spec/b_spec.rb"]);
    whole(&sample!("dotnet"), &["Demo.CartTests.AddsUp", "Demo.CartTests.Rows(text: \"a (b)\")"]);
    whole(
        &sample!("phpunit"),
        &["ATest::testErr", "ATest::testOne", "ATest::testRows with data set \"two words\" (2)"],
    );
}

#[test]
fn runtimes_and_more_languages_name_their_tests() {
    let names =
        ["b/a.test.ts › cart > adds > up", "b/a.test.ts › cart > deep > breaks: badly", "b/a.test.ts › top level"];
    whole(&sample!("bun"), &names);
    whole(&sample!("deno"), &["./d/a_test.ts › adds up", "./d/a_test.ts › steps ... one (1)"]);
    whole(&sample!("minitest"), &["CartTest#test_adds_up", "CartTest#test_err"]);
    whole(
        &sample!("exunit"),
        &["test parses Twitter Cards (Furlex.Parser.TwitterTest)", "test unfurls a url (FurlexTest)"],
    );
    whole(
        &sample!("pytest-sub"),
        &["test_u.py::T::test_err", "test_u.py::T::test_one", "test_u.py::T::test_sub (i=1)"],
    );
}

#[test]
fn a_later_run_is_compared_with_real_output() {
    let build = Compared::NewFailures(set(&["build › `demo` (test \"broken\")"]));
    assert_eq!(sample!("cargo-broken").compared_with(&sample!("cargo")), build);
    assert_eq!(sample!("cargo").compared_with(&sample!("cargo-nff")), Compared::NotDecisive);
    assert_eq!(sample!("cargo-nff").compared_with(&sample!("cargo-nff")), Compared::NoNew);
    // Stopped at the library: nobody knows how the others were.
    assert_eq!(sample!("cargo-nff").compared_with(&sample!("cargo")), Compared::NotDecisive);
    let both = [include_str!("samples/cargo-nff.txt"), include_str!("samples/cargo-nff.txt")].concat();
    let twice = Failures::read(&both, false);
    assert_eq!((twice.runs.clone(), twice.whole), ([("cargo".to_owned(), 2)].into(), true));
    assert_eq!(sample!("cargo-nff").compared_with(&twice), Compared::NotDecisive, "the second did not run");
    let lost = Compared::NewFailures(set(&["test_b.py"]));
    assert_eq!(sample!("pytest").compared_with(&sample!("pytest-xdist")), lost);
}

#[test]
fn files_that_do_not_load_are_failures() {
    let tests = ["a.test.js › cart › adds › up", "a.test.js › cart › deep › breaks: badly", "a.test.js › top level"];
    let jest = sample!("jest");
    let expected: Vec<String> =
        std::iter::once("build › j/b.test.js".to_owned()).chain(tests.iter().map(|t| format!("j/{t}"))).collect();
    assert_eq!(jest.ran, set(&["j/a.test.js", "j/c.test.js"]), "all but the one that does not load");
    partial(&jest, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    let names = [
        "build › v/b.test.js",
        "v/a.test.js › cart > adds > up",
        "v/a.test.js › cart > deep > breaks: badly",
        "v/a.test.js › top level",
    ];
    partial(&sample!("vitest"), &names);
    assert_eq!(sample!("vitest").ran, set(&["v/a.test.js"]));
    let bailed = "FAIL a.test.js\n  ● one\n\nTest Suites: 1 failed, 1 of 3 total\nTests:       1 failed, 1 total\n";
    partial(&Failures::read(bailed, false), &["a.test.js › one"]);
}

#[test]
fn go_names_tests_by_package() {
    let go = sample!("go");
    let expected = [
        "build › example.com/demo/broken",
        "example.com/demo › TestOne",
        "example.com/demo › TestTable",
        "example.com/demo › TestTable/a_b",
        "example.com/demo/panics › TestBefore",
        "example.com/demo/panics › TestBoom",
        "example.com/demo/sub › TestOne",
        "example.com/demo/sub › TestOther",
        "example.com/demo/sub › TestOther/a_b",
    ];
    partial(&go, &expected);
    assert_eq!(go.ran, set(&["example.com/demo", "example.com/demo/fine", "example.com/demo/sub"]));
}

#[test]
fn the_jvm_names_classes() {
    let names = ["demo › demo.CartTest.addsUp", "demo › demo.CartTest.err", "demo › demo.CartTest.par(String)[2]"];
    whole(&sample!("surefire"), &names);
    let names = ["io.github.PlayingWithReportingTest.errorTest()", "io.github.PlayingWithReportingTest.failureTest"];
    whole(&sample!("surefire-old"), &names);
    let gradle = sample!("gradle");
    partial(&gradle, &[":app:test › CartTest > addsUp()", ":app:test › CartTest > par(String) > [2] b c"]);
    assert_eq!(gradle.ran, set(&[":app:test"]));
}

#[test]
fn packages_that_print_in_turns_are_taken_apart() {
    whole(&sample!("turbo"), &["api › src/a.test.js › pays", "web › src/a.test.js › cart › adds up"]);
}

#[test]
fn what_is_no_runner_is_not_known() {
    for text in ["", "make: *** [all] Error 2", "FAIL\n", "error: something", "Tests: 1 failed", "2 failing parts"] {
        assert_eq!(Failures::read(text, false), Failures::default(), "{text}");
    }
}

#[test]
fn missing_output_is_not_whole() {
    let text = include_str!("samples/pytest-xdist.txt");
    assert!(!Failures::read(text, true).whole);
    let fewer = text.replace("FAILED test_a.py::test_p[x y]", "");
    assert!(!Failures::read(&fewer, false).whole);
}

/// A run with these failures; `ran`: not whole, but these groups or tests ran.
fn run(failed: &[&str], ran: Option<&[&str]>) -> Failures {
    Failures {
        known: Some(set(failed)).filter(|failed| !failed.is_empty()),
        whole: ran.is_none(),
        runs: BTreeMap::new(),
        ran: set(ran.unwrap_or_default()),
    }
}

#[test]
fn a_runner_that_did_not_run_before_proves_nothing() {
    const JEST: &str = "FAIL a.test.js\n  ● one\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 total\n";
    const JEST_GREEN: &str = "Test Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\n";
    const MOCHA: &str = "  1 passing (5ms)\n  1 failing\n\n  1) two:\n     Error\n";
    const MOCHA_GREEN: &str = "  2 passing (5ms)\n";
    let read = |parts: &[&str]| Failures::read(&parts.concat(), false);
    let mocha_red = || Compared::NewFailures(set(&["two"]));
    // `jest && mocha`: the second may have been red all along.
    assert_eq!(read(&[JEST_GREEN, MOCHA]).compared_with(&read(&[JEST])), Compared::NotDecisive);
    // `mocha && jest`: it was green.
    assert_eq!(read(&[MOCHA]).compared_with(&read(&[MOCHA_GREEN, JEST])), mocha_red());
    // `jest; mocha`
    assert_eq!(read(&[JEST, MOCHA]).compared_with(&read(&[JEST, MOCHA_GREEN])), mocha_red());
    // `jest unit && jest e2e`
    assert_eq!(read(&[JEST_GREEN, &JEST.replace("one", "three")]).compared_with(&read(&[JEST])), Compared::NotDecisive);
    // `mocha; jest`, and now mocha dies at once.
    assert_eq!(read(&[JEST]).compared_with(&read(&[MOCHA, JEST])), Compared::NotDecisive);
}

#[test]
fn green_runs_are_seen() {
    for (text, runner) in [
        ("test result: ok. 1 passed; 0 failed; 0 ignored\n", "cargo"),
        ("     Summary [   0.111s] 6 tests run: 6 passed, 1 skipped\n", "nextest"),
        ("===== 3 passed, 1 skipped in 0.03s =====\n", "pytest"),
        ("Ran 4 tests in 0.001s\n\nOK (skipped=1)\n", "unittest"),
        ("ok  \texample.com/demo\t0.003s\n", "go"),
        ("Test Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\n", "jest"),
        (" Test Files  2 passed (2)\n      Tests  3 passed (3)\n", "vitest"),
        ("  2 passing (5ms)\n", "mocha"),
        ("✔ fine (0.1ms)\nℹ tests 1\nℹ fail 0\n", "node"),
        ("TAP version 13\nok 1 - fine\n1..1\n", "tap"),
        ("[INFO] Tests run: 6, Failures: 0, Errors: 0, Skipped: 0\n", "surefire"),
        ("BUILD SUCCESSFUL in 1s\n", "gradle"),
        ("Passed!  - Failed:     0, Passed:     5, Skipped:     0\n", "dotnet"),
        ("1 example, 0 failures\n", "rspec"),
        ("1 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n", "minitest"),
        ("2 doctests, 12 tests, 0 failures\n", "exunit"),
        (" 1 pass\n 0 fail\nRan 1 test across 2 files. [4.00ms]\n", "bun"),
        ("ok | 1 passed | 0 failed | 2 filtered out (19ms)\n", "deno"),
        ("OK (5 tests, 9 assertions)\n", "phpunit"),
    ] {
        let read = Failures::read(text, false);
        assert_eq!(read.runs.keys().collect::<Vec<_>>(), [runner]);
        assert_eq!(read.known, None, "{runner}");
    }
}

#[test]
fn only_new_failures_count() {
    let new = |names: &[&str]| Compared::NewFailures(set(names));
    let whole = None;
    for (before, now, expected) in [
        (run(&["a", "b"], whole), run(&["a"], whole), Compared::NoNew),
        (run(&["a"], whole), run(&["a", "c"], whole), new(&["c"])),
        (run(&["a"], whole), run(&["build › x"], Some(&[])), new(&["build › x"])),
        // Nobody knows what failed.
        (run(&[], whole), run(&["a"], whole), Compared::NotDecisive),
        (run(&["a"], whole), run(&[], whole), Compared::NotDecisive),
        // It stopped before it came to what is missing.
        (run(&["a"], whole), run(&["a"], Some(&[])), Compared::NotDecisive),
        // The run before stopped early: what it did not come to may have been red then too.
        (run(&["l › a"], Some(&["l"])), run(&["l › a"], Some(&["l"])), Compared::NoNew),
        (run(&["l › a"], Some(&["l"])), run(&["l › b"], Some(&["l"])), new(&["l › b"])),
        (run(&["l › a"], Some(&["l"])), run(&["m › b"], Some(&["l", "m"])), Compared::NotDecisive),
        (run(&["l › a"], Some(&["l › b"])), run(&["l › b"], whole), new(&["l › b"])),
        (run(&["build › x"], Some(&[])), run(&["m › b"], whole), Compared::NotDecisive),
        (run(&["l › a"], Some(&["l"])), run(&["build › x"], Some(&[])), new(&["build › x"])),
    ] {
        assert_eq!(now.compared_with(&before), expected, "{before:?} -> {now:?}");
    }
}

#[test]
fn failures_survive_a_file() {
    let failures = sample!("cargo");
    let text = serde_json::to_string(&failures).unwrap();
    assert_eq!(serde_json::from_str::<Failures>(&text).unwrap(), failures);
    assert_eq!(serde_json::from_str::<Failures>("{}").unwrap(), Failures::default());
}

proptest! {
    #[test]
    fn any_output_is_read(text in "(([-=● ✖a-c:>\\[\\]().0-9]|FAIL|test|failed|failing|Tests: |\t|ok|› |Running |in |\n){0,12}\n){0,6}", cut: bool) {
        let failures = Failures::read(&text, cut);
        prop_assert!(!(failures.whole && cut));
        prop_assert!(failures.known.is_none_or(|known| !known.is_empty()));
    }

    #[test]
    fn the_same_run_shows_nothing_new(names in prop::collection::btree_set("[a-c › ]{1,8}", 1..5), whole: bool) {
        let failures = Failures { known: Some(names), whole, ..Failures::default() };
        prop_assert_eq!(failures.compared_with(&failures), Compared::NoNew);
    }
}
