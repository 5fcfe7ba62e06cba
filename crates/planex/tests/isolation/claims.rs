//! What tasks claim, and what planex finds (spec 70, *Truth over claims*).

use planex_testkit::waves::nothing_left;
use serde_json::json;

use crate::{Place, checked, does, task, writes};

#[test]
fn a_claim_that_a_command_contradicts_loses_and_dependents_are_skipped() {
    let tasks = [checked("T1", "one.txt", &[], "$ grep -q right one.txt"), task("T2", "two.txt", &["T1"])];
    let rules = vec![does("T1", &json!([writes("one.txt", "wrong\n")])), does("T2", &json!([]))];
    let place = Place::new(&[], &tasks, rules);
    let _ = place.exits(&["waves", "-y", "Claim"], 5);
    place.are("failed", &["T1"]);
    place.are("skipped", &["T2"]);
    assert_eq!(place.cell("T1", "tests_passed"), "false");
    place.error_says("T1", &["`grep -q right one.txt`"]);
    place.error_says("T2", &["Dependency failed or skipped"]);
    assert!(!place.env.exists("one.txt"), "nothing of a task whose command fails is merged");
    assert!(place.exits(&["patch", "show", &place.id(), "T1"], 0).stdout.contains("+wrong"));
}

#[test]
fn without_verification_the_claim_stands_and_nothing_is_run() {
    let tasks = [checked("T1", "one.txt", &[], "$ touch ran.txt; false")];
    let place = Place::new(&[], &tasks, vec![does("T1", &json!([writes("one.txt", "1")]))]);
    let _ = place.exits(&["waves", "-y", "Claim", "--no-verify"], 0);
    assert_eq!(place.cell("T1", "tests_passed"), "true");
    assert!(place.env.exists("one.txt") && !place.env.exists("ran.txt"));
}

#[test]
fn advice_is_not_run() {
    let advice = "make sure that the tests pass\ntouch up the wording.\n$ true";
    let place = Place::new(&[], &[checked("T1", ".", &[], advice)], vec![does("T1", &json!([writes("one.txt", "1")]))]);
    let _ = place.exits(&["waves", "-y", "Advise"], 0);
    place.are("completed", &["T1"]);
    assert!(!place.env.exists("up"), "`touch` here is a verb");
}

fn missing_command() -> Place {
    let tasks = [checked("T1", "one.txt", &[], "$ no-such-program --all"), task("T2", "two.txt", &["T1"])];
    let rules = vec![does("T1", &json!([writes("one.txt", "1")])), does("T2", &json!([writes("two.txt", "2")]))];
    Place::new(&[], &tasks, rules)
}

#[test]
fn a_command_that_could_not_be_run_is_no_failed_test() {
    let place = missing_command();
    let _ = place.exits(&["waves", "-y", "Verify"], 0);
    place.are("completed", &["T1", "T2"]);
    place.error_says("T1", &["not verified", "no-such-program"]);
    assert_eq!(place.cell("T2", "error"), "");
}

#[test]
fn a_command_that_could_not_be_run_is_asked_about_and_stop_asks_again() {
    let place = missing_command();
    let id = place.approved(&[]);
    let open = place.resume(&[], 4);
    assert!(open.stdout.contains("no-such-program") || open.stderr.contains("no-such-program"), "{}", open.stderr);
    assert!(!place.env.exists("one.txt"), "nothing is merged before the answer");
    place.answer("stop");
    let _ = place.resume(&[], 4);
    let _ = place.resume(&[], 4);
    let _ = place.exits(&["answer", &id, "confirm=go-on"], 0);
    let _ = place.resume(&[], 0);
    place.are("completed", &["T1", "T2"]);
    assert_eq!(place.runs("T1"), 1, "a finished task is not run again");
}

