//! Many small jobs.

use std::time::Instant;

use crate::bench::Bench;

/// Against `xargs` on the same machine in the same run; the bound is loose, since tests share the machine.
#[tokio::test(flavor = "multi_thread")]
async fn many_small_jobs_cost_little_more_than_their_work() {
    const JOBS: usize = 200;
    let script = r#"sleep 0.02; printf '{"id":"%s","findings":"x"}' "$PLANEX_FIELD_ID""#;
    let ids: Vec<String> = (0..JOBS).map(|n| format!("r{n}")).collect();
    let bench = Bench::new(&format!("id\n{}\n", ids.join("\n")), script).concurrency(16);
    let begun = Instant::now();
    let report = bench.run().await.unwrap();
    let took = begun.elapsed();
    assert_eq!((report.exit, report.counts.completed as usize), (0, JOBS), "{:?}", report.failures);
    assert_eq!(bench.output().rows.len(), JOBS);
    assert!(took.as_secs() < 60, "{took:?}");
}
