//! The real agents against the scripted model: proves that the server speaks what today's versions expect.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests: what fails here fails the test")]

use std::io::Write as _;
use std::time::Duration;

use planex_testkit::{Dialect, Failure, ModelServer, Output, Rule, Script, TestEnv, Usage, find_agent};
use serde_json::{Value, json};

/// Each agent's command for a job that may change files; the prompt comes on standard input.
fn run(env: &TestEnv, agent: &str, prompt: &str, more: &[&str]) -> Output {
    let args: &[&str] = match agent {
        "codex" => &["exec", "--json", "--skip-git-repo-check", "-s", "workspace-write"],
        "claude" => &[
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--model",
            "sonnet",
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash",
        ],
        "gemini" => &["-o", "stream-json", "-m", "gemini-2.5-pro", "--approval-mode", "yolo"],
        "opencode" => &["run", "--format", "json", "--title", "t"],
        "qwen" => &["--auth-type", "openai", "-m", "fake-model", "-o", "stream-json", "--approval-mode", "yolo"],
        other => unreachable!("{other}"),
    };
    let command = env.command(agent).args(args).args(more).timeout(Duration::from_secs(90));
    command.stdin(prompt).output()
}

fn env_for(agent: &str, server: &ModelServer) -> TestEnv {
    let mut env = TestEnv::new();
    env.use_model(server);
    env.use_agents(&[agent]);
    env
}

/// Text, then a command and a file through the agent's own tools, then a final text, in one run.
fn changes_files(agent: &str, dialect: Dialect) {
    let script = Script::new().rule(
        Rule::when("Task ID: T1")
            .dialect(dialect)
            .shell("printf shell > by-shell.txt")
            .write("dir/by-tool.txt", "written\n")
            .text("All done here.")
            .usage(Usage { input: 1000, cached: 200, output: 50, reasoning: 0 }),
    );
    let server = ModelServer::start(script);
    let env = env_for(agent, &server);
    let output = run(&env, agent, "Do it. Task ID: T1", &[]).success();
    assert_eq!(env.read("by-shell.txt"), "shell", "{}\n{}", output.stdout, output.stderr);
    assert_eq!(env.read("dir/by-tool.txt"), "written\n", "{}\n{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("All done here."), "{}", output.stdout);
    let requests = server.requests_with("Task ID: T1");
    assert_eq!(requests.iter().filter(|request| request.rule == Some(0)).count(), 3);
    assert_eq!(requests[0].cwd().unwrap(), env.dir());
    assert!(server.unmatched().is_empty());
}

fn last(output: &Output, kind: &str) -> Value {
    let lines = output.json_lines();
    lines.into_iter().rfind(|line| line["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {}", output.stdout))
}

#[test]
fn codex_changes_files() {
    changes_files("codex", Dialect::Responses);
}

#[test]
fn claude_changes_files() {
    changes_files("claude", Dialect::Messages);
}

#[test]
fn codex_gives_a_result_that_fits_a_schema() {
    let script = Script::new().rule(Rule::any().json(json!({ "ok": true })).usage(Usage::default()));
    let server = ModelServer::start(script);
    let env = env_for("codex", &server);
    let schema = json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
                         "additionalProperties": false });
    let file = env.write("schema.json", schema.to_string());
    let output = run(&env, "codex", "hello", &["--output-schema", file.as_str()]).success();
    let item = last(&output, "item.completed");
    assert_eq!(item["item"]["text"], "{\"ok\":true}");
    let usage = &last(&output, "turn.completed")["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(100), &json!(20)));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].schema().unwrap(), schema);
    assert_eq!(requests[0].prompt(), "hello");
    assert_eq!(requests[0].model(), "gpt-5.5");
    let thread = &output.json_lines()[0]["thread_id"];
    assert_eq!(requests[0].session(), thread.as_str());
}

#[test]
fn claude_gives_a_result_that_fits_a_schema() {
    let server = ModelServer::start(Script::new().rule(Rule::any().json(json!({ "ok": true }))));
    let env = env_for("claude", &server);
    let schema = json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] });
    let output = run(&env, "claude", "hello", &["--json-schema", &schema.to_string()]).success();
    let result = last(&output, "result");
    assert_eq!(result["structured_output"], json!({ "ok": true }));
    assert_eq!(result["is_error"], false);
    assert_eq!(result["usage"]["output_tokens"], 20);
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].prompt(), "hello");
    assert_eq!(requests[0].schema().unwrap()["properties"], schema["properties"]);
    assert_eq!(requests[0].session(), result["session_id"].as_str());
}

