//! What a command sees, and what is kept of what it says.

use planex_engine::verify::{Check, Verdict};

use crate::bench::Bench;

#[tokio::test]
async fn all_run_also_after_a_failure() {
    let bench = Bench::new();
    let checks = bench.run(&["echo one", "echo two; exit 3", "no-such-program-here", "cat", "kill -9 $$"]).await;
    let verdicts: Vec<&Verdict> = checks.iter().map(|check| &check.verdict).collect();
    assert_eq!(*verdicts[0], Verdict::Passed);
    assert_eq!(*verdicts[1], Verdict::Failed { code: 3 });
    assert!(matches!(verdicts[2], Verdict::CouldNotRun { reason } if reason.contains("127")), "{:?}", verdicts[2]);
    assert_eq!(*verdicts[3], Verdict::Passed, "standard input is empty");
    assert_eq!(*verdicts[4], Verdict::Failed { code: 137 });
    assert_eq!(checks[1].tail, "two");
    assert_eq!(checks[1].log, bench.context.log(2));
    assert_eq!(checks[1].output().unwrap(), "two\n");
    let text = serde_json::to_string(&checks).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Check>>(&text).unwrap(), checks);
}

#[tokio::test]
async fn a_program_that_may_not_be_started_is_no_failed_test() {
    let bench = Bench::new();
    std::fs::write(bench.path("plain.sh"), "exit 1\n").unwrap();
    let check = bench.one("./plain.sh").await;
    assert!(matches!(&check.verdict, Verdict::CouldNotRun { reason } if reason.contains("126")), "{check:?}");
}

#[tokio::test]
async fn a_tree_that_is_gone_is_said() {
    let mut bench = Bench::new();
    bench.context.cwd = bench.path("gone");
    let check = bench.one("true").await;
    assert_eq!(check.verdict, Verdict::CouldNotRun { reason: format!("{} is no folder", bench.context.cwd) });
}

#[tokio::test]
async fn the_line_is_run_exactly_as_it_is() {
    let bench = Bench::new();
    let check = bench.one(r#"printf '%s|' "a  b" '$HOME' \" `echo x`; for n in 1 2; do printf $n; done # "rest"#).await;
    assert_eq!(check.tail, r#"a  b|$HOME|"|x|12"#, "{check:?}");
    let check = bench.one("pwd; echo \"$0\"").await;
    assert_eq!(check.tail, format!("{}\n/bin/sh", bench.context.cwd));
}

#[tokio::test]
async fn the_environment_is_planexs_own_and_the_callers() {
    let mut bench = Bench::new();
    bench.context.env.insert("FROM_OUTSIDE".to_owned(), "new".to_owned());
    let check = bench.one("echo $FROM_OUTSIDE [$PLANEX_JOB_ID] [$CI] $PATH").await;
    assert_eq!(check.tail, "new [] [] /usr/local/bin:/usr/bin:/bin");
}

#[tokio::test]
async fn output_is_in_order_masked_and_capped() {
    let mut bench = Bench::new();
    bench.context.log_cap = 4096;
    let check =
        bench.one("echo a; echo $MY_API_KEY >&2; echo c; seq 20000; printf '\\033[31mred\\033[0m\\nend\\n'").await;
    let log = check.output().unwrap();
    assert!(log.starts_with("a\n***\nc\n1\n"), "{}", &log[..40]);
    assert!(log.len() < 3 * 4096 && log.contains("bytes of output are left out"), "{}", log.len());
    assert!(check.tail.ends_with("20000\nred\nend") && check.tail.starts_with('…'), "{}", check.tail);
    assert_eq!(check.tail.chars().count(), 3000);
    assert_eq!((check.cut, check.notes), (true, vec![]));
}

#[tokio::test]
async fn a_secret_is_masked_in_the_tail_too() {
    let bench = Bench::new();
    assert_eq!(bench.one("printf %s $MY_API_KEY").await.tail, "***");
}
