//! What is left of sessions in the repository and in the cache folder, and how it goes.

use planex_testkit::Output;
use planex_testkit::waves::nothing_left;
use serde_json::json;

use crate::{Place, does, task, wait_for, writes};

/// One task that merges and one that leaves a patch.
fn done() -> Place {
    let tasks = [task("T1", "one.txt", &[]), task("T2", "two.txt", &[])];
    let rules = vec![does("T1", &json!([writes("one.txt", "1")])), does("T2", &json!([writes("wide.txt", "2")]))];
    let place = Place::new(&[("app/main.txt", "main\n")], &tasks, rules);
    let _ = place.exits(&["waves", "-y", "Keep"], 5);
    assert!(place.refs().contains("/w/0001/base") && place.refs().contains("/p/T2"), "{}", place.refs());
    place
}

/// A session whose planex was killed while its task ran: its tree is left.
fn killed() -> Place {
    let held = json!([{"touch": "{session_dir}/../../began"}, {"wait_for": "{session_dir}/../../go"},
        writes("one.txt", "1")]);
    let place = Place::new(&[], &[task("T1", "one.txt", &[])], vec![does("T1", &held)]);
    let run = place.planex(&["waves", "-y", "Keep"]).spawn();
    wait_for("the task", || place.env.exists(".workflow/began"));
    assert_eq!(place.trees().len(), 1, "a tree is there while its task runs");
    let doctor = place.exits(&["doctor", "--fix"], 0).stdout;
    assert!(!doctor.contains("trees of tasks") && place.trees().len() == 1, "of a running session none goes: {doctor}");
    run.kill_group();
    drop(run);
    nothing_left(&place.env);
    assert_eq!(place.trees().len(), 1, "a kill leaves it");
    place
}

/// Standard output of `planex doctor` about leftovers.
fn leftovers(output: &Output) -> Vec<&str> {
    output.stdout.lines().filter(|line| line.contains("refs/planex of") || line.contains("trees of tasks")).collect()
}

#[test]
fn a_session_that_is_deleted_takes_its_refs_and_trees_along() {
    let place = done();
    let _ = place.exits(&["sessions", "delete", "-y", &place.id()], 0);
    assert_eq!(place.refs(), "");
    let place = killed();
    let _ = place.exits(&["sessions", "delete", "-y", &place.id()], 0);
    assert_eq!((place.refs(), place.trees()), (String::new(), Vec::new()));
}

#[test]
fn a_session_that_is_pruned_takes_its_refs_along() {
    let place = done();
    let _ = place.exits(&["sessions", "prune", "--keep", "0", "--dry-run"], 0);
    assert_ne!(place.refs(), "", "nothing goes in a dry run");
    let _ = place.exits(&["sessions", "prune", "--keep", "0"], 0);
    assert_eq!(place.refs(), "");
}

#[test]
fn a_session_of_the_archive_takes_nothing_of_a_new_one_of_its_name_along() {
    let place = done();
    let id = place.id();
    let _ = place.exits(&["sessions", "archive", &id], 0);
    let _ = std::fs::remove_file(place.env.dir().join("one.txt"));
    let _ = place.exits(&["waves", "-y", "Keep"], 5);
    assert_eq!(place.id(), id, "the name is free again");
    let refs = place.refs();
    let _ = place.exits(&["sessions", "prune", "--keep", "1"], 0);
    assert!(!place.env.exists(format!(".workflow/archives/{id}")), "the archived one is gone");
    assert_eq!(place.refs(), refs);
    let _ = place.exits(&["undo", &id], 0);
}

#[test]
fn an_archived_session_has_no_refs_and_says_what_cannot_be_done_any_more() {
    let place = done();
    let id = place.id();
    let _ = place.exits(&["sessions", "archive", &id], 0);
    assert_eq!(place.refs(), "");
    let undo = place.exits(&["undo", &id], 2).stderr;
    assert!(undo.contains("is in the archive"), "{undo}");
    let apply = place.exits(&["patch", "apply", &id, "T2"], 2).stderr;
    assert!(apply.contains(&format!("planex patch show {id} T2 | git apply --3way")), "{apply}");
    let shown = place.exits(&["patch", "show", &id, "T2"], 0).stdout;
    place.env.write("t2.patch", shown);
    place.env.git(&["apply", "--3way", "t2.patch"]);
    assert_eq!(place.env.read("wide.txt"), "2", "the hint works");
}

