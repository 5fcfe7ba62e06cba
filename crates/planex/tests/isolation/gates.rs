//! Gates of a wave in trees: wider scopes, and what an approval covers (spec 20, 70).

use planex_testkit::waves::session;
use serde_json::json;

use crate::{Place, checked, does, task, writes};

/// T1 leaves its scope the first time, T2 stays in it, T3 needs T1.
fn wide() -> Place {
    let tasks = [task("T1", "one.txt", &[]), task("T2", "two.txt", &[]), task("T3", "three.txt", &["T1"])];
    let rules = vec![
        json!({"when": {"role": "execute", "id": "T1", "attempt": 1},
            "do": [writes("one.txt", "1"), writes("wide.txt", "w"), "completed"]}),
        does("T1", &json!([writes("one.txt", "again")])),
        does("T2", &json!([writes("two.txt", "2")])),
        does("T3", &json!([writes("three.txt", "3")])),
    ];
    Place::new(&[], &tasks, rules)
}

#[test]
fn a_wider_scope_is_merged_when_accepted_without_running_again() {
    let place = wide();
    place.approved(&[]);
    let open = place.resume(&[], 4);
    let shown = format!("{}{}", open.stdout, open.stderr);
    assert!(shown.contains("[T1] may change one.txt; changed wide.txt"), "{shown}");
    assert!(shown.contains("confirm=accept") || shown.contains("planex answer"), "{shown}");
    assert!(!place.env.exists("two.txt"), "the wave waits as a whole");
    place.answer("accept");
    let _ = place.resume(&[], 0);
    place.are("completed", &["T1", "T2", "T3"]);
    place.error_says("T1", &["outside of its scope: wide.txt"]);
    assert!(place.env.exists("wide.txt"));
    assert_eq!(["T1", "T2", "T3"].map(|task| place.runs(task)), [1, 1, 1]);
    place.is_tidy();
}

#[test]
fn a_task_outside_of_its_scope_alone_runs_again_when_asked_for() {
    let place = wide();
    place.approved(&[]);
    let _ = place.resume(&[], 4);
    place.answer("again");
    let _ = place.resume(&[], 0);
    place.are("completed", &["T1", "T2", "T3"]);
    assert!(!place.env.exists("wide.txt"));
    assert_eq!(place.env.read("one.txt"), "again");
    assert_eq!(["T1", "T2", "T3"].map(|task| place.runs(task)), [2, 1, 1]);
}

#[test]
fn a_task_outside_of_its_scope_is_kept_out_when_refused() {
    let place = wide();
    place.approved(&[]);
    let _ = place.resume(&[], 4);
    place.answer("refuse");
    let _ = place.resume(&[], 5);
    place.are("failed", &["T1"]);
    place.are("skipped", &["T3"]);
    place.are("completed", &["T2"]);
    assert_eq!(["one.txt", "wide.txt", "two.txt"].map(|file| place.env.exists(file)), [false, false, true]);
}

/// Two gates in one wave: the answer to the first is not asked for again when the second is answered.
#[test]
fn an_answer_holds_while_the_next_gate_of_the_wave_waits() {
    let tasks = [task("T1", "one.txt", &[]), checked("T2", "two.txt", &[], "$ no-such-program")];
    let rules = vec![does("T1", &json!([writes("wide.txt", "w")])), does("T2", &json!([writes("two.txt", "2")]))];
    let place = Place::new(&[], &tasks, rules);
    place.approved(&[]);
    let _ = place.resume(&[], 4);
    place.answer("refuse");
    let second = place.resume(&[], 4);
    let shown = format!("{}{}", second.stdout, second.stderr);
    assert!(shown.contains("no-such-program"), "{shown}");
    place.answer("go-on");
    let _ = place.resume(&[], 5);
    place.are("failed", &["T1"]);
    place.are("completed", &["T2"]);
}

#[test]
fn yes_never_widens_a_scope() {
    let place = wide();
    let _ = place.exits(&["waves", "-y", "Widen"], 5);
    place.are("failed", &["T1"]);
    place.are("skipped", &["T3"]);
    assert!(!place.env.exists("wide.txt"));
}

/// Edits tasks.csv of the only session.
fn edit(place: &Place, old: &str, new: &str) {
    let file = session(&place.env).join("tasks.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(old), "{text}");
    std::fs::write(&file, text.replace(old, new)).unwrap();
}

#[test]
fn what_is_edited_after_the_approval_brings_the_gate_back() {
    for (old, new) in [("$ true", "$ touch evil"), ("one.txt", "**")] {
        let tasks = [checked("T1", "one.txt", &[], "$ true")];
        let place = Place::new(&[], &tasks, vec![does("T1", &json!([writes("one.txt", "1")]))]);
        place.approved(&[]);
        edit(&place, old, new);
        let open = place.resume(&[], 4);
        let shown = format!("{}{}", open.stdout, open.stderr);
        assert!(shown.contains(new), "what is approved is shown: {shown}");
        assert_eq!(place.runs("T1"), 0, "nothing runs before the new answer");
        place.answer("execute");
        let _ = place.resume(&[], 0);
        place.are("completed", &["T1"]);
    }
}

#[test]
fn a_script_that_an_earlier_task_makes_changes_no_approval() {
    let tasks = [task("T1", "check.sh", &[]), checked("T2", "two.txt", &["T1"], "./check.sh")];
    let script = "printf '#!/bin/sh\\nfalse\\n' >check.sh && chmod +x check.sh";
    let rules = vec![does("T1", &json!([crate::shell(script)])), does("T2", &json!([writes("two.txt", "2")]))];
    let place = Place::new(&[], &tasks, rules);
    place.approved(&[]);
    let _ = place.resume(&[], 0);
    place.are("completed", &["T1", "T2"]);
}

#[test]
fn other_terms_than_those_of_the_approval_bring_the_gate_back() {
    let place = wide();
    place.approved(&[]);
    for terms in [["--scope", "warn"], ["--isolation", "none"]] {
        let open = place.resume(&terms, 4);
        assert!(open.stdout.contains("Run 3 task(s) in 2 wave(s)?"), "{}{}", open.stdout, open.stderr);
        assert_eq!(["T1", "T2", "T3"].map(|task| place.runs(task)), [0, 0, 0]);
    }
    // The same terms as before: what was approved then still holds.
    let open = place.resume(&[], 4);
    assert!(open.stdout.contains("[T1] may change one.txt"), "{}{}", open.stdout, open.stderr);
}
