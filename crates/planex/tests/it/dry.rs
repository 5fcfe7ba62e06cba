//! `--dry-run`: everything is shown, nothing is started, nothing changes.

use planex_testkit::TestEnv;

use crate::{exits, ok, planex};

/// A project with an agent that leaves a mark when it is started.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/login.py", "def login(user):\n    return user\n");
    env.write("tests/test_login.py", "from src.login import login\n\ndef test_login():\n    assert login(1) == 1\n");
    env.script("marks", &format!("#!/bin/sh\ntouch {}/started\n", env.root()));
    env.write("planex.toml", format!("[agents.mine]\ncommand = [\"{}/marks\", \"--some thing\"]\n", env.bin()));
    ok(&env, &["trust"]);
    env
}

fn untouched(env: &TestEnv) {
    assert!(!env.exists(".workflow") && !env.exists("../started"), "nothing is made, nobody is started");
}

const REQUIREMENT: &str = "Add a rate limit to login";

#[test]
fn waves_shows_angles_tasks_prompts_and_what_it_comes_to() {
    let env = project();
    let output = ok(&env, &["waves", "--dry-run", "--agent", "mine", REQUIREMENT]).stdout;
    for part in ["Angles", "[E1] ", "Wave 1", "[T1] ", "scope ", "Prompts", "execute T1: mine, write mode, ", "tokens"]
    {
        assert!(output.contains(part), "{part}: {output}");
    }
    untouched(&env);
    let json = planex(&env, &["waves", "--dry-run", "--json", "--agent", "mine", REQUIREMENT]).output().success();
    let [preview] = &json.json_lines()[..] else { panic!("one object: {}", json.stdout) };
    let jobs = preview["jobs"].as_array().unwrap();
    let tasks = preview["tasks"].as_array().unwrap().len();
    let angles = preview["angles"].as_array().unwrap().len();
    assert_eq!(jobs.len(), 2 + angles + tasks, "{preview}");
    assert_eq!(preview["estimate"]["agent_jobs"], jobs.len(), "{preview}");
    let prompt = jobs.last().unwrap()["prompt"].as_str().unwrap();
    assert!(prompt.contains("[Explore ") && prompt.contains("discoveries"), "{prompt}");
    let bytes: usize = jobs.iter().map(|job| job["prompt"].as_str().unwrap().len()).sum();
    let tokens = usize::try_from(preview["estimate"]["prompt_tokens"].as_u64().unwrap()).unwrap();
    assert!(tokens >= bytes / 4 && tokens <= bytes / 4 + jobs.len(), "{tokens} of {bytes}");
    untouched(&env);
}

#[test]
fn verbose_shows_whole_prompts_and_no_explore_has_no_angles() {
    let env = project();
    let args = ["waves", "--dry-run", "--no-explore", "--agent", "mine", REQUIREMENT];
    let short = ok(&env, &args).stdout;
    assert!(!short.contains("Angles") && !short.contains("explore E1"), "{short}");
    let whole = planex(&env, &args).args(["-v"]).output().success().stdout;
    assert!(whole.lines().count() > short.lines().count() + 20, "{whole}");
}

#[test]
fn planex_itself_costs_nothing_and_nobody_to_execute_is_said() {
    let env = project();
    let output = planex(&env, &["waves", "--dry-run", "--agent", "native", REQUIREMENT]).output().success();
    assert!(output.stdout.contains("execute T1: nobody"), "{}", output.stdout);
    assert!(output.stderr.contains("cannot fill the role execute"), "{}", output.stderr);
    untouched(&env);
}

#[test]
fn one_job_is_shown_as_a_command_line() {
    let env = project();
    let run = ["agent", "run", "--dry-run", "--mode", "write", "--tool", "mine", "-p", "hello there"];
    let output = ok(&env, &run);
    assert_eq!(output.stdout, format!("{}/marks '--some thing'\nhello there\n", env.bin()));
    let json = planex(&env, &run).args(["--json"]).output().success().json_lines();
    assert_eq!((&json[0]["agent"], &json[0]["prompt_on_stdin"]), (&"mine".into(), &true.into()), "{json:?}");
    untouched(&env);
}

#[test]
fn what_has_no_dry_run_says_so_and_does_nothing() {
    let env = project();
    for args in [
        &["demo", "--dry-run"][..],
        &["agent", "check", "mine", "--dry-run"],
        &["waves", "--continue", "--dry-run"],
        &["resume", "--dry-run"],
    ] {
        let output = exits(&env, args, 2);
        assert!(
            output.stderr.contains("dry-run") || output.stderr.contains("runs jobs"),
            "{args:?}: {}",
            output.stderr
        );
        untouched(&env);
    }
}
