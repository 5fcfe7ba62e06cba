//! Where results go: a branch, a patch (spec 70, *Where results go*).

use planex_testkit::waves::session;
use serde_json::json;

use crate::{Place, does, shell, task, writes};

/// T2 builds on T1; the tree has changes of the user's.
fn two_waves() -> Place {
    let tasks = [task("T1", "one.txt", &[]), task("T2", "two.txt", &["T1"])];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "one\n")])),
        does("T2", &json!([shell("cat one.txt dirty.txt new.txt >two.txt")])),
    ];
    Place::new(&[("dirty.txt", "clean\n")], &tasks, rules)
}

fn make_dirty(place: &Place) {
    place.env.write("dirty.txt", "dirty\n");
    place.env.write("new.txt", "new\n");
}

fn status(place: &Place) -> String {
    place.env.git(&["status", "--porcelain", "--", ".", ":!.workflow"])
}

#[test]
fn a_branch_gets_one_commit_a_task_and_the_tree_stays() {
    let place = two_waves();
    make_dirty(&place);
    let before = status(&place);
    let _ = place.exits(&["waves", "-y", "Branch", "--into", "branch=feature/x"], 0);
    place.are("completed", &["T1", "T2"]);
    assert_eq!(status(&place), before);
    place.is_tidy();
    let log = place.env.git(&["log", "--format=%s", "main..feature/x"]);
    let subjects: Vec<&str> = log.lines().collect();
    assert_eq!(subjects.len(), 3, "one commit a task, on what was not committed: {log}");
    assert!(subjects[0].starts_with("T2: ") && subjects[1].starts_with("T1: "), "{log}");
    assert_eq!(place.env.git(&["show", "feature/x:two.txt"]), "one\ndirty\nnew");
    let none = place.exits(&["undo", &place.id()], 2).stderr;
    assert!(none.contains("nothing to take back"), "{none}");
}

#[test]
fn a_clean_tree_gives_a_branch_on_head() {
    let tasks = [task("T1", "one.txt", &[])];
    let place = Place::new(&[], &tasks, vec![does("T1", &json!([writes("one.txt", "1")]))]);
    let _ = place.exits(&["waves", "-y", "Branch", "--into", "branch=x"], 0);
    assert_eq!(place.env.git(&["rev-parse", "x~1"]), place.env.git(&["rev-parse", "main"]));
    let message = place.env.git(&["log", "-1", "--format=%B", "x"]);
    assert!(message.starts_with("T1: Make T1\n\nplanex session "), "{message}");
}

/// Each is refused before any agent runs and before there is a session.
#[test]
fn a_branch_that_cannot_be_made_is_refused_at_once() {
    let place = two_waves();
    place.env.git(&["branch", "taken"]);
    place.env.git(&["branch", "dir/leaf"]);
    for (name, why) in [
        ("taken", "exists"),
        ("main", "exists"),
        ("taken/below", "`taken`"),
        ("dir", "`dir/leaf`"),
        ("a..b", "no name"),
        ("-x", "no name"),
    ] {
        let into = format!("--into=branch={name}");
        let refused = place.exits(&["waves", "-y", "Branch", &into], 2).stderr;
        assert!(refused.contains(why) && refused.contains(name), "{name}: {refused}");
    }
    assert_eq!(place.agent.runs().len(), 0, "no agent ran");
    assert!(!place.env.exists(".workflow/.lite-plan"), "there is no session");
}

#[test]
fn a_branch_that_someone_else_made_stops_the_wave_before_it_runs() {
    let place = two_waves();
    make_dirty(&place);
    let _ = place.approved(&["--into", "branch=x"]);
    place.env.git(&["branch", "x"]);
    let refused = place.resume(&[], 2).stderr;
    assert!(refused.contains("`x`") && refused.contains("exists"), "{refused}");
    assert_eq!(place.runs("T1"), 0);
    place.env.git(&["branch", "-D", "x"]);
    let _ = place.resume(&[], 0);
    place.are("completed", &["T1", "T2"]);
}

/// What was chosen at the start holds for the session, said again or not.
#[test]
fn where_results_go_is_kept_for_a_resume() {
    let place = two_waves();
    make_dirty(&place);
    let _ = place.approved(&["--into", "branch=x"]);
    let refused = place.resume(&["--into", "patch"], 2).stderr;
    assert!(refused.contains("go into branch=x, not into patch"), "{refused}");
    let _ = place.resume(&[], 0);
    assert!(!place.env.exists("one.txt"));
    assert_eq!(place.env.git(&["show", "x:one.txt"]), "one");
}

#[test]
fn a_patch_holds_everything_and_applies_with_git() {
    let place = two_waves();
    make_dirty(&place);
    let before = status(&place);
    let _ = place.exits(&["waves", "-y", "Patch", "--into", "patch"], 0);
    place.are("completed", &["T1", "T2"]);
    assert_eq!(status(&place), before);
    let patch = session(&place.env).join("changes.patch");
    place.env.git(&["apply", patch.as_str()]);
    assert_eq!(place.env.read("two.txt"), "one\ndirty\nnew\n");
    assert_eq!(place.env.read("dirty.txt"), "dirty\n");
    place.is_tidy();
}

#[test]
fn a_retry_into_a_branch_builds_on_what_is_there() {
    let tasks = [task("T1", "one.txt", &[]), task("T2", "two.txt", &[])];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "1")])),
        json!({"when": {"role": "execute", "id": "T2", "attempt": 1}, "do": [{"exit": 1}]}),
        does("T2", &json!([shell("cp one.txt two.txt")])),
    ];
    let place = Place::new(&[], &tasks, rules);
    let _ = place.exits(&["waves", "-y", "Branch", "--into", "branch=x"], 5);
    let _ = place.exits(&["resume", "-y", &place.id(), "--retry"], 0);
    place.are("completed", &["T1", "T2"]);
    assert_eq!(place.env.git(&["show", "x:two.txt"]), "1");
    assert_eq!(place.env.git(&["rev-list", "--count", "main..x"]), "2");
}
