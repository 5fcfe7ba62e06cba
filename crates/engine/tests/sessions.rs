//! Sessions on disk.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test: a panic is its way to fail")]

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::{SignedDuration, Timestamp};
use planex_engine::gate::ApprovalStore;
use planex_engine::session::{
    self, Ending, FORMAT, Found, Meta, PruneLimits, Session, SessionStatus, Workflow, archive, delete, find, find_all,
    list, prune, summary_of,
};

fn at(day: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap().checked_add(SignedDuration::from_hours(24 * day)).unwrap()
}

fn root() -> (tempfile::TempDir, Utf8PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(temp.path()).unwrap().to_owned();
    (temp, root)
}

fn nothing_kept() -> ApprovalStore {
    ApprovalStore::default()
}

fn create(root: &Utf8Path, workflow: Workflow, id: &str, day: i64) -> Session {
    Session::create(root, Meta::new(workflow, id, "do it", at(day).to_string()), "planex test", at(day)).unwrap()
}

fn found(root: &Utf8Path, id: &str) -> Found {
    find(root, id, None).unwrap()
}

#[test]
fn a_taken_id_gets_a_number() {
    let (_temp, root) = root();
    let ids: Vec<String> = (0..3).map(|_| create(&root, Workflow::Waves, "wpp-1-a", 0).id).collect();
    assert_eq!(ids, ["wpp-1-a", "wpp-1-a-2", "wpp-1-a-3"]);
    assert!(root.join(".workflow/.lite-plan/wpp-1-a-3/.planex/meta.json").exists());
    let other = create(&root, Workflow::Fanout, "jobs-2026-01-01", 0);
    assert_eq!(other.paths.dir(), root.join(".workflow/.fanout/jobs-2026-01-01"));
}

#[test]
fn one_drives_and_a_second_is_told_who() {
    let (_temp, root) = root();
    let first = create(&root, Workflow::Waves, "wpp-1-a", 0);
    let found = found(&root, "wpp-1-a");
    let error = Session::open(&found, "planex resume", at(0)).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().contains("planex test"), "{error}");
    assert!(matches!(summary_of(&found).status, SessionStatus::Running(Some(_))));
    assert!(delete(&found, &nothing_kept(), at(0)).is_err() && archive(&root, &found, &nothing_kept(), at(0)).is_err());
    drop(first);
    let again = Session::open(&found, "planex resume", at(1)).unwrap();
    assert_eq!(again.meta.requirement, "do it");
    again.check_lock().unwrap();
    std::fs::remove_file(again.paths.lock()).unwrap();
    assert!(again.check_lock().is_err(), "a lost lock is noticed");
}

#[test]
fn an_older_format_is_read_and_a_newer_one_refused() {
    let (_temp, root) = root();
    drop(create(&root, Workflow::Waves, "wpp-1-a", 0));
    let found = found(&root, "wpp-1-a");
    let file = found.paths().meta();
    std::fs::write(&file, format!(r#"{{"format":{},"planex":"99.1","workflow":"dreams"}}"#, FORMAT + 1)).unwrap();
    let error = Session::open(&found, "x", at(0)).unwrap_err();
    assert!(error.to_string().contains("planex 99.1 in format 2"), "{error}");
    assert_eq!(list(&root).unwrap().len(), 1, "it hides no session from the list");
    std::fs::write(&file, "{\n \"format\": 1,").unwrap();
    let error = Session::open(&found, "x", at(0)).unwrap_err();
    assert!(error.to_string().contains("meta.json:2:"), "{error}");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(Session::open(&found, "x", at(0)).unwrap().meta.workflow, Workflow::Waves);
}

#[test]
fn fields_of_other_versions_are_kept() {
    let (_temp, root) = root();
    let session = create(&root, Workflow::Waves, "wpp-1-a", 0);
    let file = session.paths.meta();
    let mut value: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    value["later"] = 7.into();
    std::fs::write(&file, value.to_string()).unwrap();
    drop(session);
    Session::open(&found(&root, "wpp-1-a"), "x", at(0)).unwrap().save().unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().contains("\"later\": 7"));
}

#[test]
fn sessions_are_listed_newest_first_with_how_they_stand() {
    let (_temp, root) = root();
    let mut done = create(&root, Workflow::Waves, "wpp-1-done", 1);
    std::fs::write(done.paths.tasks_csv(), "id,status\nT1,completed\nT2,FAILED\nT3,skipped\nT4,\n").unwrap();
    done.meta.ended = Some(Ending::Failed);
    done.save().unwrap();
    drop(done);
    drop(create(&root, Workflow::Fanout, "jobs", 3));
    std::fs::create_dir_all(root.join(".workflow/.lite-plan/by-hand")).unwrap();
    let all = list(&root).unwrap();
    let names: Vec<&str> = all.iter().map(|s| s.found.id.as_str()).collect();
    assert_eq!(names[1..], ["jobs", "wpp-1-done"], "one without meta.json stands by its folder's time: {names:?}");
    let failed = &all[2];
    assert_eq!(failed.status, SessionStatus::Failed);
    assert_eq!(
        (failed.counts.completed, failed.counts.failed, failed.counts.skipped, failed.counts.pending),
        (1, 1, 1, 1)
    );
    assert!(failed.size > 0);
    assert_eq!(all[1].status, SessionStatus::Stopped);
    assert_eq!(find(&root, "wpp", Some(Workflow::Fanout)).unwrap_err().exit_code(), 2);
}

#[test]
fn archive_and_delete_move_and_remove_whole_sessions() {
    let (_temp, root) = root();
    for _ in 0..2 {
        drop(create(&root, Workflow::Waves, "wpp-1-a", 0));
        let away = archive(&root, &found(&root, "wpp-1-a"), &nothing_kept(), at(0)).unwrap();
        assert!(away.join(".planex/meta.json").exists());
    }
    assert!(root.join(".workflow/archives/wpp-1-a-2").exists());
    let archived = found(&root, "wpp-1-a-2");
    assert!(archived.archived);
    delete(&archived, &nothing_kept(), at(0)).unwrap();
    assert_eq!(find_all(&root).unwrap().len(), 1);
    assert!(archive(&root, &found(&root, "wpp-1-a"), &nothing_kept(), at(0)).is_err());
}

#[test]
fn prune_keeps_what_is_new_running_or_unfinished() {
    let (_temp, root) = root();
    for (id, day, ended) in
        [("old", 0, true), ("mid", 10, true), ("new", 20, true), ("open", 10, false), ("open-old", 0, false)]
    {
        let mut session = create(&root, Workflow::Fanout, id, day);
        session.meta.ended = ended.then_some(Ending::Completed);
        session.save().unwrap();
    }
    let running = create(&root, Workflow::Fanout, "running", 0);
    let ids = |pruned: Vec<session::Pruned>| pruned.into_iter().map(|p| p.summary.found.id).collect::<Vec<_>>();
    let by_number = PruneLimits { keep: Some(1), dry_run: true, ..PruneLimits::default() };
    assert_eq!(ids(prune(&root, by_number, &nothing_kept(), at(30)).unwrap()), ["mid", "old"]);
    let by_age = PruneLimits { older_than: Some(Duration::from_secs(25 * 86_400)), ..PruneLimits::default() };
    assert_eq!(ids(prune(&root, by_age, &nothing_kept(), at(30)).unwrap()), ["old", "open-old"]);
    assert_eq!(find_all(&root).unwrap().len(), 4);
    assert_eq!(ids(prune(&root, PruneLimits::default(), &nothing_kept(), at(30)).unwrap()), [""; 0]);
    drop(running);
}
