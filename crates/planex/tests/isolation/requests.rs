//! Skip, cancel, pause and kills while a wave in trees runs.

use planex_testkit::Running;
use serde_json::{Value, json};

use crate::{Place, does, task, wait_for, writes};

/// T1 ends at once, T2 waits for the user the first time; T3 needs both.
fn waiting() -> Place {
    let tasks = [task("T1", "one.txt", &[]), task("T2", "two.txt", &[]), task("T3", "three.txt", &["T1", "T2"])];
    let held: Value = json!([{"touch": "{session_dir}/../../began"}, {"wait_for": "{session_dir}/../../go"}]);
    let mut first = held.as_array().unwrap().clone();
    first.extend([writes("two.txt", "2"), json!("completed")]);
    let rules = vec![
        does("T1", &json!([{"append": {"path": "one.txt", "content": "1\n"}}])),
        json!({"when": {"role": "execute", "id": "T2", "attempt": 1}, "do": first}),
        does("T2", &json!([writes("two.txt", "again")])),
        does("T3", &json!([writes("three.txt", "3")])),
    ];
    Place::new(&[], &tasks, rules)
}

/// Starts the wave and waits until T1 has ended and T2 runs.
fn start(place: &Place) -> Running {
    let run = place.planex(&["waves", "-y", "Wait", "-c", "2"]).spawn();
    let folder = place.env.dir().join(".workflow/.lite-plan");
    wait_for("T2", || place.env.exists(".workflow/began"));
    wait_for("the result of T1", || {
        let id = place.id();
        folder.join(&id).join(format!(".planex/runs/{id}-T1/result.json")).exists()
    });
    run
}

fn resume(place: &Place) {
    place.env.write(".workflow/go", "");
    let _ = place.exits(&["resume", "-y", &place.id()], 0);
    place.are("completed", &["T1", "T2", "T3"]);
    assert_eq!(place.env.read("one.txt"), "1\n", "merged once");
    assert_eq!((place.runs("T1"), place.runs("T3")), (1, 1), "a finished task is not run again");
    place.is_tidy();
}

#[test]
fn a_skipped_task_leaves_nothing_and_the_others_merge() {
    let place = waiting();
    let run = start(&place);
    let _ = place.exits(&["skip", &place.id(), "T2"], 0);
    let _ = run.wait().exits(5);
    place.are("completed", &["T1"]);
    place.are("skipped", &["T2", "T3"]);
    assert_eq!([place.env.exists("one.txt"), place.env.exists("two.txt")], [true, false]);
    place.is_tidy();
    let _ = place.exits(&["resume", "-y", &place.id(), "--retry"], 0);
    place.are("completed", &["T1", "T2", "T3"]);
    assert_eq!((place.env.read("one.txt"), place.env.read("two.txt")), ("1\n".to_owned(), "again".to_owned()));
}

#[test]
fn a_cancelled_session_merges_nothing_until_it_is_reopened() {
    let place = waiting();
    let run = start(&place);
    let _ = place.exits(&["cancel", &place.id()], 0);
    let _ = run.wait().exits(4);
    place.are("pending", &["T1", "T2", "T3"]);
    assert!(!place.env.exists("one.txt"), "half a wave is not merged");
    place.is_tidy();
    let _ = place.exits(&["resume", "-y", &place.id()], 4);
    let _ = place.exits(&["resume", "-y", &place.id(), "--reopen"], 0);
    place.are("completed", &["T1", "T2", "T3"]);
    assert_eq!((place.runs("T1"), place.env.read("one.txt").as_str()), (1, "1\n"));
}

#[test]
fn a_pause_ends_the_wave_and_resume_goes_on() {
    let place = waiting();
    let run = start(&place);
    let _ = place.exits(&["pause", &place.id()], 0);
    place.env.write(".workflow/go", "");
    let _ = run.wait().exits(4);
    assert!(!place.env.exists("three.txt"), "the next wave does not begin");
    place.is_tidy();
    resume(&place);
}

#[test]
fn ctrl_c_keeps_what_has_finished() {
    let place = waiting();
    let run = start(&place);
    run.signal(2);
    let _ = run.wait().exits(130);
    assert!(!place.env.exists("one.txt"));
    place.is_tidy();
    resume(&place);
}

#[test]
fn a_kill_keeps_what_has_finished() {
    let place = waiting();
    let run = start(&place);
    run.kill_group();
    drop(run);
    planex_testkit::waves::nothing_left(&place.env);
    resume(&place);
}
