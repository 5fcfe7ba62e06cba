//! An agent that puts something else in the place of its tree: nothing behind a link is ever touched.

use serde_json::json;

use crate::{Place, does, shell, task, writes};

#[test]
fn a_tree_that_became_a_link_to_the_users_folder_fails_its_task_and_touches_nothing() {
    let tasks = [task("T1", "**", &[]), task("T2", "two.txt", &["T1"]), task("T3", "three.txt", &[])];
    let away = "tree=$PWD; cd /; mv \"$tree\" \"$tree.moved\"; ln -s \"$HOME/../work\" \"$tree\"";
    let rules = vec![
        does("T1", &json!([shell(away)])),
        does("T2", &json!([writes("two.txt", "2")])),
        does("T3", &json!([writes("three.txt", "3")])),
    ];
    let place = Place::new(&[(".gitignore", "ign/\n"), ("ign/x", "the user's")], &tasks, rules);
    let head = place.env.git(&["rev-parse", "HEAD"]);
    let _ = place.exits(&["waves", "-y", "Replace"], 5);
    place.are("failed", &["T1"]);
    place.are("skipped", &["T2"]);
    place.are("completed", &["T3"]);
    assert_eq!(place.env.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(place.env.read("ign/x"), "the user's");
    let _ = place.exits(&["resume", &place.id(), "-y", "--retry"], 5);
    assert_eq!(place.env.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(place.env.read("ign/x"), "the user's");
}
