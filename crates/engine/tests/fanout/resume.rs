//! A fanout that was stopped anywhere goes on, and every row is done once.

use std::time::Duration;

use planex_engine::session;
use planex_engine::workflow::fanout;

use crate::bench::Bench;

/// Notes each run that answers; rows of the file `bad` fail.
const NOTING: &str = r#"cat >/dev/null; id=$PLANEX_FIELD_ID
    sleep 0.02
    if grep -qx "$id" bad 2>/dev/null; then exit 1; fi
    echo "$id" >> ran.txt
    printf '{"id":"%s","findings":"x"}' "$id""#;

fn rows(count: usize) -> (String, Vec<String>) {
    let ids: Vec<String> = (0..count).map(|n| format!("r{n:02}")).collect();
    (format!("id\n{}\n", ids.join("\n")), ids)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cut_off_anywhere_is_finished_by_resume() {
    let (csv, ids) = rows(12);
    for after in [0, 15, 40, 90, 150, 260] {
        let bench = Bench::new(&csv, NOTING).concurrency(3);
        // Dropped in the middle: nothing gets to tidy up, as when planex is killed.
        let cut = tokio::time::timeout(Duration::from_millis(after), bench.run()).await;
        let sessions = session::find_all(&bench.root).unwrap();
        let (Err(_), Some(found)) = (cut, sessions.first()) else { continue };
        let output = std::fs::read(bench.root.join("jobs.results.csv")).unwrap_or_default();
        if !output.is_empty() {
            assert_eq!(bench.output().rows.len(), 12, "the output is whole at any moment");
        }
        let finished: Vec<String> = planex_engine::registry::outcomes(&found.paths()).unwrap().into_keys().collect();
        let report = resume_until_free(&bench, found).await;
        assert_eq!((report.exit, report.counts.completed), (0, 12), "cut after {after} ms");
        assert_eq!(bench.column("status"), ["completed"; 12]);
        let mut ran = bench.ran();
        ran.sort();
        for id in &ids {
            let runs = ran.iter().filter(|run| *run == id).count();
            let was_finished = finished.iter().any(|run| run.ends_with(&format!("-{id}")));
            assert!(runs == 1 || (!was_finished && runs == 2), "{id} ran {runs} times after {after} ms");
        }
        assert!(fanout::resume(&bench.engine(), found, None, false).await.unwrap().exit == 0);
    }
}

/// The lock of the dropped run goes with its last task, which may take a moment.
pub(crate) async fn resume_until_free(bench: &Bench, found: &session::Found) -> fanout::FanoutReport {
    for _ in 0..200 {
        match fanout::resume(&bench.engine(), found, None, false).await {
            Ok(report) => return report,
            Err(error) if error.to_string().contains("is held by") => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the lock is never free");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_rows_stay_failed_until_a_retry_is_asked_for() {
    let (csv, _) = rows(4);
    let bench = Bench::new(&csv, NOTING);
    std::fs::write(bench.root.join("bad"), "r01\nr02\n").unwrap();
    let first = bench.run().await.unwrap();
    assert_eq!((first.exit, first.counts.failed), (5, 2));
    std::fs::remove_file(bench.root.join("bad")).unwrap();
    let found = session::find(&bench.root, &first.session, None).unwrap();
    let engine = bench.engine();

    let same = fanout::resume(&engine, &found, None, false).await.unwrap();
    assert_eq!((same.exit, same.counts.failed), (5, 2));
    assert_eq!(bench.ran().len(), 2, "nothing ran");

    let unknown = fanout::resume(&engine, &found, Some(&["nope".to_owned()]), false).await.unwrap_err();
    assert_eq!(unknown.exit_code(), 2);

    let one = fanout::resume(&engine, &found, Some(&["r01".to_owned()]), false).await.unwrap();
    assert_eq!((one.exit, one.counts.failed), (5, 1));
    let all = fanout::resume(&engine, &found, Some(&[]), false).await.unwrap();
    assert_eq!((all.exit, all.counts.completed), (0, 4));
    assert_eq!(bench.column("attempts"), ["1", "2", "2", "1"]);
    assert_eq!(bench.ran().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn continue_takes_new_and_changed_rows_along() {
    let bench = Bench::new("id,x\na,1\nb,1\n", NOTING);
    bench.run().await.unwrap();
    std::fs::write(bench.root.join("jobs.csv"), "id,x\na,1\nb,2\nc,1\n").unwrap();
    let report = fanout::go_on(&bench.engine(), &bench.options).await.unwrap();
    assert_eq!((report.exit, report.counts.completed), (0, 3));
    let mut ran = bench.ran();
    ran.sort();
    assert_eq!(ran, ["a", "b", "b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_drives_a_session_and_a_second_is_told() {
    let (csv, _) = rows(6);
    let bench = Bench::new(&csv, NOTING).concurrency(1);
    let engine = bench.engine();
    let first = fanout::run(&engine, &bench.options);
    let second = async {
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            if let Some(found) = session::find_all(&bench.root).unwrap().into_iter().next() {
                return fanout::resume(&bench.engine(), &found, None, false).await;
            }
        }
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.unwrap().exit, 0);
    let error = second.unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_keeps_what_is_done() {
    let (csv, _) = rows(30);
    let bench = Bench::new(&csv, NOTING).concurrency(2);
    let engine = bench.engine();
    let interrupt = async {
        bench.until(|| bench.ran().len() >= 2).await;
        engine.cancel.interrupt();
    };
    let (report, ()) = tokio::join!(fanout::run(&engine, &bench.options), interrupt);
    let report = report.unwrap();
    assert_eq!((report.exit, report.status), (130, "interrupted"));
    assert!(report.counts.pending > 0 && report.counts.failed == 0, "{:?}", report.counts);
    let found = session::find(&bench.root, &report.session, None).unwrap();
    assert_eq!(session::summary_of(&found).status.as_str(), "stopped");
    assert_eq!(session::summary_of(&found).counts, report.counts);
    let again = fanout::resume(&bench.engine(), &found, None, false).await.unwrap();
    assert_eq!((again.exit, again.counts.completed), (0, 30));
    let mut ran = bench.ran();
    ran.sort();
    ran.dedup();
    assert_eq!(ran.len(), 30);
}
