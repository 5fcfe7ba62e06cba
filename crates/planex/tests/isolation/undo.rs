//! Taking waves back (spec 70, *planex undo*).

use serde_json::json;

use crate::{Place, does, shell, task, writes};

/// Three waves, each of one task.
fn three() -> Place {
    let tasks = [task("T1", "one.txt", &[]), task("T2", "gone.txt", &["T1"]), task("T3", "one.txt", &["T2"])];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "1\n")])),
        does("T2", &json!([{"delete": "gone.txt"}])),
        does("T3", &json!([shell("echo 3 >>one.txt")])),
    ];
    let place = Place::new(&[("gone.txt", "here\n"), ("dirty.txt", "clean\n")], &tasks, rules);
    place.env.write("dirty.txt", "dirty\n");
    let _ = place.exits(&["waves", "-y", "Three waves"], 0);
    place
}

#[test]
fn everything_is_taken_back_and_can_be_run_again() {
    let place = three();
    let done = place.exits(&["undo", &place.id()], 0);
    assert!(done.stderr.contains("--retry"), "{}", done.stderr);
    assert_eq!([place.env.exists("one.txt"), place.env.exists("gone.txt")], [false, true]);
    assert_eq!(place.env.read("dirty.txt"), "dirty\n");
    place.are("skipped", &["T1", "T2", "T3"]);
    let again = place.exits(&["undo", &place.id()], 2).stderr;
    assert!(again.contains("nothing to take back"), "{again}");
    let _ = place.exits(&["resume", "-y", &place.id(), "--retry"], 0);
    place.are("completed", &["T1", "T2", "T3"]);
    assert_eq!(place.env.read("one.txt"), "1\n3\n");
    let _ = place.exits(&["undo", &place.id()], 0);
    assert!(!place.env.exists("one.txt"), "what was run again is taken back too");
}

#[test]
fn one_wave_and_those_after_it_are_taken_back() {
    let place = three();
    let _ = place.exits(&["undo", &place.id(), "--wave", "2"], 0);
    assert_eq!(place.env.read("one.txt"), "1\n");
    assert!(place.env.exists("gone.txt"));
    place.are("completed", &["T1"]);
    place.are("skipped", &["T2", "T3"]);
    let none = place.exits(&["undo", &place.id(), "--wave", "2"], 2).stderr;
    assert!(none.contains("no wave from 2 on"), "{none}");
    let _ = place.exits(&["resume", "-y", &place.id(), "--retry"], 0);
    assert_eq!((place.env.read("one.txt"), place.env.exists("gone.txt")), ("1\n3\n".to_owned(), false));
}

#[test]
fn later_work_is_never_lost() {
    let place = three();
    place.env.write("one.txt", "mine now\n");
    let refused = place.exits(&["undo", &place.id()], 5).stderr;
    assert!(refused.contains("wave 3") && refused.contains("one.txt"), "{refused}");
    assert_eq!(place.env.read("one.txt"), "mine now\n");
    assert!(!place.env.exists("gone.txt"), "nothing of it was written");
    place.are("completed", &["T1", "T2", "T3"]);
    place.env.write("one.txt", "1\n3\n");
    place.env.write("gone.txt", "made anew by the user\n");
    let refused = place.exits(&["undo", &place.id()], 5).stderr;
    assert!(refused.contains("wave 2") && refused.contains("gone.txt"), "{refused}");
    assert_eq!(place.env.read("gone.txt"), "made anew by the user\n");
    place.are("completed", &["T1", "T2"]);
    place.are("skipped", &["T3"]);
    assert_eq!(place.env.read("one.txt"), "1\n", "waves after it stay taken back");
}
