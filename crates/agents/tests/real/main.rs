//! The real agents, at the versions that `cargo xtask agents` pins, against a scripted model on loopback.
//!
//! Each runs with an environment and a home of its own; nothing of the machine's accounts is seen.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test: a panic is its way to fail")]

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use planex_agents::drive::drive;
use planex_agents::{AgentSet, DriveContext, Login, McpServer, Update};
use planex_core::job::{CauseKind, JobOutcome, JobSpec, JobStatus, Mode, ResultSource, Role, Usage};
use planex_core::mask::Masker;
use planex_core::settings::Settings;
use planex_sys::clock::Clock;
use planex_sys::env::Environment;
use planex_sys::process::Guardian;
use planex_testkit::{Call, Failure, ModelServer, Rule, Script, TestEnv, find_agent};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// An MCP server of the run, as `planex mcp` will be one: appends reports.
const SERVER: &str = r#"
const fs = require("fs"), path = require("path"), rl = require("readline").createInterface({ input: process.stdin });
const reports = path.join(path.dirname(process.env.PLANEX_RESULT_FILE), "reports.ndjson");
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
rl.on("line", (line) => {
  const m = JSON.parse(line);
  if (m.method === "initialize")
    say(m.id, { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "planex", version: "1" } });
  else if (m.method === "tools/list")
    say(m.id, { tools: [{ name: "report_agent_job_result", description: "Report", inputSchema: { type: "object", properties: { result: { type: "object" } } } }] });
  else if (m.method === "tools/call") {
    fs.appendFileSync(reports, JSON.stringify({ result: m.params.arguments.result, stop: false }) + "\n");
    say(m.id, { content: [{ type: "text", text: "accepted" }] });
  } else if (m.id !== undefined) say(m.id, {});
});
"#;

fn guardian() -> Arc<Guardian> {
    static ONE: OnceLock<Arc<Guardian>> = OnceLock::new();
    Arc::clone(ONE.get_or_init(|| Arc::new(Guardian::start(None).unwrap())))
}

/// One agent with its model.
struct Bench {
    env: TestEnv,
    name: &'static str,
    context: DriveContext,
    spec: JobSpec,
}

impl Bench {
    fn new(name: &'static str, server: &ModelServer) -> Self {
        let mut env = TestEnv::new();
        env.use_model(server);
        env.use_agents(&[name]);
        // What the adapter itself has to see to.
        env.unset("GEMINI_CLI_TRUST_WORKSPACE");
        let environment: Environment = env.vars().iter().collect();
        let context = DriveContext {
            guardian: guardian(),
            masker: Arc::new(Masker::default()),
            environment: Arc::new(environment),
            mcp: None,
            clock: Clock::system(),
            log_cap: 1024 * 1024,
            kill: CancellationToken::new(),
            usage_before: None,
        };
        let session = env.root().join("session");
        let spec = JobSpec {
            run_id: "s-T1".into(),
            role: Role::Execute,
            mode: Mode::Write,
            prompt: "Task ID: T1. 'quotes' \"and\" $(things)".into(),
            cwd: env.dir(),
            run_dir: session.join(".planex/runs/s-T1"),
            session_dir: session,
            schema: Some(json!({
                "type": "object",
                "properties": { "id": { "type": "string" }, "ok": { "type": "boolean" } },
                "required": ["id", "ok"]
            })),
            expected_id: Some("T1".into()),
            item: None,
            limit: Duration::from_secs(60),
            idle: Duration::from_secs(40),
            grace: Duration::from_secs(2),
            // Its automatic choice asks the model which model to ask.
            model: (name == "gemini").then(|| "gemini-2.5-pro".into()),
            extra_args: Vec::new(),
            env: BTreeMap::new(),
            resume: None,
        };
        Self { env, name, context, spec }
    }

    fn set(&self) -> AgentSet {
        AgentSet::new(&Settings::default(), &self.context.environment, None, [])
    }

    async fn run(&self) -> JobOutcome {
        let agent = self.set().resolve(self.name).unwrap();
        let (sender, mut receiver) = mpsc::channel(1024);
        let outcome = drive(&agent, &self.spec, &self.context, sender, CancellationToken::new()).await;
        let mut started = false;
        while let Ok(update) = receiver.try_recv() {
            started |= matches!(update, Update::Started { .. });
        }
        assert!(started, "{outcome:?}");
        outcome
    }

    /// The end of the run's logs, for a failing assertion.
    fn logs(&self) -> String {
        let read = |name: &str| std::fs::read_to_string(self.spec.run_dir.join(name)).unwrap_or_default();
        format!("--- output\n{}\n--- stderr\n{}", read("output.log"), read("stderr.log"))
    }
}

