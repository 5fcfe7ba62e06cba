//! The scripted agent does what its script says.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails here fails the test")]

use std::time::{Duration, Instant};

use planex_testkit::scripted::ScriptedAgent;
use planex_testkit::{Output, Run, TestEnv};
use serde_json::{Value, json};

struct Job {
    env: TestEnv,
    agent: ScriptedAgent,
}

impl Job {
    fn new(rules: &Value) -> Self {
        let env = TestEnv::new();
        let agent = ScriptedAgent::new(&env.root().join("script"), &json!({ "rules": rules }));
        Self { env, agent }
    }

    /// One rule for everything.
    fn doing(actions: &Value) -> Self {
        Self::new(&json!([{ "do": actions }]))
    }

    fn run(&self, role: &str, id: &str) -> Run {
        let row = self.env.root().join(format!("{id}.json"));
        // Runs at once share it.
        if !row.exists() {
            std::fs::write(&row, json!({ "id": id }).to_string()).unwrap();
        }
        let command = self.agent.command();
        let run = self.env.command(&command[0]).args(&command[1..]).stdin("the prompt");
        let result = self.env.root().join("run/result.json");
        std::fs::create_dir_all(result.parent().unwrap()).unwrap();
        run.env("PLANEX_ROLE", role).env("PLANEX_ROW_FILE", row).env("PLANEX_RESULT_FILE", result)
    }

    fn output(&self) -> Output {
        self.run("execute", "T1").output()
    }
}

