use planex_core::job::{Exit, Mode};

use super::*;
use crate::adapters::shared::MAX_TEXT;
use crate::adapters::testing::{build, read, spec};
use crate::fault::FaultKind;

fn settings() -> AgentSettings {
    AgentSettings {
        command: vec!["python3".into(), "agent.py".into(), "{prompt_file}".into()],
        analysis_args: vec!["--read-only".into()],
        write_args: vec!["--write".into()],
        resume_args: Some(vec!["--resume".into(), "{session}".into()]),
        ..AgentSettings::default()
    }
}

fn argv(settings: &AgentSettings, spec: &JobSpec) -> (String, StdinPlan) {
    let program = settings.command.clone();
    let environment = planex_sys::env::Environment::default();
    let launch = Launch { program: &program, settings, mcp: None, environment: &environment };
    let made = Custom::new(settings.clone()).command(spec, &RunFiles::new(spec), &launch);
    (made.argv.join(" "), made.stdin)
}

#[test]
fn the_table_is_followed_to_the_letter() {
    let (mut settings, mut job) = (settings(), spec());
    job.extra_args = vec!["--role".into()];
    assert_eq!(argv(&settings, &job), ("python3 agent.py {prompt_file} --write --role".into(), StdinPlan::Prompt));
    job.mode = Mode::Analysis;
    job.resume = Some("s 1".into());
    settings.prompt = PromptVia::File;
    let wanted = "python3 agent.py /w/s/.planex/runs/wpx-auth-T1/prompt.md --read-only --role --resume s 1";
    assert_eq!(argv(&settings, &job), (wanted.into(), StdinPlan::Null));
    settings.resume_args = None;
    assert!(!argv(&settings, &job).0.contains("--resume"));
}

#[test]
fn the_known_program_can_be_replaced() {
    let made = build(&crate::adapters::codex::Codex, "/opt/codex", &spec(), &AgentSettings::default(), None, &[]);
    assert_eq!(made.argv[0], "/opt/codex");
}

#[test]
fn its_end_is_its_exit() {
    let agent = Custom::new(settings());
    let (_, ending) = read(&agent, "a\nb", Exit::Code(0), "");
    assert!(ending.well);
    assert_eq!((ending.text.as_str(), ending.session.as_deref()), ("a\nb\n", Some("wpx-auth-T1")));
    let fault = read(&agent, "a", Exit::Code(3), "warning\nrate limit reached\n").1.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::RateLimited);
    assert!(fault.message.contains("exit code 3"), "{fault:?}");
    assert!(!read(&agent, "", Exit::Signal(9), "").1.well);
}

#[test]
fn of_a_long_output_the_end_is_kept() {
    let agent = Custom::new(settings());
    let long = format!("{}\nlast", "日本語\n".repeat(MAX_TEXT / 5));
    let ending = read(&agent, &long, Exit::Code(0), "").1;
    assert!(ending.text.len() <= MAX_TEXT && ending.text.ends_with("last\n"));
}
