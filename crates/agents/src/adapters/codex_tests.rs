use planex_core::job::{Exit, Mode};
use planex_core::settings::AgentSettings;

use super::*;
use crate::adapter::AgentEvent;
use crate::adapters::testing::{build, read, server, spec, survives};
use crate::fault::FaultKind;

const NORMAL: &str = r#"{"type":"thread.started","thread_id":"01a22da1-7000"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"I look first."}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'ls'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'ls'","aggregated_output":"a\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":[{"path":"/w/tree/a.txt","kind":"add"}],"status":"completed"}}
{"type":"error","message":"Reconnecting... 2/5 (stream closed)"}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"{\"ok\":true}"}}
{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":30,"cache_write_input_tokens":0,"output_tokens":60,"reasoning_output_tokens":15}}"#;

fn argv(mode: Mode, change: impl FnOnce(&mut JobSpec, &mut AgentSettings)) -> String {
    let (mut spec, mut settings) = (spec(), AgentSettings::default());
    spec.mode = mode;
    change(&mut spec, &mut settings);
    build(&Codex, "codex", &spec, &settings, None, &[]).argv.join(" ")
}

#[test]
fn the_command_of_a_reading_job() {
    insta::assert_snapshot!(argv(Mode::Analysis, |_, _| {}), @r#"codex exec --json --skip-git-repo-check -C /w/tree -s read-only -c features.unbounded_connection_retries=false --output-schema /w/s/.planex/runs/wpx-auth-T1/schema.codex.json -"#);
}

#[test]
fn the_command_of_a_writing_job_with_everything() {
    let line = argv(Mode::Write, |spec, settings| {
        spec.model = Some("gpt-5.5".into());
        spec.resume = Some("01a22da1-7000".into());
        spec.extra_args = vec!["-c".into(), "x=1".into()];
        settings.write_args = vec!["--w".into()];
    });
    insta::assert_snapshot!(line, @r#"codex exec --json --skip-git-repo-check -C /w/tree -s workspace-write -c sandbox_workspace_write.exclude_slash_tmp=true -c features.unbounded_connection_retries=false -m gpt-5.5 --output-schema /w/s/.planex/runs/wpx-auth-T1/schema.codex.json --w -c x=1 resume 01a22da1-7000 -"#);
}

#[test]
fn the_sandbox_goes_only_by_explicit_configuration_and_only_to_write() {
    let full = |_: &mut _, settings: &mut AgentSettings| settings.full_access = true;
    assert!(argv(Mode::Write, full).contains("--dangerously-bypass-approvals-and-sandbox"));
    assert!(!argv(Mode::Analysis, full).contains("dangerously"));
    assert!(!argv(Mode::Write, |_, _| {}).contains("dangerously"));
}

#[test]
fn the_server_is_given_as_toml_and_the_schema_as_a_strict_file() {
    let made = build(&Codex, "codex", &spec(), &AgentSettings::default(), Some(&server()), &[]);
    let config = made.argv.iter().find(|word| word.starts_with("mcp_servers")).unwrap();
    insta::assert_snapshot!(config, @r#"mcp_servers.planex={command="/opt/planex",args=["mcp","--run","a \"b\""],env={"PLANEX_JOB_ID"="wpx-auth-T1"},default_tools_approval_mode="approve"}"#);
    let parsed: toml::Table = config.parse().unwrap();
    assert_eq!(parsed["mcp_servers"]["planex"]["args"][2].as_str(), Some("a \"b\""));
    let (path, schema) = &made.files[0];
    assert_eq!(path, "/w/s/.planex/runs/wpx-auth-T1/schema.codex.json");
    assert!(schema.contains("\"additionalProperties\": false"), "{schema}");
}

#[test]
fn every_text_is_a_toml_string() {
    for text in ["", "a\"b\\c", "tab\tnl\n", "\u{7f}\u{1}", "日本", "{session}"] {
        let table: toml::Table = format!("x={}", toml_string(text)).parse().unwrap();
        assert_eq!(table["x"].as_str(), Some(text));
    }
}

#[test]
fn a_normal_run() {
    let (events, ending) =
        read(&Codex, NORMAL, Exit::Code(0), "patch rejected: writing is blocked by read-only sandbox");
    assert!(ending.well, "{ending:?}");
    assert_eq!(ending.text, "{\"ok\":true}");
    assert_eq!(ending.structured, Some(serde_json::json!({ "ok": true })));
    assert_eq!(ending.session.as_deref(), Some("01a22da1-7000"));
    assert_eq!(
        (ending.usage.input_tokens, ending.usage.cached_input_tokens, ending.usage.output_tokens),
        (300, 30, 60)
    );
    assert_eq!(ending.notes, ["patch rejected: writing is blocked by read-only sandbox"]);
    assert!(events.contains(&AgentEvent::Session("01a22da1-7000".into())));
    assert!(events.contains(&AgentEvent::ToolStarted("item_1".into())));
    assert!(events.contains(&AgentEvent::ToolFinished("item_1".into())));
    assert!(events.contains(&AgentEvent::Activity("edit: /w/tree/a.txt".into())));
    assert!(events.contains(&AgentEvent::Finished));
}

#[test]
fn failures_are_told_apart() {
    let failed = |message: &str| {
        format!("{{\"type\":\"turn.started\"}}\n{{\"type\":\"turn.failed\",\"error\":{{\"message\":\"{message}\"}}}}")
    };
    let cases = [
        ("exceeded retry limit, last status: 429 Too Many Requests", FaultKind::RateLimited),
        ("unexpected status 401 Unauthorized: no", FaultKind::Auth),
        ("exceeded retry limit, last status: 500 Internal Server Error", FaultKind::Other),
        ("Quota exceeded. Check your plan and billing details.", FaultKind::Quota),
        ("Missing environment variable: `FAKE_KEY`.", FaultKind::Auth),
        ("stream disconnected before completion", FaultKind::Other),
    ];
    for (message, kind) in cases {
        let (_, ending) = read(&Codex, &failed(message), Exit::Code(1), "");
        assert!(!ending.well);
        let fault = ending.fault.unwrap();
        assert_eq!((fault.kind, fault.message.as_str()), (kind, message));
    }
}

#[test]
fn without_its_last_event_it_did_not_end_well() {
    let cut: String = NORMAL.lines().take(8).collect::<Vec<_>>().join("\n");
    let (_, ending) = read(&Codex, &cut, Exit::Code(0), "");
    assert!(!ending.well);
    let (_, ending) = read(&Codex, "", Exit::Code(1), "Error: no rollout found for thread id 7\n");
    let message = ending.fault.unwrap().message;
    assert!(message.contains("no rollout found"), "{message}");
    let (_, ending) = read(&Codex, "{\"type\":\"turn.started\"}", Exit::Signal(15), "");
    assert!(ending.fault.unwrap().message.contains("signal 15"));
}

proptest::proptest! {
    #[test]
    fn nothing_panics(cuts in proptest::collection::vec((0_usize..9, 0_usize..200), 0..20), garbage in "\\PC{0,80}") {
        let lines: Vec<&str> = NORMAL.lines().collect();
        let mut fed: Vec<String> = cuts.iter().map(|&(n, at)| lines[n].chars().take(at).collect()).collect();
        fed.push(garbage);
        survives(&Codex, &fed);
    }
}
