//! Agents inside planex: the driver's side, and the recording.

use std::sync::Arc;
use std::time::Duration;

use planex_agents::replay::{Recording, Replay};
use planex_agents::{Agent, Control, InProcess, InProcessAnswer, Update};
use planex_core::job::{Cause, CauseKind, JobSpec, JobStatus, Mode, ResultSource};
use serde_json::json;

use crate::support::Bench;

fn replay(recording: serde_json::Value) -> Agent {
    let recording: Recording = serde_json::from_value(recording).unwrap();
    Agent::in_process(Arc::new(Replay::new(recording)))
}

#[tokio::test]
async fn a_recording_edits_runs_and_answers() {
    let bench = Bench::new("");
    std::fs::write(bench.spec.cwd.join("old.txt"), "one two").unwrap();
    std::fs::write(bench.spec.cwd.join("gone.txt"), "x").unwrap();
    let agent = replay(json!({ "steps": [
        { "result": { "ok": false } },
        { "role": "execute", "item": "T1", "delay_ms": 20, "activity": ["reads", "writes"], "result": { "ok": true },
          "edits": [
            { "path": "src/new.txt", "content": "hello\n" },
            { "path": "old.txt", "replace": { "old": "two", "new": "three" } },
            { "path": "gone.txt", "delete": true }
          ],
          "run": [["sh", "-c", "cat src/new.txt; echo $PLANEX_FIELD_ID"]] }
    ]}));
    let ran = bench.run_as(&agent).await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    assert_eq!(ran.outcome.result, Some(json!({ "ok": true, "id": "T1" })));
    assert_eq!(ran.outcome.source, Some(ResultSource::InProcess));
    assert_eq!(std::fs::read_to_string(bench.spec.cwd.join("old.txt")).unwrap(), "one three");
    assert!(!bench.spec.cwd.join("gone.txt").exists());
    assert!(ran.outcome.notes.iter().any(|note| note.contains("hello\nT1")), "{:?}", ran.outcome.notes);
    assert!(ran.updates.contains(&Update::Activity("reads".into())));
}

#[tokio::test]
async fn a_recording_leaves_its_folder_alone() {
    for path in ["../out.txt", "/tmp/planex-out.txt"] {
        let bench = Bench::new("");
        let agent = replay(json!({ "steps": [{ "result": {}, "edits": [{ "path": path, "content": "x" }] }] }));
        let ran = bench.run_as(&agent).await;
        assert_eq!(ran.outcome.status, JobStatus::Failed);
        assert!(!bench.spec.session_dir.join("out.txt").exists());
    }
    let mut bench = Bench::new("");
    bench.spec.mode = Mode::Analysis;
    let agent = replay(json!({ "steps": [{ "result": { "ok": true }, "edits": [{ "path": "a", "content": "x" }] }] }));
    assert_eq!(bench.run_as(&agent).await.outcome.status, JobStatus::Completed);
    assert!(!bench.spec.cwd.join("a").exists());
}

#[tokio::test]
async fn a_recording_fails_as_recorded_by_attempt() {
    let agent = replay(json!({ "steps": [
        { "item": "T1", "attempt": 1, "fail": { "kind": "rate_limited", "message": "slow down" } },
        { "item": "T1", "result": { "ok": true } }
    ]}));
    let mut bench = Bench::new("");
    let first = bench.run_as(&agent).await.outcome;
    assert_eq!((first.attempt, first.cause.unwrap().kind), (1, CauseKind::RateLimited));
    bench.spec.run_id = "s-T1-retry".into();
    let second = bench.run_as(&agent).await.outcome;
    assert_eq!((second.attempt, second.status), (2, JobStatus::Completed));
    let none = bench.run_as(&replay(json!({ "steps": [] }))).await.outcome;
    assert_eq!(none.cause.unwrap().kind, CauseKind::NoResult);
}

struct Bad;

impl InProcess for Bad {
    fn name(&self) -> &str {
        "bad"
    }

    fn run(&self, spec: &JobSpec, control: &Control) -> Result<InProcessAnswer, Cause> {
        match spec.run_id.as_str() {
            "panics" => panic!("on purpose"),
            "waits" => {
                let _ = control.sleep(Duration::from_secs(60));
                Ok(InProcessAnswer::default())
            }
            _ => Ok(InProcessAnswer { result: json!({ "ok": 3 }), ..InProcessAnswer::default() }),
        }
    }
}

#[tokio::test]
async fn a_bad_agent_inside_fails_its_own_job_alone() {
    let agent = Agent::in_process(Arc::new(Bad));
    let mut bench = Bench::new("");
    assert_eq!(bench.run_as(&agent).await.outcome.cause.unwrap().kind, CauseKind::AgentNotUsable);
    bench.spec.mode = Mode::Analysis;
    assert_eq!(bench.run_as(&agent).await.outcome.cause.unwrap().kind, CauseKind::InvalidResult);
    bench.spec.run_id = "panics".into();
    assert_eq!(bench.run_as(&agent).await.outcome.cause.unwrap().kind, CauseKind::Failed);
    bench.spec.run_id = "waits".into();
    bench.spec.limit = Duration::from_millis(300);
    assert_eq!(bench.run_as(&agent).await.outcome.status, JobStatus::Timeout);
    bench.spec.limit = Duration::from_secs(60);
    bench.cancel.cancel();
    assert_eq!(bench.run_as(&agent).await.outcome.status, JobStatus::Cancelled);
}
