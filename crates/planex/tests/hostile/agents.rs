//! Agents that misbehave: each ends as specified, the session goes on, memory stays flat.

use planex_testkit::TestEnv;
use planex_testkit::waves::{nothing_left, planning, session, task};
use serde_json::{Value, json};

use crate::{column, planex, project, said};

/// Runs one misbehaving task T1 beside a good one T2, with a third that needs the good one.
fn beside(actions: &Value, more: &str) -> (TestEnv, i32) {
    let mut rules = planning(&[task("T1", &[]), task("T2", &[]), task("T3", &["T2"])]);
    rules.push(json!({"when": {"role": "execute", "id": "T1"}, "do": actions}));
    rules.push(
        json!({"when": {"role": "execute"}, "do": [{"write": {"path": "out/{id}.txt", "content": "x"}}, "completed"]}),
    );
    let (env, _) = project(&json!({ "rules": rules }), more);
    let output = planex(&env, &["waves", "-y", "Be hostile"]).output();
    assert_eq!(column(&env, "status")[1..], ["completed", "completed"], "the session goes on: {}", said(&output));
    nothing_left(&env);
    let code = output.code().unwrap();
    (env, code)
}

/// `beside`, and T1 fails for a reason that starts with `cause`.
fn fails(actions: &Value, more: &str, cause: &str) -> TestEnv {
    let (env, code) = beside(actions, more);
    let error = column(&env, "error")[0].clone();
    assert_eq!((code, column(&env, "status")[0].as_str()), (5, "failed"), "{error}");
    assert!(error.starts_with(cause), "{error}");
    env
}

/// `beside`, and T1 completes.
fn completes(actions: &Value) -> TestEnv {
    let (env, code) = beside(actions, "");
    assert_eq!((code, column(&env, "status")[0].as_str()), (0, "completed"), "{}", column(&env, "error")[0]);
    env
}

fn report(id: &str) -> Value {
    json!({"id": id, "status": "completed", "findings": "done", "tests_passed": true, "error": ""})
}

#[test]
fn one_that_hangs_is_ended_by_its_time_limit() {
    fails(&json!(["ignore_term", "hang"]), "[limits]\nexecute = \"2s\"\ngrace = \"1s\"", "timeout");
}

#[test]
fn one_that_is_silent_is_ended_by_the_idle_limit() {
    fails(&json!(["hang"]), "[limits]\nidle = \"2s\"\ngrace = \"1s\"", "idle");
}

#[test]
fn one_that_works_silently_is_not_idle() {
    let mut rules = planning(&[task("T1", &[])]);
    rules.push(json!({"when": {"role": "execute"}, "do": [{"run": ["sh", "-c",
        "end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do :; done"]}, "completed"]}));
    let (env, _) = project(&json!({ "rules": rules }), "[limits]\nidle = \"2s\"\ngrace = \"1s\"");
    let output = planex(&env, &["waves", "-y", "Work"]).output();
    assert_eq!(output.code(), Some(0), "{}", said(&output));
}

#[test]
fn children_that_detach_are_gone_afterwards() {
    let spawn =
        |kind: &str| json!({"spawn": {"kind": kind, "sleep_ms": 600_000, "ignore_term": true, "hold_output": true}});
    completes(&json!([spawn("child"), spawn("setsid"), spawn("double_fork"), "completed"]));
}

#[test]
fn a_gigabyte_of_output_is_capped_on_disk_and_in_memory() {
    let mut rules = planning(&[task("T1", &[])]);
    rules.push(
        json!({"when": {"role": "execute"}, "do": [{"flood": {"bytes": 1_000_000_000u64}}, {"say": ""}, "completed"]}),
    );
    let (env, _) = project(&json!({ "rules": rules }), "");
    let run = planex(&env, &["waves", "-y", "Flood"]).spawn();
    let peak = peak_memory(run.id());
    let output = run.wait();
    assert_eq!(output.code(), Some(0), "{}", said(&output));
    let peak = peak.join().unwrap();
    assert!(peak < 100 * 1024, "planex used {peak} KiB");
    let mut size = 0;
    for run in std::fs::read_dir(session(&env).join(".planex/runs")).unwrap().flatten() {
        size += std::fs::read_dir(run.path()).unwrap().flatten().map(|f| f.metadata().unwrap().len()).sum::<u64>();
    }
    assert!(size < 80 * 1024 * 1024, "{size} bytes on disk");
}

/// Highest resident size of a process until it ends, in KiB.
fn peak_memory(pid: u32) -> std::thread::JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(kib) = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()) else { break };
            peak = kib;
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        peak
    })
}

#[test]
fn nothing_said_is_no_result() {
    fails(&json!([]), "", "no result");
}

#[test]
fn invalid_utf8_around_a_result_does_no_harm() {
    completes(&json!(["invalid_utf8", {"say": ""}, "completed", "invalid_utf8"]));
}

#[test]
fn prose_and_fences_around_a_result_do_no_harm() {
    completes(&json!([{"say": "I looked at {this} first."}, {"fenced": report("T1")}]));
    completes(&json!([{"prose": report("T1")}]));
}

#[test]
fn exit_1_fails_whatever_was_printed() {
    fails(&json!(["completed", {"exit": 1}]), "", "failed");
}

#[test]
fn exit_1_with_a_report_counts() {
    completes(&json!([{"result_file": report("T1")}, {"exit": 1}]));
    completes(&json!([{"report": report("T1")}, {"exit": 1}]));
}

#[test]
fn a_foreign_id_is_no_result_and_asked_for_once_more() {
    fails(&json!([{"reply": report("T9")}]), "", "no result");
}

#[test]
fn of_two_reports_the_first_counts() {
    let mut second = report("T1");
    second["status"] = json!("failed");
    let env = completes(&json!([{"report": report("T1")}, {"report": second}]));
    assert_eq!(column(&env, "findings")[0], "done");
}

#[test]
fn completed_with_failed_tests_is_failed() {
    let mut lie = report("T1");
    lie["tests_passed"] = json!(false);
    let env = fails(&json!([{"reply": lie}]), "", "the agent reported");
    assert_eq!(column(&env, "tests_passed")[0], "false");
}

#[test]
fn a_rate_limit_is_waited_for() {
    completes(
        &json!([{"rate_limit": {"times": 1, "message": "429 Too Many Requests: try again in 1 second"}}, "completed"]),
    );
}

#[test]
fn an_authentication_failure_stops_that_agent_and_names_it() {
    let mut rules = planning(&[task("T1", &[]), task("T2", &["T1"]), task("T3", &[])]);
    rules.push(json!({"when": {"role": "execute"}, "do": ["auth_failure"]}));
    let (env, agent) = project(&json!({ "rules": rules }), "concurrency = 1");
    let output = planex(&env, &["waves", "-y", "Log in"]).output();
    assert_eq!(output.code(), Some(5), "{}", said(&output));
    assert_eq!(column(&env, "status"), ["failed", "skipped", "failed"]);
    assert!(column(&env, "error")[0].starts_with("not logged in"), "{:?}", column(&env, "error"));
    let runs = agent.runs().into_iter().filter(|run| run.role == "execute").count();
    assert_eq!(runs, 1, "no further job of an agent that is not logged in");
}
