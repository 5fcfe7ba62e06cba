//! What tests of adapters share.

use std::time::Duration;

use planex_core::job::{Exit, JobSpec, Mode, Role};
use planex_core::settings::AgentSettings;
use planex_sys::env::Environment;
use serde_json::json;

use crate::adapter::{Adapter, AgentEvent, Ending, Invocation, Launch, McpServer, RunFiles};

/// A job of mode write with a schema.
pub(crate) fn spec() -> JobSpec {
    JobSpec {
        run_id: "wpx-auth-T1".into(),
        role: Role::Execute,
        mode: Mode::Write,
        prompt: "Do `it`; $(not this)".into(),
        cwd: "/w/tree".into(),
        session_dir: "/w/s".into(),
        run_dir: "/w/s/.planex/runs/wpx-auth-T1".into(),
        schema: Some(json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] })),
        expected_id: None,
        item: None,
        limit: Duration::from_secs(600),
        idle: Duration::from_secs(300),
        grace: Duration::from_secs(5),
        model: None,
        extra_args: Vec::new(),
        env: std::collections::BTreeMap::new(),
        resume: None,
    }
}

/// The server of a run.
pub(crate) fn server() -> McpServer {
    McpServer {
        command: "/opt/planex".into(),
        args: vec!["mcp".into(), "--run".into(), "a \"b\"".into()],
        env: [("PLANEX_JOB_ID".to_owned(), "wpx-auth-T1".to_owned())].into(),
    }
}

/// The command of `adapter` for `spec`.
pub(crate) fn build(
    adapter: &dyn Adapter,
    program: &str,
    spec: &JobSpec,
    settings: &AgentSettings,
    mcp: Option<&McpServer>,
    env: &[(&str, &str)],
) -> Invocation {
    let program = [program.to_owned()];
    let environment: Environment = env.iter().copied().collect();
    let launch = Launch { program: &program, settings, mcp, environment: &environment };
    adapter.command(spec, &RunFiles::new(spec), &launch)
}

/// Reads a transcript to its end.
pub(crate) fn read(adapter: &dyn Adapter, transcript: &str, exit: Exit, stderr: &str) -> (Vec<AgentEvent>, Ending) {
    let mut reader = adapter.reader(&spec());
    let mut events: Vec<AgentEvent> = transcript.lines().flat_map(|line| reader.line(line)).collect();
    events.extend(stderr.lines().flat_map(|line| reader.error_line(line)));
    (events, reader.finish(&exit, stderr))
}

/// Feeds lines of any kind: real ones cut and mixed, and garbage. Nothing may panic, whatever comes.
pub(crate) fn survives(adapter: &dyn Adapter, lines: &[String]) {
    let mut reader = adapter.reader(&spec());
    for line in lines {
        let _ = reader.line(line);
        let _ = reader.error_line(line);
    }
    let _ = reader.finish(&Exit::Lost, "");
}
