use planex_core::job::{Exit, Mode};
use planex_core::settings::AgentSettings;
use serde_json::json;

use super::*;
use crate::adapter::AgentEvent;
use crate::adapters::testing::{build, read, server, spec, survives};
use crate::fault::FaultKind;

const NORMAL: &str = r#"{"type":"system","subtype":"init","session_id":"s-1","tools":["Read"],"mcp_servers":[{"name":"planex","status":"failed"}],"model":"opus","permissionMode":"acceptEdits","cwd":"/w/tree"}
{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"tu_1","name":"Bash","input":{"command":"ls -l"}}]},"parent_tool_use_id":null,"session_id":"s-1"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"tu_1","content":"a"}]},"session_id":"s-1"}
{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"retry_delay_ms":500,"error_status":529,"error":"overloaded"}
{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null,"session_id":"s-1"}
{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":2,"result":"{\"ok\":true}","structured_output":{"ok":true},"session_id":"s-1","total_cost_usd":0.25,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7},"permission_denials":[{"tool_name":"WebFetch","tool_use_id":"x","tool_input":{}}]}"#;

#[test]
fn the_command_of_a_reading_job() {
    let mut job = spec();
    job.mode = Mode::Analysis;
    let made = build(&Claude, "claude", &job, &AgentSettings::default(), None, &[("DISABLE_AUTOUPDATER", "0")]);
    insta::assert_snapshot!(made.argv.join(" "), @r#"claude -p --output-format stream-json --verbose --permission-mode dontAsk --tools Read,Grep,Glob --add-dir /w/s --json-schema {"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#);
    insta::assert_debug_snapshot!(made.env, @r#"
    {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
    }
    "#);
    assert_eq!(made.env_remove, ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"]);
}

#[test]
fn the_command_of_a_writing_job_with_everything() {
    let mut job = spec();
    job.model = Some("sonnet".into());
    job.resume = Some("s-1".into());
    job.extra_args = vec!["--max-turns".into(), "9".into()];
    let made = build(&Claude, "claude", &job, &AgentSettings::default(), Some(&server()), &[]);
    insta::assert_snapshot!(made.argv.join(" "), @r#"claude -p --output-format stream-json --verbose --permission-mode acceptEdits --mcp-config /w/s/.planex/runs/wpx-auth-T1/mcp.json --strict-mcp-config --allowedTools Bash,mcp__planex__report_agent_job_result,mcp__planex__discovery_add --add-dir /w/s --model sonnet --json-schema {"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]} --resume s-1 --max-turns 9"#);
    insta::assert_snapshot!(made.files[0].1, @r#"
    {
      "mcpServers": {
        "planex": {
          "command": "/opt/planex",
          "args": [
            "mcp",
            "--run",
            "a \"b\""
          ],
          "env": {
            "PLANEX_JOB_ID": "wpx-auth-T1"
          }
        }
      }
    }
    "#);
}

#[test]
fn permissions_are_never_bypassed() {
    let full = AgentSettings { full_access: true, ..AgentSettings::default() };
    let made = build(&Claude, "claude", &spec(), &full, None, &[]).argv.join(" ");
    assert!(
        made.contains("Bash,WebFetch,WebSearch") && !made.contains("bypass") && !made.contains("dangerously"),
        "{made}"
    );
}

#[test]
fn a_normal_run() {
    let (events, ending) = read(&Claude, NORMAL, Exit::Code(0), "");
    assert!(ending.well, "{ending:?}");
    assert_eq!(ending.structured, Some(json!({ "ok": true })));
    assert_eq!((ending.session.as_deref(), ending.model.as_deref()), (Some("s-1"), Some("opus")));
    assert_eq!(
        (ending.usage.input_tokens, ending.usage.cached_input_tokens, ending.usage.output_tokens),
        (115, 100, 7)
    );
    assert_eq!(ending.usage.cost_usd, Some(0.25));
    assert_eq!(ending.notes, ["the MCP server `planex` could not be started", "denied by its permissions: WebFetch"]);
    assert_eq!(events[0], AgentEvent::Session("s-1".into()));
    assert!(events.contains(&AgentEvent::Activity("Bash: ls -l".into())));
    assert!(events.contains(&AgentEvent::ToolStarted("tu_1".into())));
    assert!(events.contains(&AgentEvent::ToolFinished("tu_1".into())));
    assert!(events.contains(&AgentEvent::Finished));
}

#[test]
fn structured_output_may_be_missing() {
    let line = r#"{"type":"result","subtype":"success","is_error":false,"result":"words","structured_output":null}"#;
    let (_, ending) = read(&Claude, line, Exit::Code(0), "");
    assert!(ending.well && ending.structured.is_none());
    assert_eq!(ending.text, "words");
}

#[test]
fn success_with_an_error_is_none() {
    let result = |extra: &str| format!("{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,{extra}}}");
    let cases = [
        (r#""api_error_status":401,"result":"Invalid API key""#, FaultKind::Auth),
        (r#""api_error_status":429,"result":"slow down""#, FaultKind::RateLimited),
        (r#""api_error_status":529,"result":"busy""#, FaultKind::Overload),
        (r#""api_error_status":500,"result":"API Error: 500 oops""#, FaultKind::Other),
        (r#""result":"Not logged in · Please run /login""#, FaultKind::Auth),
        (r#""result":"Claude AI usage limit reached|1767225600""#, FaultKind::Quota),
    ];
    for (extra, kind) in cases {
        let (_, ending) = read(&Claude, &result(extra), Exit::Code(1), "");
        assert!(!ending.well, "{extra}");
        assert_eq!(ending.fault.unwrap().kind, kind, "{extra}");
    }
    for subtype in ["error_max_turns", "error_during_execution"] {
        let line = format!("{{\"type\":\"result\",\"subtype\":\"{subtype}\",\"is_error\":false}}");
        let fault = read(&Claude, &line, Exit::Code(0), "").1.fault.unwrap();
        assert!(fault.message.contains(subtype), "{fault:?}");
    }
}

#[test]
fn without_a_result_it_did_not_end_well() {
    let cut: String = NORMAL.lines().take(4).collect::<Vec<_>>().join("\n");
    let fault = read(&Claude, &cut, Exit::Code(0), "").1.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Overload);
    let fault = read(&Claude, "", Exit::Code(1), "No conversation found with session ID: 7").1.fault.unwrap();
    assert!(fault.message.contains("No conversation found"), "{fault:?}");
}

proptest::proptest! {
    #[test]
    fn nothing_panics(cuts in proptest::collection::vec((0_usize..6, 0_usize..200), 0..20), garbage in "\\PC{0,80}") {
        let lines: Vec<&str> = NORMAL.lines().collect();
        let mut fed: Vec<String> = cuts.iter().map(|&(n, at)| lines[n].chars().take(at).collect()).collect();
        fed.push(garbage);
        survives(&Claude, &fed);
    }
}
