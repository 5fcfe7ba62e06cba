//! planex under kills, and against agents that hang, fork, flood and lie. Real processes throughout.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests: what fails here fails the test"
)]

mod agents;
mod kills;

use std::time::Duration;

use planex_core::csv::Table;
use planex_testkit::scripted::ScriptedAgent;
use planex_testkit::waves::session;
use planex_testkit::{Output, Run, TestEnv};
use serde_json::Value;

/// The binary, with the scripted agent as its only one.
fn planex(env: &TestEnv, args: &[&str]) -> Run {
    env.command(env!("CARGO_BIN_EXE_planex")).args(args).args(["--agent", "scripted"]).timeout(Duration::from_secs(120))
}

/// A git project whose user configuration names the scripted agent.
fn project(script: &Value, more: &str) -> (TestEnv, ScriptedAgent) {
    let env = TestEnv::new();
    let agent = ScriptedAgent::new(&env.root().join("agent"), script);
    env.write(env.home().join(".config/planex/config.toml"), format!("{more}\n{}", agent.toml("scripted")));
    env.write("src/main.rs", "fn main() {}\n");
    env.git_init();
    (env, agent)
}

/// A column of tasks.csv.
fn column(env: &TestEnv, name: &str) -> Vec<String> {
    let table = Table::parse(&std::fs::read(session(env).join("tasks.csv")).unwrap()).unwrap();
    (0..table.rows.len()).map(|row| table.cell(row, name).unwrap().to_owned()).collect()
}

fn said(output: &Output) -> String {
    format!("{}\n{}", output.stdout, output.stderr)
}
