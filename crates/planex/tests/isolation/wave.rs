//! Tasks that disturb each other, and the user in the middle of it.

use planex_testkit::waves::nothing_left;
use serde_json::{Value, json};

use crate::{Place, does, shell, task, wait_for, writes};

/// Eight tasks of one wave; T1, T6, T7 and T8 stay within their scopes.
fn eight() -> Place {
    let tasks: Vec<Value> = [
        ("T1", "shared.txt"),
        ("T2", "t2.txt"),
        ("T3", "t3.txt"),
        ("T4", "t4.txt"),
        ("T5", "t5.txt"),
        ("T6", "mine/six.txt"),
        ("T7", "t7.txt"),
        ("T8", "t8.txt"),
    ]
    .map(|(id, scope)| task(id, scope, &[]))
    .into();
    let detached = |kind: &str| json!({"spawn": {"kind": kind, "sleep_ms": 600_000, "ignore_term": true}});
    let rules = vec![
        does("T1", &json!([{"edit": {"path": "shared.txt", "old": "line", "new": "line of T1"}}])),
        does(
            "T2",
            &json!([writes("t2.txt", "2"), {"edit": {"path": "shared.txt", "old": "line", "new": "line of T2"}}]),
        ),
        does("T3", &json!([writes("t3.txt", "3"), writes("README.md", "rewritten\n")])),
        does("T4", &json!([shell("ln -s \"$HOME\" way-out && echo x >way-out/stolen && echo 4 >t4.txt")])),
        does("T5", &json!([writes("t5.txt", "5"), {"delete": "mine/six.txt"}])),
        does(
            "T6",
            &json!([shell(
                "echo six by T6 >mine/six.txt && git checkout -q -b elsewhere && \
                 git -c user.name=A -c user.email=a@b.c commit -qam x && git checkout -q --detach"
            )]),
        ),
        does(
            "T7",
            &json!([
                detached("setsid"),
                detached("double_fork"),
                writes("t7.txt", "7"),
                shell("sh -c 'kill -9 $$' || true; (sleep 600 &) ; true")
            ]),
        ),
        does("T8", &json!([writes("t8.txt", "8")])),
    ];
    Place::new(&[("shared.txt", "line\n"), ("README.md", "read me\n"), ("mine/six.txt", "six\n")], &tasks, rules)
}

