//! Agents: the list, a check, one job kept under an id. The agent here is a script; nothing of a real one is touched.

use planex_testkit::TestEnv;

use crate::{exits, ok, planex};

/// An agent that answers, and says how it was started.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.script(
        "answers",
        "#!/bin/sh\nread -r line\necho \"{\\\"heard\\\": \\\"$line\\\", \\\"mode\\\": \\\"$PLANEX_MODE\\\"}\"\n",
    );
    env.script("breaks", "#!/bin/sh\ncat >/dev/null\necho broken >&2\nexit 3\n");
    let command = |name: &str| format!("[agents.{name}]\ncommand = [\"{}/{name}\"]\n", env.bin());
    env.write("planex.toml", command("answers") + &command("breaks"));
    ok(&env, &["trust"]);
    env
}

#[test]
fn one_job_is_kept_under_its_id() {
    let env = project();
    let run = ["agent", "run", "--tool", "answers", "--id", "first", "-p", "hello there"];
    let output = ok(&env, &run);
    assert!(output.stdout.contains("hello there") && output.stdout.contains("analysis"), "{}", output.stdout);
    assert!(env.exists(".workflow/.runs/.planex/runs/first/result.json"));
    let again = exits(&env, &run, 2);
    assert!(again.stderr.contains("there is a run `first` already"), "{}", again.stderr);
    let unknown = exits(&env, &["agent", "run", "--tool", "answers", "--resume", "nothing", "-p", "x"], 2);
    assert!(unknown.stderr.contains("first"), "the known ones are listed: {}", unknown.stderr);
}

#[test]
fn a_job_that_fails_is_five_and_no_agent_is_seven() {
    let env = project();
    let failed = exits(&env, &["agent", "run", "--tool", "breaks", "-p", "x"], 5);
    assert!(failed.stderr.contains("error: "), "{}", failed.stderr);
    let unknown = exits(&env, &["agent", "run", "--tool", "answrs", "-p", "x"], 7);
    assert!(unknown.stderr.contains("answers"), "{}", unknown.stderr);
    exits(&env, &["agent", "run", "--tool", "native", "--mode", "write", "-p", "x"], 7);
}

#[test]
fn check_tells_which_agents_work() {
    let env = project();
    assert!(ok(&env, &["agent", "check", "answers"]).stdout.contains("works"));
    let json = planex(&env, &["agent", "check", "--json"]).output().exits(7).json_lines();
    let works = |name: &str| json.iter().find(|line| line["agent"] == name).and_then(|line| line["works"].as_bool());
    assert_eq!((works("answers"), works("breaks")), (Some(true), Some(false)), "{json:?}");
}

#[test]
fn rules_of_the_project_wrap_the_prompt() {
    let env = project();
    env.write(".workflow/prompts/short.md", "Be short.\n{{ prompt }}\n");
    let output = ok(&env, &["agent", "run", "--tool", "answers", "--rule", "short", "-p", "hello"]);
    assert!(output.stdout.contains("Be short."), "{}", output.stdout);
    let unknown = exits(&env, &["agent", "run", "--tool", "answers", "--rule", "long", "-p", "hello"], 2);
    assert!(unknown.stderr.contains("short"), "{}", unknown.stderr);
}

#[test]
fn the_list_says_how_to_get_what_is_missing() {
    let env = project();
    let output = ok(&env, &["agent", "list"]);
    assert!(output.stdout.contains("native") && output.stdout.contains("answers"), "{}", output.stdout);
    assert!(output.stderr.contains("npm install -g"), "{}", output.stderr);
}