fn write_then_answer() -> ModelServer {
    let rule = Rule::when("Task ID: T1")
        .call(Call::Shell("echo made > made.txt".into()))
        .json(json!({ "id": "T1", "ok": true }));
    ModelServer::start(Script::new().rule(rule).rule(Rule::any().text("Hello")))
}

async fn writes_and_answers(name: &'static str, source: ResultSource) {
    let server = write_then_answer();
    let bench = Bench::new(name, &server);
    let outcome = bench.run().await;
    assert_eq!(outcome.status, JobStatus::Completed, "{outcome:?}\n{}", bench.logs());
    assert_eq!(outcome.result, Some(json!({ "id": "T1", "ok": true })));
    assert_eq!(outcome.source, Some(source), "{}", bench.logs());
    assert_eq!(bench.env.read("made.txt").trim(), "made");
    assert!(outcome.agent_session.is_some() && outcome.usage.input_tokens >= 100, "{outcome:?}");
    assert!(outcome.left_running.is_empty());
    let asked = server.requests_with("Task ID: T1");
    assert!(asked[0].contains("'quotes' \"and\" $(things)"), "the prompt was changed");
}

async fn only_reads(name: &'static str) {
    let server = write_then_answer();
    let mut bench = Bench::new(name, &server);
    bench.spec.mode = Mode::Analysis;
    let outcome = bench.run().await;
    assert!(!bench.env.exists("made.txt"), "{}", bench.logs());
    assert_eq!(outcome.status, JobStatus::Completed, "{outcome:?}\n{}", bench.logs());
}

async fn fails(name: &'static str, status: u16, kind: CauseKind) {
    let server = ModelServer::start(Script::new().rule(Rule::any().always(Failure::status(status))));
    let bench = Bench::new(name, &server);
    let outcome = bench.run().await;
    assert_eq!(outcome.status, JobStatus::Failed, "{outcome:?}\n{}", bench.logs());
    let cause = outcome.cause.unwrap();
    assert_eq!(cause.kind, kind, "{cause:?} after {} s\n{}", outcome.duration_s, bench.logs());
}

async fn reports_by_mcp(name: &'static str, tool: &str) {
    let call = Call::Tool { name: tool.into(), args: json!({ "result": { "id": "T1", "ok": true } }) };
    let rule = Rule::when("Task ID: T1").call(call).text("Done.");
    let server = ModelServer::start(Script::new().rule(rule).rule(Rule::any().text("Hello")));
    let mut bench = Bench::new(name, &server);
    let script = bench.env.root().join("server.js");
    std::fs::write(&script, SERVER).unwrap();
    bench.context.mcp = Some(McpServer { command: "node".into(), args: vec![script.into()], env: BTreeMap::new() });
    let outcome = bench.run().await;
    assert_eq!(outcome.source, Some(ResultSource::Mcp), "{outcome:?}\n{}", bench.logs());
    assert_eq!(outcome.status, JobStatus::Completed);
}

async fn resumes(name: &'static str) -> (JobOutcome, JobOutcome) {
    let server = ModelServer::start(
        Script::new()
            .rule(Rule::when("Task ID: T1").and_last("once more").json(json!({ "id": "T1", "ok": true })))
            .rule(Rule::when("Task ID: T1").json(json!({ "id": "T1", "ok": false })))
            .rule(Rule::any().text("Hello")),
    );
    let mut bench = Bench::new(name, &server);
    let first = bench.run().await;
    assert_eq!(first.status, JobStatus::Completed, "{first:?}\n{}", bench.logs());
    bench.spec.resume.clone_from(&first.agent_session);
    bench.spec.prompt = "once more".into();
    bench.context.usage_before = Some(first.usage);
    let second = bench.run().await;
    assert_eq!(second.result, Some(json!({ "id": "T1", "ok": true })), "{second:?}\n{}", bench.logs());
    assert_eq!(second.agent_session, first.agent_session);
    (first, second)
}

/// Streams that end without a word: some agents ask again without end, as fast as they can.
async fn gives_up_on_broken_streams(name: &'static str) {
    let server = ModelServer::start(Script::new().rule(Rule::any().always(Failure::Empty)));
    let bench = Bench::new(name, &server);
    let outcome = bench.run().await;
    assert_eq!(outcome.status, JobStatus::Failed, "{outcome:?}\n{}", bench.logs());
    assert!(server.count() < 40, "{} requests\n{}", server.count(), bench.logs());
}

/// A stream that goes silent hangs the agent for minutes: the idle limit ends it, and nothing is left.
async fn is_ended_when_silent(name: &'static str) {
    let server = ModelServer::start(Script::new().rule(Rule::any().always(Failure::Stall)));
    let mut bench = Bench::new(name, &server);
    bench.spec.idle = Duration::from_secs(6);
    let outcome = bench.run().await;
    assert_eq!(outcome.status, JobStatus::Timeout, "{outcome:?}\n{}", bench.logs());
    assert_eq!(outcome.cause.unwrap().kind, CauseKind::Idle);
    assert!(outcome.left_running.is_empty());
}

