//! The project's own tests before any change: what was red then blames nobody (spec 70, *Truth over claims*).

use serde_json::json;

use crate::{Place, checked, does, task, writes};

/// Prints what pytest would; `test_old` fails always, `test_new` where there is a file `broken`. Counts its runs.
const TESTS: &str = r#"echo run >> "$HOME/runs"
echo '============================= test session starts =============================='
echo 'collected 2 items'
echo
counts='1 failed, 1 passed'
if [ -e broken ]; then counts='2 failed'; fi
echo '=========================== short test summary info ============================'
echo 'FAILED tests/test_a.py::test_old - assert 1 == 2'
if [ -e broken ]; then echo 'FAILED tests/test_a.py::test_new - assert 1 == 2'; fi
echo "========================= $counts in 0.01s =========================="
exit 1
"#;

const CONFIG: &str = "[test]\ncommand = \"sh tests.sh\"";

fn place() -> Place {
    let tasks = [
        checked("T1", "one.txt", &[], "$ sh tests.sh"),
        checked("T2", "broken", &[], "$ sh tests.sh"),
        checked("T3", "three.txt", &[], "$ sh tests.sh && true"),
    ];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "1")])),
        does("T2", &json!([writes("broken", "2")])),
        does("T3", &json!([writes("three.txt", "3")])),
    ];
    Place::with_config(CONFIG, &[("tests.sh", TESTS)], &tasks, rules)
}

#[test]
fn only_new_failures_of_the_same_command_count() {
    let place = place();
    let said = place.exits(&["waves", "-y", "Change"], 5).stderr;
    assert!(said.contains("      $ sh tests.sh"), "the gate shows it: {said}");
    assert!(said.contains("`sh tests.sh` was red before any task") && said.contains("test_old"), "{said}");
    place.are("completed", &["T1"]);
    place.error_says("T1", &["`sh tests.sh` fails, as it did before"]);
    place.are("failed", &["T2", "T3"]);
    place.error_says("T2", &["`sh tests.sh` failed with code 1", "new: ", "test_new"]);
    assert!(place.env.exists("one.txt") && !place.env.exists("broken") && !place.env.exists("three.txt"));
    place.is_tidy();
    // Kept: the retry runs the tests of the two tasks, and not those of the project.
    let before = place.env.read(place.env.home().join("runs")).lines().count();
    let _ = place.exits(&["resume", &place.id(), "-y", "--retry"], 5);
    assert_eq!(place.env.read(place.env.home().join("runs")).lines().count(), before + 2);
}

#[test]
fn without_it_every_failure_counts() {
    let place = place();
    let _ = place.exits(&["waves", "-y", "--no-baseline", "Change"], 5);
    place.are("failed", &["T1", "T2", "T3"]);
    assert_eq!(place.env.read(place.env.home().join("runs")).lines().count(), 3);
}

#[test]
fn without_isolation_it_runs_before_the_first_wave() {
    let tasks = [checked("T1", "one.txt", &[], "$ sh tests.sh"), task("T2", "two.txt", &["T1"])];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "1"), writes("broken", "")])),
        does("T2", &json!([writes("two.txt", "2")])),
    ];
    let place = Place::with_config(CONFIG, &[("tests.sh", TESTS)], &tasks, rules);
    let _ = place.exits(&["waves", "-y", "--isolation", "none", "Change"], 5);
    place.error_says("T1", &["new: ", "test_new"]);
    assert_eq!(place.env.read(place.env.home().join("runs")).lines().count(), 2);
}
