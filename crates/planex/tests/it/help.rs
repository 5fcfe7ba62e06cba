//! Help, completions, man pages.

use planex_testkit::TestEnv;

use crate::{ok, planex};

const COMMANDS: [&str; 26] = [
    "waves",
    "fanout",
    "explore",
    "resume",
    "answer",
    "sessions",
    "logs",
    "usage",
    "cancel",
    "skip",
    "undo",
    "patch",
    "pause",
    "note",
    "discoveries",
    "agent",
    "spec",
    "config",
    "trust",
    "schema",
    "mcp",
    "init",
    "doctor",
    "demo",
    "completions",
    "man",
];

#[test]
fn every_command_of_this_part_and_no_other_is_offered() {
    let env = TestEnv::new();
    let help = planex(&env, &["--help"]).output().success().stdout;
    let listed: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(listed, COMMANDS);
}

#[test]
fn help_is_there_for_everything_and_common_options_stand_on_both_sides() {
    let env = TestEnv::new();
    for command in COMMANDS {
        let help = planex(&env, &[command, "--help"]).output().success().stdout;
        assert!(help.contains("Usage: planex ") && help.contains("Common options:"), "{command}: {help}");
    }
    let outputs =
        [["--json", "config", "get", "lang"], ["config", "get", "lang", "--json"], ["config", "--json", "get", "lang"]]
            .map(|args| planex(&env, &args).output().success().stdout);
    assert!(outputs.iter().all(|output| output.starts_with('{') && *output == outputs[0]), "{outputs:?}");
}

#[test]
fn a_closed_pipe_is_success() {
    let env = TestEnv::new();
    let binary = env!("CARGO_BIN_EXE_planex");
    for args in ["--help", "schema execute", "completions bash", "config show"] {
        let line = format!("{{ {binary} {args}; echo \"code $?\" >&2; }} | true");
        let output = env.sh(&line);
        assert!(output.stderr.trim() == "code 0", "{args}: {}", output.stderr);
    }
}

#[test]
fn completions_and_man_pages_cover_all_commands() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = planex(&env, &["completions", shell]).output().success().stdout;
        assert!(script.contains("discoveries"), "{shell}");
    }
    assert!(planex(&env, &["man"]).output().success().stdout.contains(".TH planex"));
    ok(&env, &["man", "--out", "man"]);
    for page in ["planex.1", "planex-waves.1", "planex-agent-run.1", "planex-sessions-prune.1"] {
        assert!(env.exists(format!("man/{page}")), "{page}");
    }
}

#[test]
fn help_comes_at_once() {
    let env = TestEnv::new();
    // Generous, so that a busy machine does not fail it: what it catches is a runtime, a guardian or a walk.
    let quickest = (0..5).map(|_| planex(&env, &["--help"]).output().success().duration).min().unwrap();
    assert!(quickest < std::time::Duration::from_millis(250), "{quickest:?}");
}