fn is_alive(pid: &str) -> bool {
    // A zombie is dead.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

fn wait_until(what: &str, is: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn rules_are_chosen_by_role_id_and_attempt() {
    let job = Job::new(&json!([
        { "when": { "role": "execute", "id": "T1", "attempt": 1 }, "do": [{ "say": "first of {id}" }, { "exit": 7 }] },
        { "when": { "role": "execute" }, "do": [{ "reply": { "id": "{id}", "attempt": "{attempt}" } }] },
        { "when": { "role": "explore" }, "do": ["completed"] },
    ]));
    assert_eq!(job.run("execute", "T1").output().exits(7).stdout, "first of T1\n");
    assert_eq!(job.run("execute", "T1").output().success().stdout, "{\"id\":\"T1\",\"attempt\":\"2\"}\n");
    assert_eq!(job.run("execute", "T2").output().success().stdout, "{\"id\":\"T2\",\"attempt\":\"1\"}\n");
    assert_eq!(job.run("explore", "E1").output().success().json_lines()[0]["status"], "completed");
    let none = job.run("review", "R1").output().exits(3);
    assert_eq!(
        none.stderr,
        "planex-scripted-agent: no rule of the script is for role \"review\", id \"R1\", attempt 1\n"
    );
}

#[test]
fn runs_are_recorded() {
    let job = Job::new(&json!([
        { "when": { "resumed": true }, "do": [{ "say": "again {session}" }] },
        { "when": { "prompt_contains": "the prompt" }, "do": [] },
    ]));
    let _ = job.run("execute", "T1").env("SECRET_TOKEN", "abc").output().success();
    let again = job.run("execute", "T1").args(["--resume", "s-1"]).output().success();
    assert_eq!(again.stdout, "again s-1\n");
    let runs = job.agent.runs();
    assert_eq!(runs.len(), 2);
    assert_eq!((runs[0].attempt, runs[0].prompt.as_str(), runs[0].session.as_deref()), (1, "the prompt", None));
    assert_eq!(runs[0].env["PLANEX_ROLE"], "execute");
    assert!(runs[0].other_env.contains(&"SECRET_TOKEN".to_owned()));
    assert_eq!(runs[0].cwd, job.env.dir());
    assert_eq!(runs[1].session.as_deref(), Some("s-1"));
}

#[test]
fn runs_at_once_have_different_numbers() {
    let job = Job::doing(&json!([{ "reply": "{attempt}" }]));
    let first = job.output().success().stdout;
    let mut seen: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..7).map(|_| scope.spawn(|| job.output().success().stdout)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    seen.push(first);
    seen.sort();
    assert_eq!(seen, (1..=8).map(|number| format!("\"{number}\"\n")).collect::<Vec<_>>());
}

#[test]
fn replies_come_in_every_dress() {
    let job = Job::doing(&json!([{ "fenced": { "a": "{id}" } }, { "prose": { "b": 1 } }, "invalid_utf8"]));
    let output = job.output().success();
    assert!(output.stdout.contains("```json\n{\n  \"a\": \"T1\"\n}\n```"), "{}", output.stdout);
    assert!(output.stdout.contains("I did {most} of it: {\"b\":1} as asked."), "{}", output.stdout);
    assert!(output.stdout.contains('\u{fffd}'));
}

#[test]
fn files_are_written_edited_and_deleted() {
    let job = Job::doing(&json!([
        { "write": { "path": "src/{id}.rs", "content": "fn old() {}\n" } },
        { "edit": { "path": "src/{id}.rs", "old": "old", "new": "new" } },
        { "append": { "path": "src/{id}.rs", "content": "// end\n" } },
        { "touch": "gone" }, { "delete": "gone" },
        { "run": ["sh", "-c", "echo ran > ran.txt"] },
        { "result_file": { "id": "{id}" } },
        { "report": { "id": "{id}" } },
        { "append_line": { "path": "{run_dir}/reports.ndjson", "value": { "id": "{id}", "n": 2 } } },
    ]));
    let _ = job.output().success();
    assert_eq!(job.env.read("src/T1.rs"), "fn new() {}\n// end\n");
    assert!(!job.env.exists("gone"));
    assert_eq!(job.env.read("ran.txt"), "ran\n");
    assert_eq!(job.env.read("../run/result.json"), "{\"id\":\"T1\"}");
    let reports = job.env.read("../run/reports.ndjson");
    let reports: Vec<Value> = reports.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports[0]["result"], json!({ "id": "T1" }));
    assert_eq!(reports[0]["stop"], false);
    assert_eq!(reports[1], json!({ "id": "T1", "n": 2 }));
}

#[test]
fn an_edit_that_does_not_fit_and_a_command_that_fails_end_it() {
    let job = Job::doing(&json!([{ "edit": { "path": "a", "old": "x", "new": "y" } }]));
    job.env.write("a", "nothing");
    assert!(job.output().exits(4).stderr.contains("does not contain \"x\""));
    let _ = Job::doing(&json!([{ "run": ["false"] }, { "say": "never" }])).output().exits(4);
}

#[test]
fn rate_limits_end_and_logins_do_not() {
    let job = Job::doing(&json!([{ "rate_limit": { "times": 2 } }, "completed"]));
    assert!(job.output().exits(1).stderr.contains("429"));
    let _ = job.output().exits(1);
    let _ = job.output().success();
    assert!(Job::doing(&json!(["auth_failure"])).output().exits(1).stderr.contains("401"));
}

#[test]
fn floods_have_the_size_that_was_asked_for() {
    let size = 3_000_001;
    let job = Job::doing(
        &json!([{ "flood": { "bytes": size } }, { "flood": { "bytes": size, "to": "stderr", "lines": true } }]),
    );
    let output = job.output().success();
    assert_eq!((output.stdout.len(), output.stderr.len()), (size, size));
    assert!(!output.stdout.contains('\n'));
    assert!(output.stderr.lines().all(|line| line.len() <= 99));
}

#[test]
fn an_agent_that_hangs_and_ignores_term_is_only_killed() {
    let job = Job::doing(&json!(["ignore_term", { "touch": "ready" }, "hang"]));
    let mut run = job.run("execute", "T1").spawn();
    wait_until("it comes up", || job.env.exists("ready"));
    run.signal(15);
    run.signal(2);
    std::thread::sleep(Duration::from_millis(100));
    assert!(!run.is_done());
    run.signal(9);
    assert_eq!(run.wait().code(), None);
}

#[test]
fn processes_are_left_behind() {
    for kind in ["child", "setsid", "double_fork"] {
        let job = Job::doing(&json!([
            { "spawn": { "kind": kind, "sleep_ms": 30_000, "ignore_term": true, "pid_file": "pid", "beat_file": "beat" } },
            "completed",
        ]));
        let run = job.run("execute", "T1").spawn();
        let group = run.id().to_string();
        let _ = run.wait().success();
        let pid = job.env.read("pid");
        assert!(is_alive(&pid), "{kind}");
        wait_until("it beats", || job.env.exists("beat"));
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        assert_eq!(fields[2] == group, kind == "child", "{kind} is in its own group: {stat}");
        let _ = job.env.command("kill").args(["-TERM", &pid]).output().success();
        std::thread::sleep(Duration::from_millis(50));
        assert!(is_alive(&pid), "{kind} ignores TERM");
        let _ = job.env.command("kill").args(["-KILL", &pid]).output().success();
        wait_until("it dies", || !is_alive(&pid));
    }
}

#[test]
fn tools_of_an_mcp_server_are_called() {
    let server = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    elif m.get("method") == "tools/call":
        r = {"content": [{"type": "text", "text": json.dumps(m["params"])}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;
    let job = Job::doing(&json!([
        { "mcp": { "command": ["python3", "server.py"], "tool": "report", "args": { "id": "{id}" } } },
    ]));
    job.env.write("server.py", server);
    let output = job.output().success();
    let text = output.json_lines()[0]["content"][0]["text"].as_str().unwrap().to_owned();
    let call: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(call, json!({ "name": "report", "arguments": { "id": "T1" } }));
}

#[test]
fn a_script_with_a_slip_is_refused() {
    let env = TestEnv::new();
    let agent = planex_testkit::scripted_agent();
    let run = |script: &str| env.command(agent.as_str()).env("PLANEX_TEST_SCRIPT", script).output();
    assert!(run(r#"{"rules":[{"do":[{"sleep":1}]}]}"#).exits(3).stderr.contains("unknown variant `sleep`"));
    assert!(run(r#"{"rules":[{"if":{},"do":[]}]}"#).exits(3).stderr.contains("unknown field `if`"));
    assert_eq!(run(r#"{"rules":[{"do":[{"say":"hi"}]}]}"#).success().stdout, "hi\n");
}

#[test]
fn its_table_is_toml() {
    let job = Job::doing(&json!([]));
    let text = job.agent.toml("scripted");
    assert!(text.starts_with("[agents.scripted]\ncommand = [\""), "{text}");
    assert!(text.ends_with("\"]\nresume_args = [\"--resume\", \"{session}\"]\n"), "{text}");
}