#[test]
fn doctor_finds_trees_of_a_killed_session_and_resume_does_without_them() {
    let place = killed();
    let seen = place.exits(&["doctor"], 0);
    assert_eq!(leftovers(&seen).len(), 1, "{}", seen.stdout);
    assert_eq!(place.trees().len(), 1, "listing takes nothing away");
    let _ = place.exits(&["doctor", "--fix"], 0);
    assert_eq!(place.trees(), Vec::<String>::new());
    assert_ne!(place.refs(), "", "refs of a session that is there stay");
    place.env.write(".workflow/go", "");
    let _ = place.exits(&["resume", "-y", &place.id()], 0);
    assert_eq!(place.env.read("one.txt"), "1");
    assert_eq!(leftovers(&place.exits(&["doctor"], 0)).len(), 0);
}

#[test]
fn doctor_finds_refs_of_sessions_that_were_removed_by_hand() {
    let place = done();
    let _ = place.env.sh("rm -r .workflow").success();
    let seen = place.exits(&["doctor"], 0);
    assert_eq!(leftovers(&seen).len(), 1, "{}", seen.stdout);
    let fixed = place.exits(&["doctor", "--fix"], 0);
    assert!(leftovers(&fixed)[0].contains("removed: "), "{}", fixed.stdout);
    assert_eq!(place.refs(), "");
}

#[test]
fn of_a_project_that_was_moved_the_trees_go_and_the_refs_stay() {
    let place = killed();
    let (here, moved) = (place.env.dir(), place.env.root().join("moved"));
    std::fs::rename(&here, &moved).unwrap();
    std::fs::create_dir(&here).unwrap();
    let there = |args: &[&str]| place.planex(args).current_dir(&moved).output().success();
    let seen = there(&["doctor"]);
    assert!(leftovers(&seen)[0].contains("which is gone"), "{}", seen.stdout);
    let _ = there(&["doctor", "--fix"]);
    assert_eq!(place.trees(), Vec::<String>::new());
    std::fs::remove_dir(&here).unwrap();
    std::fs::rename(&moved, &here).unwrap();
    assert_ne!(place.refs(), "");
}

/// Two projects of one repository can have sessions of the same name; what one does is nothing to the other.
#[test]
fn projects_of_one_repository_do_not_share_refs() {
    let place = done();
    let id = place.id();
    let app = place.env.dir().join("app");
    let tree = place.env.root().join("linked");
    let _ = place.env.sh("mkdir app/.workflow").success();
    place.env.git(&["worktree", "add", "-q", "--detach", tree.as_str()]);
    let own = place.refs();
    for dir in [&app, &tree] {
        let others = place.refs();
        let there = |args: &[&str]| place.planex(args).current_dir(dir).output();
        let _ = there(&["waves", "-y", "Keep"]).exits(5);
        assert!(dir.join(".workflow/.lite-plan").join(&id).is_dir(), "the same name");
        assert!(dir.join("one.txt").exists());
        assert_eq!(leftovers(&there(&["doctor"]).success()).len(), 0, "refs of others are no leftovers");
        let _ = there(&["sessions", "delete", "-y", &id]).exits(0);
        assert_eq!(place.refs(), others, "those of the others stay");
        let _ = std::fs::remove_file(dir.join("one.txt"));
        let _ = there(&["waves", "-y", "Keep"]).exits(5);
    }
    place.env.git(&["worktree", "remove", "--force", tree.as_str()]);
    let _ = std::fs::remove_dir_all(app.join(".workflow"));
    let fixed = place.exits(&["doctor", "--fix"], 0);
    assert_eq!(leftovers(&fixed).len(), 2, "of a folder and of a working tree: {}", fixed.stdout);
    assert_eq!(place.refs(), own);
    let _ = place.exits(&["undo", &id], 0);
    assert!(!place.env.exists("one.txt"));
}
