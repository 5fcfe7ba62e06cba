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

#[test]
fn tools_of_the_reference_system_give_models_and_names() {
    let env = TestEnv::new();
    let tools = r#"{"tools": {"gemini": {"enabled": true, "primaryModel": "g-pro"}, "other": {"enabled": true},
        "off": {"enabled": false}, "codex": {"enabled": true, "primaryModel": "c-one"}}}"#;
    env.write("../home/.claude/cli-tools.json", tools);
    env.write("../home/.config/planex/config.toml", "[agents.codex]\nmodel = \"mine\"\n");
    let config = ok(&env, &["config", "show"]).stdout;
    let line = |name: &str| config.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(line("agents.gemini.model = g-pro").ends_with("# cli-tools.json"), "{config}");
    assert!(line("agents.codex.model").starts_with("agents.codex.model = mine"), "{config}");
    let list = ok(&env, &["agent", "list"]);
    assert!(list.stdout.contains("other") && !list.stdout.contains("off "), "{}", list.stdout);
    let said = "other: named by cli-tools.json, no command: set [agents.other]";
    assert!(list.stderr.contains(said), "{}", list.stderr);
    // The model of the file is an argument of the agent's command.
    env.script("gemini", "#!/bin/sh\necho 1.0.0\n");
    let run = ["agent", "run", "--dry-run", "--tool", "gemini", "-p", "x"];
    let shown = planex(&env, &run).env("GEMINI_API_KEY", "dummy").output().success().stdout;
    assert!(shown.contains("g-pro"), "{shown}");
    // Nonsense stops nothing.
    env.write("../home/.claude/cli-tools.json", "{");
    ok(&env, &["config", "show"]);
}
