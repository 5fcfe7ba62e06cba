use planex_core::job::{Exit, Mode};
use planex_core::settings::AgentSettings;
use serde_json::json;

use super::*;
use crate::adapters::testing::{build, read, server, spec, survives};
use crate::fault::FaultKind;

const NORMAL: &str = r#"{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}
{"type":"text","sessionID":"ses_1","part":{"type":"text","text":"I look."}}
{"type":"tool_use","sessionID":"ses_1","part":{"tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a","metadata":{"exit":0}}}}
{"type":"tool_use","sessionID":"ses_1","part":{"tool":"edit","state":{"status":"error","input":{"filePath":"/x"},"error":"denied"}}}
{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","tokens":{"input":10,"output":2,"reasoning":1,"cache":{"read":5,"write":0}},"cost":0.5}}
{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}
{"type":"text","sessionID":"ses_1","part":{"type":"text","text":"{\"ok\":true}"}}
{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","tokens":{"input":20,"output":4,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.25}}"#;

fn config_of(mode: Mode, settings: &AgentSettings, inherited: &str) -> Value {
    let job = JobSpec { mode, ..spec() };
    let made = build(&Opencode, "opencode", &job, settings, Some(&server()), &[(CONFIG, inherited)]);
    serde_json::from_str(&made.env[CONFIG]).unwrap()
}

#[test]
fn the_command() {
    let mut job = spec();
    job.model = Some("anthropic/sonnet".into());
    let line = |job: &JobSpec| build(&Opencode, "opencode", job, &AgentSettings::default(), None, &[]).argv.join(" ");
    insta::assert_snapshot!(line(&job), @r#"opencode run --format json --dir /w/tree --title wpx-auth-T1 -m anthropic/sonnet"#);
    job.resume = Some("ses_1".into());
    assert!(line(&job).contains("-s ses_1") && !line(&job).contains("--title"));
}

#[test]
fn the_configuration_is_laid_over_the_inherited_one() {
    let inherited = r#"{"provider":{"fake":{"options":{"apiKey":"k"}}},"mcp":{"mine":{"type":"local"}},"permission":"allow","share":"auto"}"#;
    let config = config_of(Mode::Analysis, &AgentSettings::default(), inherited);
    assert_eq!(config["provider"]["fake"]["options"]["apiKey"], "k");
    assert_eq!(config["mcp"]["mine"]["type"], "local");
    assert_eq!(config["mcp"]["planex"]["command"], json!(["/opt/planex", "mcp", "--run", "a \"b\""]));
    assert_eq!(config["share"], "disabled");
    assert_eq!((&config["permission"]["edit"], &config["permission"]["bash"]), (&json!("deny"), &json!("deny")));
    for broken in ["", "not json", "[1]"] {
        assert_eq!(config_of(Mode::Write, &AgentSettings::default(), broken)["autoupdate"], false, "{broken}");
    }
}

#[test]
fn a_writing_job_may_write_and_nothing_ever_asks() {
    let config = config_of(Mode::Write, &AgentSettings::default(), "");
    insta::assert_snapshot!(config["permission"].to_string(), @r#"{"edit":"allow","bash":"allow","webfetch":"deny","external_directory":{"*":"deny","/w/s/**":"allow"},"doom_loop":"deny","question":"deny"}"#);
    let full = AgentSettings { full_access: true, ..AgentSettings::default() };
    assert_eq!(config_of(Mode::Write, &full, "")["permission"]["external_directory"]["*"], "allow");
    assert!(!config.to_string().contains("\"ask\""));
}

#[test]
fn a_normal_run() {
    let (events, ending) = read(&Opencode, NORMAL, Exit::Code(0), "");
    assert!(ending.well, "{ending:?}");
    assert_eq!(ending.text, "{\"ok\":true}");
    assert_eq!(ending.session.as_deref(), Some("ses_1"));
    assert_eq!((ending.usage.input_tokens, ending.usage.cached_input_tokens, ending.usage.output_tokens), (35, 5, 7));
    assert_eq!(ending.usage.cost_usd, Some(0.75));
    assert_eq!(ending.notes, ["tool edit: denied"]);
    assert_eq!(events[0], AgentEvent::Session("ses_1".into()));
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::GiveUp(_))));
}

#[test]
fn the_end_is_a_step_that_stopped() {
    let cut: String = NORMAL.lines().take(5).collect::<Vec<_>>().join("\n");
    let fault = read(&Opencode, &cut, Exit::Code(0), "").1.fault.unwrap();
    assert!(fault.message.contains("tool-calls"), "{fault:?}");
    assert!(!read(&Opencode, &NORMAL.lines().take(7).collect::<Vec<_>>().join("\n"), Exit::Code(0), "").1.well);
    assert!(!read(&Opencode, "", Exit::Code(0), "").1.well);
}

#[test]
fn errors_are_told_apart() {
    for (status, kind) in [(401, FaultKind::Auth), (429, FaultKind::RateLimited), (500, FaultKind::Other)] {
        let line = format!(
            "{{\"type\":\"error\",\"sessionID\":\"s\",\"error\":{{\"name\":\"APIError\",\"data\":{{\"message\":\"no\",\"statusCode\":{status},\"isRetryable\":false}}}}}}"
        );
        let fault = read(&Opencode, &line, Exit::Code(1), "").1.fault.unwrap();
        assert_eq!((fault.kind, fault.message.as_str()), (kind, "no"));
    }
}

#[test]
fn asking_again_without_end_is_given_up() {
    let start = "{\"type\":\"step_start\",\"sessionID\":\"s\"}\n";
    let unended =
        format!("{start}{{\"type\":\"step_finish\",\"sessionID\":\"s\",\"part\":{{\"reason\":\"unknown\"}}}}\n");
    for transcript in [start.repeat(9), unended.repeat(9)] {
        let events = read(&Opencode, &transcript, Exit::Code(0), "").0;
        assert_eq!(events.iter().filter(|event| matches!(event, AgentEvent::GiveUp(_))).count(), 1);
    }
}

proptest::proptest! {
    #[test]
    fn nothing_panics(cuts in proptest::collection::vec((0_usize..8, 0_usize..200), 0..20), garbage in "\\PC{0,80}") {
        let lines: Vec<&str> = NORMAL.lines().collect();
        let mut fed: Vec<String> = cuts.iter().map(|&(n, at)| lines[n].chars().take(at).collect()).collect();
        fed.push(garbage);
        survives(&Opencode, &fed);
    }
}
