//! How jobs end, and what is left of them.

use std::time::{Duration, Instant};

use planex_core::job::{CauseKind, JobStatus};

use crate::support::{Bench, alive, holds_a_line, until};

#[tokio::test]
async fn the_time_limit_ends_all_that_the_job_started() {
    let mut bench =
        Bench::new("setsid sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 0.1; done' & wait; sleep 60");
    bench.spec.limit = Duration::from_secs(1);
    let begun = Instant::now();
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Timeout, "{:?}", ran.outcome);
    assert_eq!(ran.outcome.cause.unwrap().kind, CauseKind::Timeout);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(!alive(&std::fs::read_to_string(bench.spec.cwd.join("child")).unwrap()));
}

#[tokio::test]
async fn silence_ends_a_job_but_work_does_not() {
    let mut bench = Bench::new("sleep 60");
    bench.spec.idle = Duration::from_millis(600);
    let ran = bench.run().await;
    assert_eq!((ran.outcome.status, ran.outcome.cause.unwrap().kind), (JobStatus::Timeout, CauseKind::Idle));
    // A child that computes for twice the limit.
    let script = r#"timeout 2 sh -c 'while :; do :; done'; echo '{"ok":true}'"#;
    let mut bench = Bench::new(script);
    bench.spec.idle = Duration::from_millis(900);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
}

#[tokio::test]
async fn cancelling_ends_a_job() {
    let bench = Bench::new("echo $$ > pid; sleep 60");
    let (cancel, pid) = (bench.cancel.clone(), bench.spec.cwd.join("pid"));
    tokio::spawn(async move {
        until("the agent runs", || holds_a_line(&pid)).await;
        cancel.cancel();
    });
    let ran = bench.run().await;
    assert_eq!((ran.outcome.status, ran.outcome.cause.unwrap().kind), (JobStatus::Cancelled, CauseKind::Cancelled));
    assert!(!alive(&std::fs::read_to_string(bench.spec.cwd.join("pid")).unwrap()));
}

#[tokio::test]
async fn a_second_cancel_kills_at_once() {
    // It says when it was told to end, and goes on.
    let mut bench = Bench::new("trap 'echo > told' TERM; echo > started; while :; do sleep 0.1; done");
    bench.spec.grace = Duration::from_secs(50);
    let (cancel, kill) = (bench.cancel.clone(), bench.context.kill.clone());
    let (started, told) = (bench.spec.cwd.join("started"), bench.spec.cwd.join("told"));
    tokio::spawn(async move {
        until("the agent runs", || holds_a_line(&started)).await;
        cancel.cancel();
        until("the agent is told to end", || holds_a_line(&told)).await;
        kill.cancel();
    });
    let begun = Instant::now();
    assert_eq!(bench.run().await.outcome.status, JobStatus::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_child_left_behind_is_ended_and_does_not_hold_the_job() {
    let bench = Bench::new(r#"(setsid sleep 60 & echo $! > child); echo '{"ok":true}'"#);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    assert!(ran.outcome.duration_s < 20.0);
    assert!(!alive(&std::fs::read_to_string(bench.spec.cwd.join("child")).unwrap()));
    assert!(ran.outcome.left_running.is_empty());
}

#[tokio::test]
async fn a_report_is_enough_although_the_agent_hangs() {
    let script = r#"echo '{"result":{"ok":true}}' > "$(dirname "$PLANEX_RESULT_FILE")/reports.ndjson"; sleep 300"#;
    let mut bench = Bench::new(script);
    bench.spec.idle = Duration::from_secs(1);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
}

#[tokio::test]
async fn a_flood_without_newlines_is_taken_in_bounded_memory() {
    let script = r#"head -c 130000000 /dev/zero; echo; echo '{"ok":true}'"#;
    let bench = Bench::new(script);
    let before = peak_kib();
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    let log = std::fs::metadata(bench.path("output.log")).unwrap().len();
    assert!(log < 2 * 1024 * 1024, "{log}");
    assert!(ran.outcome.notes.iter().any(|note| note.contains("too long")), "{:?}", ran.outcome.notes);
    let grown = peak_kib().saturating_sub(before);
    assert!(grown < 90 * 1024, "{grown} KiB more than before");
}

#[tokio::test]
async fn a_flood_of_short_lines_is_taken() {
    let script = r#"yes | head -c 10000000; yes | head -c 1000000 >&2; echo '{"ok":true}'"#;
    let ran = Bench::new(script).run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome.cause);
    assert!(ran.updates.len() <= 256);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_taken() {
    let script = r#"printf '\377\376\000bad\n'; printf '\033[31m{"ok":true}\033[0m\n'; printf '\377' >&2"#;
    let ran = Bench::new(script).run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
}

#[tokio::test]
async fn an_agent_that_never_reads_its_prompt_is_fine() {
    let mut bench = Bench::new(r#"sleep 0.3; echo '{"ok":true}'"#);
    bench.spec.prompt = "x".repeat(2_000_000);
    assert_eq!(bench.run().await.outcome.status, JobStatus::Completed);
}

#[tokio::test]
async fn an_agent_that_reads_slowly_gets_all() {
    let script = r#"n=$(dd bs=4096 2>/dev/null | { sleep 0.3; wc -c; }); echo "{\"ok\":$([ "$n" -eq 500000 ] && echo true || echo false)}""#;
    let mut bench = Bench::new(script);
    bench.spec.prompt = "x".repeat(500_000);
    assert_eq!(bench.run().await.outcome.result.unwrap()["ok"], true);
}

#[tokio::test]
async fn a_program_that_is_missing_is_said() {
    let mut bench = Bench::new("");
    bench.settings.command = vec!["no-such-agent-anywhere".into()];
    let cause = bench.run().await.outcome.cause.unwrap();
    assert_eq!(cause.kind, CauseKind::AgentNotUsable);
    assert!(cause.message.contains("no-such-agent-anywhere"), "{cause}");
}

#[tokio::test]
async fn a_missing_folder_and_a_bad_schema_fail_the_job_alone() {
    let mut bench = Bench::new("true");
    bench.spec.cwd = "/no/such/folder".into();
    assert_eq!(bench.run().await.outcome.cause.unwrap().kind, CauseKind::Failed);
    let mut bench = Bench::new("true");
    bench.spec.schema = Some(serde_json::json!({ "type": "no such type" }));
    let cause = bench.run().await.outcome.cause.unwrap();
    assert!(cause.message.contains("schema"), "{cause}");
}

/// The most memory that this process ever held.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
