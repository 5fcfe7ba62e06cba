//! Going on after an end at any place.

use planex_core::job::{Cause, CauseKind};
use planex_engine::requests::{self, Request};
use planex_engine::store::SessionPaths;
use planex_engine::workflow::waves::Resume;

use crate::bench::{Bench, diamond, failed, script, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_flushed_result_is_merged_without_running_again() {
    let bench = Bench::new();
    bench.start(&script(diamond(), |_, _| None), vec![]).await.unwrap();
    // As if planex had been killed after the runs were flushed and before the wave was merged.
    let text = bench.read("tasks.csv");
    let table = planex_core::csv::Table::parse(text.as_bytes()).unwrap();
    let mut unmerged = table.clone();
    for row in 0..table.rows.len() {
        for column in planex_core::rows::STATE_COLUMNS {
            if unmerged.index(column).is_some() {
                unmerged.set(row, column, if column == "status" { "pending" } else { "" });
            }
        }
    }
    std::fs::write(bench.file("tasks.csv"), unmerged.to_csv()).unwrap();
    let end = bench.resume(&script(diamond(), |_, _| None), vec![], Resume::default()).await.unwrap();
    assert_eq!((end.exit, end.totals.completed), (0, 4));
    for id in ["T1", "T2", "T3", "T4"] {
        assert_eq!(bench.ran(&format!("execute {id}")), 1, "{id}");
    }
    assert_eq!(bench.read("tasks.csv"), text, "the same as without the interruption");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_is_done_again_and_told_so() {
    let bench = Bench::new();
    let one = script(diamond(), |id, _| (id == "T1").then(|| Err(Cause::new(CauseKind::Failed, "power cut"))));
    bench.start(&one, vec![]).await.unwrap();
    let run = bench.file(&format!(".planex/runs/{}", planex_core::id::run_id(&bench.found().id, "T1")));
    std::fs::remove_file(run.join("result.json")).unwrap();
    let text = bench.read("tasks.csv").replace("\"failed\"", "\"pending\"").replace("\"skipped\"", "\"pending\"");
    std::fs::write(bench.file("tasks.csv"), text).unwrap();
    let end = bench.resume(&script(diamond(), |_, _| None), vec![], Resume::default()).await.unwrap();
    assert_eq!((end.exit, end.totals.completed), (0, 4));
    assert_eq!(bench.ran("execute T1"), 2);
    assert!(bench.read("context.md").contains("T1 was running when planex ended"), "the user is told");
    assert!(!bench.read("context.md").contains("T2 was running"), "T2 had not started");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_all_attempts_count() {
    let bench = Bench::new();
    let root = bench.root.clone();
    let first = script(diamond(), move |id, _| {
        (id == "T1").then(|| {
            write(&root, "src/a/one.rs", "1");
            Ok(failed("T1", "half done"))
        })
    });
    bench.start(&first, vec![]).await.unwrap();
    assert_eq!(bench.column("tasks.csv", "files_modified")["T1"], "src/a/one.rs");
    let root = bench.root.clone();
    let second = script(diamond(), move |id, _| {
        if id == "T1" {
            write(&root, "src/a/two.rs", "2");
        }
        None
    });
    let retry = Resume { retry: Some(vec![]), ..Resume::default() };
    let end = bench.resume(&second, vec![], retry).await.unwrap();
    assert_eq!(end.exit, 0);
    assert_eq!(bench.column("tasks.csv", "files_modified")["T1"], "src/a/one.rs;src/a/two.rs");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_skipped_during_its_wave_is_so_on_disk_before_the_wave_ends() {
    let mut bench = Bench::new();
    bench.settings.concurrency.0 = 1;
    let root = bench.root.clone();
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let on_disk = std::sync::Arc::clone(&seen);
    let script = script(diamond(), move |id, _| {
        if id == "T2" {
            let paths = SessionPaths::new(planex_engine::session::find_all(&root).unwrap().remove(0).dir);
            let skip = Request::Skip { tasks: vec!["T3".to_owned()] };
            requests::place(&paths, &skip, planex_sys::clock::now()).unwrap();
            for _ in 0..500 {
                if std::fs::read_to_string(paths.tasks_csv()).unwrap().contains("skipped by the user") {
                    on_disk.store(true, std::sync::atomic::Ordering::SeqCst);
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
        None
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert!(seen.load(std::sync::atomic::Ordering::SeqCst), "a kill here would have lost it");
    assert_eq!((end.exit, end.totals.completed, end.totals.skipped), (5, 2, 2));
    assert_eq!(bench.ran("execute T3"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_is_history_and_not_state() {
    let bench = Bench::new();
    let broken = script(diamond(), |id, _| (id == "T2").then(|| Ok(failed("T2", "x"))));
    bench.start(&broken, vec![]).await.unwrap();
    std::fs::remove_file(bench.file(".planex/journal.ndjson")).unwrap();
    let retry = Resume { retry: Some(vec!["T2".to_owned()]), ..Resume::default() };
    let end = bench.resume(&script(diamond(), |_, _| None), vec![], retry).await.unwrap();
    assert_eq!((end.exit, end.totals.completed), (0, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_task_to_retry_is_named_with_the_known_ones() {
    let bench = Bench::new();
    let broken = script(diamond(), |id, _| (id == "T2").then(|| Ok(failed("T2", "x"))));
    bench.start(&broken, vec![]).await.unwrap();
    let retry = Resume { retry: Some(vec!["T9".to_owned()]), ..Resume::default() };
    let error = bench.resume(&broken, vec![], retry).await.unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("T9") && error.to_string().contains("T1, T2, T3, T4"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_other_processes_are_taken_between_waves() {
    let bench = Bench::new();
    let root = bench.root.clone();
    let script = script(diamond(), move |id, _| {
        if id == "T1" {
            let found = planex_engine::session::find_all(&root).unwrap().remove(0);
            let skip = Request::Skip { tasks: vec!["T3".to_owned()] };
            requests::place(&SessionPaths::new(found.dir), &skip, planex_sys::clock::now()).unwrap();
        }
        None
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!((end.exit, end.totals.completed, end.totals.skipped), (5, 2, 2));
    assert_eq!(bench.column("tasks.csv", "error")["T3"], "skipped by the user");
    assert_eq!(bench.ran("execute T3"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_driver_is_told_who_holds_the_session() {
    let bench = Bench::new();
    bench.start(&script(diamond(), |_, _| None), vec![]).await.unwrap();
    let held = planex_engine::session::Session::open(&bench.found(), "the first", planex_sys::clock::now()).unwrap();
    let error = bench.resume(&script(diamond(), |_, _| None), vec![], Resume::default()).await.unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().contains("the first"), "{error}");
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_task_that_is_cancelled_stays_cancelled() {
    let bench = Bench::new();
    let root = bench.root.clone();
    let paths = move || SessionPaths::new(planex_engine::session::find_all(&root).unwrap().remove(0).dir);
    let script = script(diamond(), move |id, _| {
        if id == "T3" {
            let cancel = Request::Cancel { tasks: vec!["T3".to_owned()] };
            requests::place(&paths(), &cancel, planex_sys::clock::now()).unwrap();
            // Until the driver has heard of it; it ends this run then.
            for _ in 0..500 {
                if requests::waiting(&paths()).unwrap().is_empty() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
        None
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!((end.exit, end.totals.completed, end.totals.skipped), (5, 2, 2));
    assert_eq!(bench.column("tasks.csv", "error")["T3"], "cancelled by the user");
    assert_eq!(bench.ran("execute T3"), 1, "it is not started again");
}