#[test]
fn codex_goes_on_after_a_rate_limit() {
    let script = Script::new().rule(Rule::any().text("Hello again.").failing_first(Failure::rate_limit(1)));
    let server = ModelServer::start(script);
    let env = env_for("codex", &server);
    let output = run(&env, "codex", "hello", &[]).success();
    assert!(output.stdout.contains("Hello again."), "{}", output.stdout);
    assert_eq!(server.count(), 2);
}

#[test]
fn claude_goes_on_after_a_rate_limit() {
    let script = Script::new().rule(Rule::any().text("Hello again.").failing_first(Failure::rate_limit(1)));
    let server = ModelServer::start(script);
    let env = env_for("claude", &server);
    let output = run(&env, "claude", "hello", &[]).success();
    assert!(output.stdout.contains("Hello again."), "{}", output.stdout);
    assert_eq!(last(&output, "result")["is_error"], false);
    assert_eq!(server.count(), 2);
}

#[test]
fn codex_and_claude_are_resumed() {
    let script = Script::new()
        .rule(Rule::any().and_last("the JSON alone").json(json!({ "id": "T1" })))
        .rule(Rule::when("Task ID: T1").shell("echo hi").text("I forgot the JSON."));
    for (agent, id) in [("codex", "/thread_id"), ("claude", "/session_id")] {
        let server = ModelServer::start(script.clone());
        let env = env_for(agent, &server);
        let output = run(&env, agent, "Task ID: T1", &[]).success();
        assert!(output.stdout.contains("I forgot the JSON."), "{}", output.stdout);
        let lines = output.json_lines();
        let session = lines.iter().find_map(|line| line.pointer(id)?.as_str()).unwrap();
        let more = if agent == "codex" { ["resume", session, "-"] } else { ["--resume", session, "--verbose"] };
        let output = run(&env, agent, "Now the JSON alone", &more).success();
        assert!(output.stdout.contains(r#"{\"id\":\"T1\"}"#), "{}", output.stdout);
        let last = server.requests().pop().unwrap();
        assert_eq!(last.rule, Some(0));
        assert!(last.contains("Task ID: T1"), "the conversation is sent again");
    }
}

#[test]
fn errors_reach_codex_and_claude() {
    let server = ModelServer::start(Script::new().rule(Rule::any().always(Failure::status(400))));
    let env = env_for("codex", &server);
    let output = run(&env, "codex", "hello", &[]).exits(1);
    assert!(last(&output, "turn.failed")["error"]["message"].as_str().unwrap().contains("invalid"));

    let env = env_for("claude", &server);
    let output = run(&env, "claude", "hello", &[]).exits(1);
    assert_eq!(last(&output, "result")["is_error"], true);
}

#[test]
fn agents_at_once_get_their_own_scripts() {
    let tasks = ["T1", "T2", "T3", "T4"];
    let script = tasks.iter().fold(Script::new(), |script, task| {
        script.rule(Rule::when(format!("Task ID: {task}.")).shell(format!("echo {task} >> out-{task}")).text(*task))
    });
    let server = ModelServer::start(script);
    let mut env = TestEnv::new();
    env.use_model(&server);
    env.use_agents(&["codex"]);
    std::thread::scope(|scope| {
        for task in tasks {
            let env = &env;
            scope.spawn(move || run(env, "codex", &format!("Task ID: {task}."), &[]).success());
        }
    });
    for task in tasks {
        assert_eq!(env.read(format!("out-{task}")), format!("{task}\n"));
    }
    assert_eq!(server.count(), 8);
}

/// The others are optional: their installation may fail, which the set-up says. Then so does this.
fn optional(agent: &str, dialect: Dialect) {
    if find_agent(agent).is_some() {
        changes_files(agent, dialect);
    } else {
        let _ = writeln!(std::io::stderr(), "{agent} is not installed (`cargo xtask agents {agent}`): not tested");
    }
}

#[test]
fn gemini_changes_files() {
    optional("gemini", Dialect::Gemini);
}

#[test]
fn opencode_changes_files() {
    optional("opencode", Dialect::Chat);
}

#[test]
fn qwen_changes_files() {
    optional("qwen", Dialect::Chat);
}
