//! The model server over plain sockets: failures, matching, and the program around it.

#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails here fails the test")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use planex_testkit::{Dialect, Failure, ModelServer, Reply, Rule, Script, TestEnv, workspace_bin};
use serde_json::{Value, json};

/// Sends a request and returns everything that comes until the connection ends.
fn send(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn post(port: u16, path: &str, body: &Value) -> String {
    let body = body.to_string();
    send(port, &format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

fn ask(server: &ModelServer, words: &[&str]) -> String {
    let messages: Vec<Value> = words
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": text }))
        .collect();
    post(server.port(), "/v1/chat/completions", &json!({ "model": "m", "messages": messages }))
}

fn content(answer: &str) -> String {
    let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    body["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn the_first_rule_that_fits_answers() {
    let script = Script::new()
        .rule(Rule::when("a").and("b").text("both"))
        .rule(Rule::when("a").without("c").text("a"))
        .rule(Rule::any().dialect(Dialect::Messages).text("claude"))
        .rule(Rule::when("once").times(1).text("once"));
    let server = ModelServer::start(script);
    assert_eq!(content(&ask(&server, &["x a b"])), "both");
    assert_eq!(content(&ask(&server, &["x a"])), "a");
    assert_eq!(content(&ask(&server, &["once"])), "once");
    assert_eq!(content(&ask(&server, &["once"])), "No rule of the script matches.");
    assert_eq!(content(&ask(&server, &["x a c"])), "No rule of the script matches.");
    assert_eq!(server.unmatched().len(), 2);
    let rules: Vec<Option<usize>> = server.requests().iter().map(|request| request.rule).collect();
    assert_eq!(rules, [Some(0), Some(1), Some(3), None, None]);
}

#[test]
fn turns_follow_the_conversation() {
    let server = ModelServer::start(Script::new().rule(Rule::when("go").text("one").text("two")));
    assert_eq!(content(&ask(&server, &["go"])), "one");
    assert_eq!(content(&ask(&server, &["go", "one", "and?"])), "two");
    assert_eq!(content(&ask(&server, &["go", "one", "and?", "two", "and?"])), "two", "the last one stays");
    assert_eq!(content(&ask(&server, &["x", "y", "go"])), "one", "counted from the words that started it");
}

#[test]
fn failures_are_used_up_one_by_one() {
    let rule = Rule::any().text("fine").failing_first(Failure::rate_limit(7)).failing_first(Failure::status(529));
    let server = ModelServer::start(Script::new().rule(rule));
    let first = ask(&server, &["hi"]);
    assert!(first.starts_with("HTTP/1.1 429 ") && first.contains("retry-after: 7\r\n"), "{first}");
    assert!(first.contains("rate_limit_error"), "{first}");
    assert!(ask(&server, &["hi"]).starts_with("HTTP/1.1 529 "));
    assert_eq!(content(&ask(&server, &["hi"])), "fine");
}

#[test]
fn streams_break_as_asked() {
    let answer = |failure: Option<Failure>| {
        let server = ModelServer::start_with(move |_| Reply { failure: failure.clone(), ..Reply::text("hello there") });
        post(server.port(), "/v1/messages", &json!({ "stream": true, "messages": [] }))
    };
    let whole = answer(None);
    assert!(whole.contains("hello there") && whole.contains("message_stop"), "{whole}");
    assert!(whole.ends_with("0\r\n\r\n"));
    let cut = answer(Some(Failure::Cut));
    assert!(cut.contains("message_start") && !cut.contains("message_stop") && !cut.ends_with("0\r\n\r\n"), "{cut}");
    assert!(answer(Some(Failure::Empty)).ends_with("\r\n\r\n0\r\n\r\n"));
    assert!(answer(Some(Failure::Garbage)).contains("<html>"));
    assert_eq!(answer(Some(Failure::Reset)), "");
}

#[test]
fn hanging_answers_end_with_the_server() {
    let server = ModelServer::start_with(|_| Reply::failure(Failure::Hang));
    let port = server.port();
    let asked = std::thread::spawn(move || post(port, "/v1/responses", &json!({ "stream": true, "input": [] })));
    let end = Instant::now() + Duration::from_secs(10);
    while server.count() == 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(!asked.is_finished());
    drop(server);
    assert_eq!(asked.join().unwrap(), "");
}

#[test]
fn delays_are_kept() {
    let server = ModelServer::start(Script::new().rule(Rule::any().text("late").delay(Duration::from_millis(80))));
    let start = Instant::now();
    assert_eq!(content(&ask(&server, &["hi"])), "late");
    assert!(start.elapsed() >= Duration::from_millis(80));
}

#[test]
fn what_is_no_question_is_answered_too() {
    let server = ModelServer::start(Script::new());
    let port = server.port();
    assert!(send(port, "HEAD / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
    assert!(send(port, "GET /v1/models HTTP/1.1\r\n\r\n").contains("\"data\":[]"));
    assert!(post(port, "/v1/messages/count_tokens", &json!({})).contains("input_tokens"));
    assert!(send(port, "GET /elsewhere HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(send(port, "POST /v1/messages HTTP/1.1\r\nContent-Length: 1\r\n\r\n{").starts_with("HTTP/1.1 400 "));
    let chunked = "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
    assert!(send(port, chunked).contains("end_turn"));
    assert_eq!(send(port, "nonsense\r\n\r\n"), "");
    assert_eq!(server.count(), 1);
}

#[test]
fn scripts_are_read_from_json() {
    let json = json!({ "rules": [
        { "when": { "contains": ["T1"], "dialect": "responses" }, "times": 2, "turns": [
            { "fail": [{ "http": { "status": 429, "retry_after": 1 } }, "cut"], "calls": [{ "shell": "ls" }] },
            { "calls": [{ "write": { "path": "a", "content": "b" } }, { "tool": { "name": "x", "args": {} } }] },
            { "json": { "id": "T1" }, "usage": { "input": 7 }, "delay_ms": 5 },
        ] },
    ] });
    let script: Script = serde_json::from_value(json).unwrap();
    let again: Script = serde_json::from_str(&serde_json::to_string(&script).unwrap()).unwrap();
    assert_eq!(again, script);
    assert_eq!(script.rules[0].turns[2].usage.output, 20, "what is not given is as usual");
    let error = serde_json::from_str::<Script>(r#"{"rules":[{"turn":[]}]}"#).unwrap_err();
    assert!(error.to_string().contains("unknown field `turn`"), "{error}");
}

#[cfg(unix)]
#[test]
fn the_server_runs_as_a_program() {
    let env = TestEnv::new();
    let script = env.write("script.json", r#"{"rules":[{"turns":[{"text":"by hand"}]}]}"#);
    let program = workspace_bin("planex-testkit", "planex-testkit-model");
    let _ = env.command(program.as_str()).output().exits(2);
    let line = format!("exec {program} --script {script} --port 0 > out.txt");
    let run = env.command("sh").args(["-c", &line]).spawn();
    let end = Instant::now() + Duration::from_secs(10);
    let port = loop {
        let text = if env.exists("out.txt") { env.read("out.txt") } else { String::new() };
        let url = text.split("http://127.0.0.1:").nth(1).and_then(|rest| rest.split(';').next());
        if let Some(Ok(port)) = url.map(str::parse::<u16>) {
            break port;
        }
        assert!(Instant::now() < end, "it does not say where it listens");
        std::thread::sleep(Duration::from_millis(5));
    };
    let answer = post(port, "/v1/chat/completions", &json!({ "messages": [{ "role": "user", "content": "hi" }] }));
    assert_eq!(content(&answer), "by hand");
    run.signal(15);
    assert_eq!(run.wait().code(), None);
    assert!(env.read("out.txt").contains(&format!("export ANTHROPIC_BASE_URL=http://127.0.0.1:{port} ")));
}