async fn is_found(name: &'static str) {
    let server = ModelServer::start(Script::new());
    let bench = Bench::new(name, &server);
    let probe = bench.set().probe(name).await;
    assert!(probe.found.is_some() && probe.usable(), "{probe:?}");
    assert!(!matches!(probe.login, Login::NotLoggedIn { .. }), "{probe:?}");
    assert!(probe.version.is_some(), "{probe:?}");
}

#[tokio::test]
async fn codex_writes_and_answers() {
    writes_and_answers("codex", ResultSource::Native).await;
}

#[tokio::test]
async fn codex_only_reads() {
    only_reads("codex").await;
}

#[tokio::test]
async fn codex_fails() {
    fails("codex", 401, CauseKind::Auth).await;
    fails("codex", 429, CauseKind::RateLimited).await;
    fails("codex", 400, CauseKind::Failed).await;
}

/// The scripted model cannot call a tool of a namespace, so that the server started and was offered is what is shown.
async fn is_offered_the_server(name: &'static str) {
    let server = write_then_answer();
    let mut bench = Bench::new(name, &server);
    let script = bench.env.root().join("server.js");
    std::fs::write(&script, SERVER).unwrap();
    // Of a family that it does not know, tools are told to the model at once.
    bench.spec.model = Some("of-no-known-family".into());
    bench.context.mcp = Some(McpServer { command: "node".into(), args: vec![script.into()], env: BTreeMap::new() });
    let outcome = bench.run().await;
    assert_eq!(outcome.status, JobStatus::Completed, "{outcome:?}\n{}", bench.logs());
    let asked = server.requests_with("Task ID: T1")[0].body.to_string();
    assert!(asked.contains("mcp__planex") && asked.contains("report_agent_job_result"), "{asked}");
}

#[tokio::test]
async fn codex_is_offered_the_server() {
    is_offered_the_server("codex").await;
}

#[tokio::test]
async fn codex_resumes_and_its_usage_is_of_one_run() {
    let (first, second) = resumes("codex").await;
    assert_eq!((first.usage.input_tokens, second.usage.input_tokens), (100, 100));
    assert_eq!(first.usage, Usage { cost_usd: None, ..second.usage });
}

#[tokio::test]
async fn codex_is_found() {
    is_found("codex").await;
}

#[tokio::test]
async fn claude_writes_and_answers() {
    writes_and_answers("claude", ResultSource::Native).await;
}

#[tokio::test]
async fn claude_only_reads() {
    only_reads("claude").await;
}

#[tokio::test]
async fn claude_fails() {
    fails("claude", 401, CauseKind::Auth).await;
    fails("claude", 429, CauseKind::RateLimited).await;
    fails("claude", 500, CauseKind::Failed).await;
}

#[tokio::test]
async fn claude_reports_by_mcp() {
    reports_by_mcp("claude", "mcp__planex__report_agent_job_result").await;
}

#[tokio::test]
async fn claude_resumes() {
    resumes("claude").await;
}

#[tokio::test]
async fn claude_is_ended_when_silent() {
    is_ended_when_silent("claude").await;
}

#[tokio::test]
async fn codex_is_ended_when_silent() {
    is_ended_when_silent("codex").await;
}

#[tokio::test]
async fn claude_is_found() {
    is_found("claude").await;
}

/// The slow ones are tested where they are installed.
#[tokio::test]
async fn gemini_works() {
    if find_agent("gemini").is_some() {
        is_found("gemini").await;
        writes_and_answers("gemini", ResultSource::Text).await;
        only_reads("gemini").await;
        resumes("gemini").await;
        fails("gemini", 401, CauseKind::Auth).await;
        fails("gemini", 429, CauseKind::RateLimited).await;
    }
}

#[tokio::test]
async fn qwen_works() {
    if find_agent("qwen").is_some() {
        is_found("qwen").await;
        writes_and_answers("qwen", ResultSource::Native).await;
        only_reads("qwen").await;
        resumes("qwen").await;
        fails("qwen", 401, CauseKind::Auth).await;
    }
}

#[tokio::test]
async fn opencode_works() {
    if find_agent("opencode").is_some() {
        is_found("opencode").await;
        writes_and_answers("opencode", ResultSource::Text).await;
        only_reads("opencode").await;
        reports_by_mcp("opencode", "planex_report_agent_job_result").await;
        resumes("opencode").await;
        fails("opencode", 401, CauseKind::Auth).await;
        gives_up_on_broken_streams("opencode").await;
    }
}