#[test]
fn of_eight_tasks_the_right_ones_merge_and_the_others_are_kept_as_patches() {
    let place = eight();
    let head = place.env.git(&["rev-parse", "HEAD"]);
    let _ = place.exits(&["waves", "-y", "Disturb each other", "-c", "4"], 5);
    place.are("completed", &["T1", "T6", "T7", "T8"]);
    place.are("failed", &["T2", "T3", "T4", "T5"]);
    place.error_says("T2", &["changed outside of its scope: shared.txt", "planex patch show"]);
    place.error_says("T3", &["changed outside of its scope: README.md"]);
    place.error_says("T4", &["changed outside of its scope: way-out"]);
    place.error_says("T5", &["changed outside of its scope: mine/six.txt"]);
    assert_eq!(place.cell("T3", "files_modified"), "README.md;t3.txt");
    nothing_left(&place.env);
    place.is_tidy();
    assert_eq!(place.env.git(&["rev-parse", "main"]), head);
    assert_eq!(place.env.git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(place.env.git(&["diff", "--cached", "--name-only"]), "", "nothing is staged");
    assert_eq!(place.env.read("shared.txt"), "line of T1\n");
    assert_eq!(place.env.read("mine/six.txt"), "six by T6\n");
    let there = ["t7.txt", "t8.txt"].map(|file| place.env.exists(file));
    assert_eq!(there, [true, true]);
    for file in ["t2.txt", "t3.txt", "t4.txt", "t5.txt", "way-out"] {
        assert!(!place.env.exists(file), "{file} belongs to a task that failed");
    }
    patches(&place);
}

/// What was not merged is listed, shown, applied and dropped.
fn patches(place: &Place) {
    let id = place.id();
    let patch = |what: &str, task: &str, code| place.exits(&["patch", what, &id, task], code);
    let listed = |place: &Place| {
        let rows = place.exits(&["patch", "list", &id, "--json"], 0).json_lines();
        rows.iter().map(|row| row["task"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(place), ["T2", "T3", "T4", "T5"]);
    assert!(patch("show", "T5", 0).stdout.contains("deleted file mode"), "as git apply takes it");
    let refused = patch("apply", "T2", 5).stderr;
    assert!(refused.contains("shared.txt") && refused.contains("nothing was written"), "{refused}");
    assert!(!place.env.exists("t2.txt"), "nothing of a patch that conflicts is written");
    assert_eq!(place.env.read("shared.txt"), "line of T1\n");
    let _ = patch("apply", "T3", 0);
    assert_eq!((place.env.read("README.md"), place.env.read("t3.txt")), ("rewritten\n".into(), "3".into()));
    let _ = patch("drop", "T4", 0);
    assert_eq!(listed(place), ["T2", "T5"]);
    let unknown = patch("show", "T4", 2).stderr;
    assert!(unknown.contains("there are T2, T5"), "{unknown}");
    assert!(!place.refs().contains("/p/T4") && place.refs().contains("/p/T5"), "{}", place.refs());
}

#[test]
fn with_warn_only_what_conflicts_fails_and_the_rest_is_reported() {
    let place = eight();
    let _ = place.exits(&["waves", "-y", "Disturb each other", "--scope", "warn"], 5);
    place.are("completed", &["T1", "T3", "T4", "T5", "T7", "T8"]);
    place.are("failed", &["T2", "T6"]);
    place.error_says("T2", &["conflicts with another task of the same wave: shared.txt"]);
    place.error_says("T6", &["conflicts with another task of the same wave: mine/six.txt"]);
    place.error_says("T3", &["outside of its scope: README.md"]);
    assert_eq!(place.env.read("shared.txt"), "line of T1\n");
    assert_eq!(place.env.read("README.md"), "rewritten\n");
    assert!(!place.env.exists("mine/six.txt") && !place.env.exists("t2.txt"));
    let link = place.env.dir().join("way-out").symlink_metadata().unwrap();
    assert!(link.is_symlink(), "a link is merged as one, never followed");
    nothing_left(&place.env);
    place.is_tidy();
}

#[test]
fn what_the_user_edits_meanwhile_is_kept_and_fails_the_task_that_changes_the_same() {
    let (tasks, wait) = (["T1", "T2"], |place: &str| json!({"wait_for": format!("{place}/go")}));
    let hold = "{session_dir}/../..";
    let rules = vec![
        does("T1", &json!([{"touch": format!("{hold}/began")}, wait(hold), writes("both.txt", "by T1\n")])),
        does("T2", &json!([wait(hold), writes("other.txt", "by T2\n")])),
    ];
    let tasks = [task(tasks[0], "both.txt", &[]), task(tasks[1], "other.txt", &[])];
    let place = Place::new(&[("both.txt", "start\n")], &tasks, rules);
    let run = place.planex(&["waves", "-y", "Work beside me", "-c", "2"]).spawn();
    wait_for("the task", || place.env.exists(".workflow/began"));
    place.env.write("both.txt", "by the user\n");
    place.env.write("new.txt", "by the user\n");
    place.env.write(".workflow/go", "");
    let _ = run.wait().exits(5);
    place.are("failed", &["T1"]);
    place.are("completed", &["T2"]);
    place.error_says("T1", &["conflicts with what is in your tree: both.txt"]);
    assert_eq!(place.env.read("both.txt"), "by the user\n");
    assert_eq!(place.env.read("new.txt"), "by the user\n");
    assert_eq!(place.env.read("other.txt"), "by T2\n");
    let shown = place.exits(&["patch", "show", &place.id(), "T1"], 0).stdout;
    assert!(shown.contains("+by T1"), "{shown}");
    place.is_tidy();
}

#[test]
fn a_project_in_a_sub_folder_stays_there_and_japanese_names_are_shown_as_they_are() {
    let tasks = [task("T1", "書類/", &[]), task("T2", "out.txt", &[])];
    let rules = vec![
        does("T1", &json!([writes("書類/設計 書.md", "設計\n")])),
        does("T2", &json!([writes("out.txt", "x"), writes("../lib/mod.txt", "changed\n")])),
    ];
    let mut titled = tasks;
    titled[0]["title"] = json!("設計書を書く");
    let place = Place::new(&[("app/main.txt", "main\n"), ("lib/mod.txt", "lib\n")], &titled, rules);
    let app = place.env.dir().join("app");
    let here = |args: &[&str]| place.planex(args).current_dir(&app).output();
    let _ = place.env.sh("mkdir app/.workflow").success();
    let output = here(&["waves", "-y", "設計書を書く"]).exits(5);
    let folder = app.join(".workflow/.lite-plan");
    let session = folder.read_dir_utf8().unwrap().flatten().next().unwrap();
    let csv = std::fs::read_to_string(session.path().join("tasks.csv")).unwrap();
    assert!(csv.contains("書類/設計 書.md"), "{csv}");
    assert!(csv.contains("changed outside of its scope: ../lib/mod.txt"), "{csv}");
    assert_eq!(place.env.read("app/書類/設計 書.md"), "設計\n", "{}", output.stderr);
    assert_eq!(place.env.read("lib/mod.txt"), "lib\n");
    assert!(!place.env.exists("app/out.txt"));
    let shown = here(&["patch", "show", session.file_name(), "T2"]).success().stdout;
    assert!(shown.contains("+++ b/lib/mod.txt"), "{shown}");
    place.is_tidy();
}

#[test]
fn a_dirty_tree_with_partial_staging_stays_so() {
    let rules = vec![does("T1", &json!([shell("grep -q unstaged staged.txt && cat untracked.txt >out.txt")]))];
    let place = Place::new(&[("staged.txt", "start\n"), ("gone.txt", "x\n")], &[task("T1", "out.txt", &[])], rules);
    place.env.write("staged.txt", "staged\n");
    place.env.git(&["add", "staged.txt"]);
    place.env.write("staged.txt", "staged\nunstaged\n");
    place.env.write("untracked.txt", "untracked\n");
    place.env.git(&["rm", "-q", "gone.txt"]);
    let before = place.env.git(&["status", "--porcelain=v2", "--", ".", ":!.workflow"]);
    let _ = place.exits(&["waves", "-y", "Read what is not committed"], 0);
    let after = place.env.git(&["status", "--porcelain=v2", "--", ".", ":!.workflow", ":!out.txt"]);
    assert_eq!(before, after, "index and tree of the user are as they were");
    assert_eq!(place.env.read("out.txt"), "untracked\n", "tasks see what is not committed");
    assert_eq!(place.env.read("staged.txt"), "staged\nunstaged\n");
    place.is_tidy();
}
