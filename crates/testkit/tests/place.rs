//! A test's place is its own.

#![cfg(unix)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use planex_testkit::TestEnv;

#[test]
fn nothing_of_the_outer_environment_comes_in() {
    let env = TestEnv::new();
    let output = env.command("env").output().success();
    let names: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo sets it for tests");
    assert!(names.iter().all(|name| env.vars().contains_key(*name)), "{names:?}");
    let home = env.home();
    assert!(output.stdout.contains(&format!("HOME={home}\n")));
}

#[test]
fn the_developers_agents_are_not_found() {
    let env = TestEnv::new();
    for agent in ["codex", "claude", "gemini", "opencode", "qwen", "planex"] {
        let _ = env.sh(&format!("command -v {agent}")).exits(127);
    }
    let _ = env.sh("command -v git sh").success();
    env.script("codex", "#!/bin/sh\necho fake \"$@\"\n");
    assert_eq!(env.command("codex").arg("a b").output().success().stdout, "fake a b\n");
}

#[test]
fn repositories_are_the_same_every_time() {
    let commit = || {
        let env = TestEnv::new();
        env.write("src/a.txt", "a\n");
        let commit = env.git_init();
        assert_eq!(env.git(&["status", "--porcelain"]), "");
        assert_eq!(env.git(&["log", "--format=%an %s"]), "Test start");
        commit
    };
    assert_eq!(commit(), commit());
}

#[test]
fn input_output_and_codes() {
    let env = TestEnv::new();
    let output = env.command("sh").args(["-c", "cat; echo oops >&2; exit 3"]).stdin("in").output().exits(3);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("in", "oops\n"));
    let wrong = catch_unwind(AssertUnwindSafe(|| env.sh("echo said; exit 1").success())).unwrap_err();
    assert!(wrong.downcast_ref::<String>().unwrap().contains("said"), "the output is part of the message");
}

#[test]
fn programs_without_end_are_killed() {
    let env = TestEnv::new();
    let run = env.command("sh").args(["-c", "echo before; sleep 60 & wait"]).timeout(Duration::from_millis(200));
    let wrong = catch_unwind(AssertUnwindSafe(|| run.output())).unwrap_err();
    let message = wrong.downcast_ref::<String>().unwrap();
    assert!(message.contains("did not end within 200ms") && message.contains("before"), "{message}");
}

#[test]
fn the_place_is_gone_afterwards() {
    let env = TestEnv::new();
    let root = env.root().to_owned();
    assert!(root.exists());
    drop(env);
    assert!(!root.exists());
}
