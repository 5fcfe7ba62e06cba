//! What other processes ask of a fanout.

use planex_engine::registry;
use planex_engine::requests::Request;

use crate::bench::Bench;
use crate::resume::resume_until_free;

/// Notes each row that starts; while the file `hold` is there, the first row waits.
const HOLDING: &str = r#"cat >/dev/null; echo "$PLANEX_FIELD_ID" >> ran.txt
    while [ "$PLANEX_FIELD_ID" = a ] && [ -e hold ]; do sleep 0.02; done
    if grep -qx "$PLANEX_FIELD_ID" bad 2>/dev/null; then exit 1; fi
    printf '{"id":"%s","findings":"x"}' "$PLANEX_FIELD_ID""#;

fn bench() -> Bench {
    Bench::new("id\na\nb\nc\n", HOLDING).concurrency(1)
}

fn skip(rows: &[&str]) -> Request {
    Request::Skip { tasks: rows.iter().map(|row| (*row).to_owned()).collect() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skipped_row_is_skipped_until_a_retry() {
    let bench = bench();
    std::fs::write(bench.root.join("hold"), "").unwrap();
    let asking = async {
        bench.until(|| !bench.ran().is_empty()).await;
        bench.asks(&skip(&["c"]));
        bench.until(|| bench.asked() == 0).await;
        std::fs::remove_file(bench.root.join("hold")).unwrap();
    };
    let (report, ()) = tokio::join!(bench.run(), asking);
    let report = report.unwrap();
    assert_eq!((report.exit, report.counts.completed, report.counts.skipped), (5, 2, 1));
    assert_eq!(bench.column("status"), ["completed", "completed", "skipped"]);
    assert_eq!(bench.column("error"), ["", "", "skipped by the user"]);
    assert_eq!(bench.column("run")[2], "");
    assert_eq!(report.next.as_deref(), Some(format!("planex resume {} --retry", report.session).as_str()));

    let again = bench.resume(None, false).await.unwrap();
    assert_eq!((again.exit, again.counts.skipped), (5, 1));
    assert_eq!(bench.ran(), ["a", "b"]);
    let finished = |journal: &str| journal.matches(r#""item_finished""#).count();
    assert_eq!(finished(&bench.journal()), 3, "nothing is told twice: {}", bench.journal());
    let retried = bench.resume(Some(&[]), false).await.unwrap();
    assert_eq!((retried.exit, retried.counts.completed), (0, 3));
    assert_eq!(bench.ran(), ["a", "b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skip_survives_a_kill() {
    let bench = bench();
    std::fs::write(bench.root.join("hold"), "").unwrap();
    let asking = async {
        bench.until(|| !bench.ran().is_empty()).await;
        bench.asks(&skip(&["c"]));
        bench.until(|| bench.asked() == 0).await;
    };
    // Dropped in the middle: nothing gets to tidy up, as when planex is killed.
    tokio::select! {
        report = bench.run() => panic!("{report:?}"),
        () = asking => {}
    }
    let found = bench.found();
    let base = planex_core::id::run_id(&found.id, "c");
    assert!(registry::skipped(&found.paths(), &base).unwrap().is_some());
    std::fs::remove_file(bench.root.join("hold")).unwrap();
    let report = resume_until_free(&bench, &found).await;
    assert_eq!((report.exit, report.counts.completed, report.counts.skipped), (5, 2, 1));
    assert!(!bench.ran().contains(&"c".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_row_can_be_cancelled() {
    let bench = bench();
    std::fs::write(bench.root.join("hold"), "").unwrap();
    let report = bench.run_and_ask(Request::Cancel { tasks: vec!["a".to_owned()] }).await;
    assert_eq!((report.exit, report.counts.completed, report.counts.skipped), (5, 2, 1));
    assert_eq!(bench.column("error")[0], "cancelled by the user");
    assert_eq!(bench.asked(), 0);
    let again = bench.resume(None, false).await.unwrap();
    assert_eq!((again.counts.skipped, bench.ran()), (1, vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_session_is_taken_up_by_reopen_alone() {
    let bench = bench();
    std::fs::write(bench.root.join("hold"), "").unwrap();
    let report = bench.run_and_ask(Request::Cancel { tasks: vec![] }).await;
    assert_eq!((report.exit, report.status, report.counts.pending), (4, "cancelled", 3));
    assert_eq!(bench.asked(), 0, "it is written that it is cancelled");
    std::fs::remove_file(bench.root.join("hold")).unwrap();
    // As a planex that was killed between the two would leave it.
    bench.asks(&Request::Cancel { tasks: vec![] });
    for refused in [bench.go_on().await, bench.resume(None, false).await] {
        let error = refused.unwrap_err();
        assert_eq!(error.exit_code(), 4, "{error}");
        let hint = format!("planex resume {} --reopen", report.session);
        assert!(error.hints.iter().any(|line| line.contains(&hint)), "{:?}", error.hints);
    }
    let reopened = bench.resume(None, true).await.unwrap();
    assert_eq!((reopened.exit, reopened.counts.completed), (0, 3));
    assert_eq!(bench.go_on().await.unwrap().exit, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn continue_passes_over_a_cancelled_session() {
    let bench = Bench::new(
        "id\na\nb\n",
        r#"cat >/dev/null; echo "$PLANEX_FIELD_ID" >> ran.txt
        while [ -e hold ]; do sleep 0.02; done
        printf '{"id":"%s","findings":"x","stop":true}' "$PLANEX_FIELD_ID""#,
    )
    .concurrency(1);
    let first = bench.run().await.unwrap();
    assert_eq!((first.status, first.counts.pending), ("stopped", 1));
    std::fs::write(bench.root.join("hold"), "").unwrap();
    let second = bench.run_and_ask(Request::Cancel { tasks: vec![] }).await;
    assert_eq!((second.status, second.session != first.session), ("cancelled", true));
    std::fs::remove_file(bench.root.join("hold")).unwrap();
    let report = bench.go_on().await.unwrap();
    assert_eq!((report.session, report.exit, report.counts.completed), (first.session, 0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_lets_the_running_row_end_and_resume_goes_on() {
    let bench = bench();
    std::fs::write(bench.root.join("hold"), "").unwrap();
    let asking = async {
        bench.until(|| !bench.ran().is_empty()).await;
        bench.asks(&Request::Pause);
        bench.until(|| bench.asked() == 0).await;
        std::fs::remove_file(bench.root.join("hold")).unwrap();
    };
    let (report, ()) = tokio::join!(bench.run(), asking);
    let report = report.unwrap();
    assert_eq!((report.exit, report.status, report.counts.completed, report.counts.pending), (4, "paused", 1, 2));
    let again = bench.resume(None, false).await.unwrap();
    assert_eq!((again.exit, again.counts.completed), (0, 3));
    assert_eq!(bench.ran(), ["a", "b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_can_be_retried_by_request_and_unknown_ones_are_named_and_dropped() {
    let bench = bench();
    std::fs::write(bench.root.join("bad"), "b\n").unwrap();
    assert_eq!(bench.run().await.unwrap().exit, 5);
    std::fs::remove_file(bench.root.join("bad")).unwrap();
    bench.asks(&Request::Retry { tasks: vec![] });
    bench.asks(&skip(&["nope"]));
    let report = bench.resume(None, false).await.unwrap();
    assert_eq!((report.exit, report.counts.completed), (0, 3));
    assert_eq!(bench.ran(), ["a", "b", "c", "b"]);
    assert!(bench.journal().contains("there is no row nope"), "{}", bench.journal());
    assert_eq!(bench.asked(), 0);
}
