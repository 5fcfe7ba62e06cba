//! `planex waves` with the real codex and the real claude (pinned, from npm) against a scripted model on loopback.
//!
//! `cargo xtask test` installs the agents; without them these tests fail, they are never skipped.

#![expect(clippy::unwrap_used, reason = "tests: what fails here fails the test")]

mod fanout;
mod waves;

use std::time::Duration;

use planex_testkit::{ModelServer, Output, TestEnv};

/// The binary, with its agents pointed at the scripted model.
fn planex(env: &TestEnv, args: &[&str]) -> Output {
    env.command(env!("CARGO_BIN_EXE_planex")).args(args).timeout(Duration::from_secs(240)).output()
}

/// A git repository with a bit of code, real agents on PATH, and the scripted model behind them.
fn project(server: &ModelServer, agents: &[&str]) -> TestEnv {
    let mut env = TestEnv::new();
    env.use_model(server);
    env.use_agents(agents);
    env.write("src/lib.rs", "pub mod store;\n\n/// Greets.\npub fn greet() -> &'static str {\n    \"hello\"\n}\n");
    env.write("src/store.rs", "/// Keeps notes.\npub struct Store;\n");
    env.write("Cargo.toml", "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    env.git_init();
    env
}
