use planex_core::job::{Exit, Mode};
use planex_core::settings::AgentSettings;

use super::*;
use crate::adapter::AgentEvent;
use crate::adapters::testing::{build, read, server, spec, survives};
use crate::fault::FaultKind;

const NORMAL: &str = r#"{"type":"init","session_id":"g-1","model":"gemini-2.5-pro"}
{"type":"message","role":"user","content":"the prompt"}
{"type":"message","role":"assistant","content":"I look.","delta":true}
{"type":"tool_use","tool_name":"read_file","tool_id":"t1","parameters":{"absolute_path":"/w/a"}}
{"type":"tool_result","tool_id":"t1","status":"error","output":"","error":{"type":"tool_not_registered","message":"no such tool"}}
{"type":"message","role":"assistant","content":"{\"ok\":","delta":true}
{"type":"message","role":"assistant","content":"true}","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":120,"input_tokens":100,"output_tokens":20,"cached":5,"tool_calls":1}}"#;

#[test]
fn the_commands() {
    let mut job = spec();
    job.resume = Some("g-1".into());
    job.model = Some("pro".into());
    let settings = AgentSettings::default();
    let write = build(&Gemini, "gemini", &job, &settings, Some(&server()), &[]);
    insta::assert_snapshot!(write.argv.join(" "), @r#"gemini -o stream-json --approval-mode yolo -m pro --resume g-1"#);
    insta::assert_debug_snapshot!(write.env, @r#"
    {
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    "#);
    assert!(write.files.is_empty());
    job.mode = Mode::Analysis;
    let argv = build(&Gemini, "gemini", &job, &settings, None, &[]).argv.join(" ");
    assert!(argv.contains("--approval-mode default") && !argv.contains("yolo"), "{argv}");
}

#[test]
fn a_normal_run() {
    let (events, ending) = read(&Gemini, NORMAL, Exit::Code(0), "");
    assert!(ending.well, "{ending:?}");
    assert_eq!(ending.text, "{\"ok\":true}");
    assert_eq!((ending.session.as_deref(), ending.model.as_deref()), (Some("g-1"), Some("gemini-2.5-pro")));
    assert_eq!((ending.usage.input_tokens, ending.usage.output_tokens), (100, 20));
    assert_eq!(ending.notes, ["denied by its approval mode: no such tool"]);
    assert!(events.contains(&AgentEvent::Activity("read_file: /w/a".into())));
    assert!(events.contains(&AgentEvent::ToolFinished("t1".into())));
}

#[test]
fn exit_codes_tell_the_status() {
    let cases = [
        (145, "boom", FaultKind::Auth),
        (41, "Please set an Auth method", FaultKind::Auth),
        (173, "boom", FaultKind::RateLimited),
        (244, "boom", FaultKind::Other),
        (55, "not trusted", FaultKind::Other),
    ];
    for (code, stderr, kind) in cases {
        let (_, ending) = read(&Gemini, "", Exit::Code(code), stderr);
        assert_eq!(ending.fault.unwrap().kind, kind, "{code}");
    }
}

#[test]
fn exit_zero_is_not_enough() {
    let error = r#"{"type":"result","status":"error","error":{"type":"X","message":"Model stream ended"}}"#;
    let (_, ending) = read(&Gemini, error, Exit::Code(0), "");
    assert!(!ending.well && ending.fault.unwrap().message.contains("stream ended"));
    let cut: String = NORMAL.lines().take(7).collect::<Vec<_>>().join("\n");
    assert!(!read(&Gemini, &cut, Exit::Code(0), "").1.well);
}

#[test]
fn its_own_retries_are_cut_short() {
    let retry = |n: u32| format!("Attempt {n} failed with status 429. Retrying with backoff... Error: slow\n");
    let few: String = (1..=2).map(retry).collect();
    assert!(!read(&Gemini, "", Exit::Code(1), &few).0.iter().any(|e| matches!(e, AgentEvent::GiveUp(_))));
    let many: String = (1..=6).map(retry).collect();
    let given_up: Vec<_> =
        read(&Gemini, "", Exit::Code(1), &many).0.into_iter().filter(|e| matches!(e, AgentEvent::GiveUp(_))).collect();
    assert_eq!(given_up.len(), 1);
    assert!(matches!(&given_up[0], AgentEvent::GiveUp(fault) if fault.kind == FaultKind::RateLimited));
}

proptest::proptest! {
    #[test]
    fn nothing_panics(cuts in proptest::collection::vec((0_usize..8, 0_usize..200), 0..20), garbage in "\\PC{0,80}") {
        let lines: Vec<&str> = NORMAL.lines().collect();
        let mut fed: Vec<String> = cuts.iter().map(|&(n, at)| lines[n].chars().take(at).collect()).collect();
        fed.push(garbage);
        survives(&Gemini, &fed);
    }
}