#[test]
fn a_command_that_hangs_ends_at_its_limit_with_all_that_it_started() {
    let tasks = [checked("T1", "one.txt", &[], "$ setsid sleep 600 & sleep 600")];
    let rules = vec![does("T1", &json!([writes("one.txt", "1")]))];
    let place = Place::with_config("[limits]\nexecute = \"2s\"\ngrace = \"1s\"", &[], &tasks, rules);
    let _ = place.exits(&["waves", "-y", "Hang"], 5);
    place.are("failed", &["T1"]);
    place.error_says("T1", &["`setsid sleep 600 & sleep 600`"]);
    assert_eq!(place.cell("T1", "tests_passed"), "false");
    nothing_left(&place.env);
    place.is_tidy();
}

/// Each is right alone; together they break the command of T2. T3 needs T2.
fn red_together() -> Place {
    let tasks = [
        task("T1", "one.txt", &[]),
        checked("T2", "two.txt", &[], "$ test ! -e one.txt"),
        task("T3", "three.txt", &["T2"]),
    ];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "1")])),
        does("T2", &json!([writes("two.txt", "2")])),
        does("T3", &json!([writes("three.txt", "3")])),
    ];
    Place::new(&[], &tasks, rules)
}

/// The task fails, its changes stay, dependents are skipped.
fn went_on(place: &Place) {
    place.are("completed", &["T1"]);
    place.are("failed", &["T2"]);
    place.are("skipped", &["T3"]);
    place.error_says("T2", &["after the merge", "`test ! -e one.txt`"]);
    assert_eq!(place.cell("T2", "tests_passed"), "false");
    assert_eq!(["one.txt", "two.txt", "three.txt"].map(|file| place.env.exists(file)), [true, true, false]);
}

#[test]
fn red_after_the_merge_goes_on_unasked() {
    let place = red_together();
    let _ = place.exits(&["waves", "-y", "Together"], 5);
    went_on(&place);
    place.is_tidy();
}

#[test]
fn red_after_the_merge_stops_and_goes_on_when_answered() {
    let place = red_together();
    place.approved(&[]);
    let open = place.resume(&[], 4);
    assert!(open.stdout.contains("test ! -e one.txt") || open.stderr.contains("test ! -e one.txt"), "{}", open.stderr);
    assert!(place.env.exists("one.txt"), "the wave is merged already");
    place.answer("stop");
    let _ = place.resume(&[], 4);
    place.are("pending", &["T1", "T2", "T3"]);
    let _ = place.resume(&[], 4);
    place.answer("go-on");
    let _ = place.resume(&[], 5);
    went_on(&place);
    assert_eq!((place.runs("T1"), place.runs("T2")), (1, 1));
}

#[test]
fn red_after_the_merge_is_taken_back_when_asked_for() {
    let place = red_together();
    place.approved(&[]);
    let _ = place.resume(&[], 4);
    place.answer("undo");
    let _ = place.resume(&[], 5);
    assert_eq!(["one.txt", "two.txt", "three.txt"].map(|file| place.env.exists(file)), [false, false, false]);
    place.are("failed", &["T1", "T2"]);
    place.are("skipped", &["T3"]);
    place.error_says("T1", &["the wave was taken back", "planex patch show"]);
    let _ = place.exits(&["patch", "apply", &place.id(), "T1"], 0);
    assert!(place.env.exists("one.txt"), "its patch is there");
}

#[test]
fn without_isolation_commands_run_after_the_wave() {
    let tasks = [checked("T1", "one.txt", &[], "$ grep -q 2 two.txt"), checked("T2", "two.txt", &[], "$ false")];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "1"), {"wait_for": "two.txt"}])),
        does("T2", &json!([writes("two.txt", "2")])),
    ];
    let place = Place::new(&[], &tasks, rules);
    let _ = place.exits(&["waves", "-y", "Share", "--isolation", "none", "-c", "2"], 5);
    place.are("completed", &["T1"]);
    place.are("failed", &["T2"]);
    assert!(place.env.exists("two.txt"), "without isolation there is nothing to hold back");
}
