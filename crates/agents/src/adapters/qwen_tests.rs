use planex_core::job::{Exit, Mode};
use planex_core::settings::AgentSettings;
use serde_json::json;

use super::*;
use crate::adapters::testing::{build, read, server, spec, survives};
use crate::fault::FaultKind;

#[test]
fn the_commands() {
    let mut job = spec();
    job.resume = Some("q-1".into());
    let settings = AgentSettings::default();
    insta::assert_snapshot!(build(&Qwen, "qwen", &job, &settings, Some(&server()), &[]).argv.join(" "), @r#"qwen -o stream-json --approval-mode yolo --mcp-config {"mcpServers":{"planex":{"command":"/opt/planex","args":["mcp","--run","a \"b\""],"env":{"PLANEX_JOB_ID":"wpx-auth-T1"},"trust":true}}} --json-schema {"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]} --resume q-1"#);
    job.mode = Mode::Analysis;
    let argv = build(&Qwen, "qwen", &job, &settings, None, &[]).argv.join(" ");
    assert!(argv.contains("--approval-mode plan") && !argv.contains("yolo"), "{argv}");
}

#[test]
fn an_error_that_calls_itself_success_is_one() {
    let result = |text: &str| {
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"{text}\",\"usage\":{{\"input_tokens\":3,\"output_tokens\":2}}}}"
        )
    };
    let cases = [
        ("[API Error: 401 invalid key]", FaultKind::Auth),
        ("[API Error: 500 oops]", FaultKind::Other),
        ("[API Error: 429 slow down]", FaultKind::RateLimited),
        ("[API Error: terminated]", FaultKind::Other),
    ];
    for (text, kind) in cases {
        let (_, ending) = read(&Qwen, &result(text), Exit::Code(0), "");
        assert!(!ending.well, "{text}");
        assert_eq!(ending.fault.unwrap().kind, kind, "{text}");
    }
    let (_, ending) = read(&Qwen, &result("{\\\"ok\\\":true}"), Exit::Code(0), "");
    assert!(ending.well, "{ending:?}");
    assert_eq!(ending.structured, Some(json!({ "ok": true })));
    assert_eq!(ending.usage.input_tokens, 3);
}

#[test]
fn a_schema_that_was_not_answered_is_an_error() {
    let line = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"no structured output"}}"#;
    let (_, ending) = read(&Qwen, line, Exit::Code(1), "");
    assert!(ending.fault.unwrap().message.contains("no structured output"));
}

#[test]
fn plain_words_instead_of_the_schema_are_an_answer() {
    let lines = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"{\"ok\":true}"}]}}
{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"Model produced plain text instead of calling the structured_output tool"}}"#;
    let (_, ending) = read(&Qwen, lines, Exit::Code(1), "");
    assert!(ending.well, "{ending:?}");
    assert_eq!(ending.structured, Some(json!({ "ok": true })));
    let (_, ending) =
        read(&Qwen, &lines.replace("{\\\"ok\\\":true}", "[API Error: 401 Invalid API key]"), Exit::Code(1), "");
    assert_eq!(ending.fault.unwrap().kind, FaultKind::Auth);
}

#[test]
fn its_own_retries_are_cut_short() {
    let stderr = "Attempt 3 failed with status 429. Retrying";
    assert!(read(&Qwen, "", Exit::Code(0), stderr).0.iter().any(|e| matches!(e, AgentEvent::GiveUp(_))));
}

proptest::proptest! {
    #[test]
    fn nothing_panics(garbage in proptest::collection::vec("[{}\":,a-z]{0,40}", 0..20)) {
        survives(&Qwen, &garbage);
    }
}
