//! What was red before is no fault of a task.

use planex_core::failures::Compared;
use planex_core::tech::ProjectTech;
use planex_engine::verify::{Baseline, Verdict};

use crate::bench::Bench;

/// A test runner that prints what a file says, and fails.
const RUN: &str = "echo run >> ran; cat report; exit 1";

fn report(failed: &[&str]) -> String {
    let lines: Vec<String> = failed.iter().map(|test| format!("FAILED {test} - assert 0\n")).collect();
    format!("=== short test summary info ===\n{}{} failed in 0.01s\n", lines.concat(), failed.len())
}

async fn run(bench: &Bench, command: &str) -> Option<Baseline> {
    Baseline::run(&bench.context, &bench.session.baseline(), command, &bench.cancel).await.unwrap()
}

#[test]
fn the_command_is_that_of_the_project() {
    let command = |text: Option<&str>| {
        let tech = ProjectTech { test_command: text.map(str::to_owned), ..ProjectTech::default() };
        Baseline::command(&tech).map(str::to_owned)
    };
    assert_eq!(command(Some(" cargo test ")), Some("cargo test".to_owned()));
    assert_eq!((command(None), command(Some(" ")), command(Some("a\nb"))), (None, None, None));
}

#[tokio::test]
async fn only_new_failures_count_where_it_was_red() {
    let bench = Bench::new();
    std::fs::write(bench.path("report"), report(&["t.py::old"])).unwrap();
    let baseline = run(&bench, RUN).await.unwrap();
    assert!(baseline.is_red());
    assert_eq!(baseline.failures.known.clone().unwrap().into_iter().collect::<Vec<_>>(), ["t.py::old"]);
    let same = bench.one(RUN).await;
    assert_eq!(baseline.compared_with(&same).unwrap(), Some(Compared::NoNew));
    std::fs::write(bench.path("report"), report(&["t.py::old", "t.py::new"])).unwrap();
    let worse = bench.one(RUN).await;
    let new = ["t.py::new".to_owned()].into();
    assert_eq!(baseline.compared_with(&worse).unwrap(), Some(Compared::NewFailures(new)));
    std::fs::write(bench.path("report"), "something broke\n").unwrap();
    let unknown = bench.one(RUN).await;
    assert_eq!(baseline.compared_with(&unknown).unwrap(), Some(Compared::NotDecisive));
    // Another command counts as it is.
    let other = bench.one("cat report; exit 1").await;
    assert_eq!(baseline.compared_with(&other).unwrap(), None);
    let green = bench.one("true").await;
    assert_eq!(baseline.compared_with(&green).unwrap(), None);
}

#[tokio::test]
async fn a_green_project_excuses_nothing() {
    let bench = Bench::new();
    let command = "test ! -e broken";
    let baseline = run(&bench, command).await.unwrap();
    assert!(!baseline.is_red());
    std::fs::write(bench.path("broken"), "").unwrap();
    let check = bench.one(command).await;
    assert_eq!((check.verdict.clone(), baseline.compared_with(&check).unwrap()), (Verdict::Failed { code: 1 }, None));
}

#[tokio::test]
async fn tests_that_end_no_more_count() {
    let mut bench = Bench::new();
    std::fs::write(bench.path("report"), report(&["t.py::old"])).unwrap();
    let command = "cat report; test ! -e hang || sleep 600; exit 1";
    let baseline = run(&bench, command).await.unwrap();
    std::fs::write(bench.path("hang"), "").unwrap();
    bench.context.limit = std::time::Duration::from_secs(1);
    let check = bench.one(command).await;
    assert_eq!((check.verdict.clone(), baseline.compared_with(&check).unwrap()), (Verdict::TimedOut, None));
}

#[tokio::test]
async fn it_is_run_once_also_across_a_resume() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.session.planex()).unwrap();
    std::fs::write(bench.path("report"), report(&["t.py::old"])).unwrap();
    let first = run(&bench, RUN).await;
    assert_eq!(run(&bench, RUN).await, first);
    assert_eq!(std::fs::read_to_string(bench.path("ran")).unwrap(), "run\n");
    // Torn, or of another command: anew.
    std::fs::write(bench.session.baseline(), "{").unwrap();
    assert!(run(&bench, RUN).await.is_some());
    assert!(run(&bench, &format!("{RUN} ")).await.is_some());
    assert_eq!(std::fs::read_to_string(bench.path("ran")).unwrap(), "run\nrun\nrun\n");
}

#[tokio::test]
async fn one_that_was_cancelled_is_not_kept() {
    let bench = Bench::new();
    bench.cancel.cancel();
    assert_eq!(run(&bench, RUN).await, None);
    assert!(!bench.session.baseline().exists());
}
