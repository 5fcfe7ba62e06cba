//! planex under kills, and against agents that hang, fork, flood and lie. Real processes throughout.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests: what fails here fails the test"
)]

mod agents;
mod kills;

use std::time::{Duration, Instant};

use planex_core::csv::Table;
use planex_testkit::scripted::ScriptedAgent;
use planex_testkit::{Output, Run, TestEnv};
use serde_json::{Value, json};

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

/// One angle, and these tasks.
fn planning(tasks: &[Value]) -> Vec<Value> {
    vec![
        json!({"when": {"role": "assess"}, "do": [{"reply": {"type": "feature", "complexity": "Low", "angles": [
            {"id": "E1", "angle": "architecture", "description": "d", "focus": "main"}]}}]}),
        json!({"when": {"role": "explore"}, "do": ["completed"]}),
        json!({"when": {"role": "plan"}, "do": [{"reply": {"tasks": tasks}}]}),
    ]
}

/// A task that writes its own file.
fn task(id: &str, deps: &[&str]) -> Value {
    json!({"id": id, "title": format!("Make {id}"), "description": format!("Write out/{id}.txt"), "scope": format!("out/{id}.txt"),
           "test": "", "acceptance_criteria": "", "hints": "", "execution_directives": "", "deps": deps, "context_from": ["E1"]})
}

/// The folder of the only session.
fn session(env: &TestEnv) -> camino::Utf8PathBuf {
    let folder = env.dir().join(".workflow/.lite-plan");
    let entries = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    folder.join(entries.into_iter().find(|name| !name.starts_with('.')).unwrap())
}

/// A column of tasks.csv.
fn column(env: &TestEnv, name: &str) -> Vec<String> {
    let table = Table::parse(&std::fs::read(session(env).join("tasks.csv")).unwrap()).unwrap();
    (0..table.rows.len()).map(|row| table.cell(row, name).unwrap().to_owned()).collect()
}

fn said(output: &Output) -> String {
    format!("{}\n{}", output.stdout, output.stderr)
}

/// Processes that run in this place, by the home folder in their environment or their working folder.
fn left(env: &TestEnv) -> Vec<String> {
    let root = env.root().as_str().as_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let cwd = std::fs::read_link(entry.path().join("cwd")).map(|path| path.into_os_string().into_encoded_bytes());
        let here = environ.windows(root.len()).any(|part| part == root) || cwd.is_ok_and(|cwd| cwd.starts_with(root));
        if here && pid != std::process::id() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

/// Waits until nothing runs here any more, at most as long as the specification allows after the death of planex.
fn nothing_left(env: &TestEnv) {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let left = left(env);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "left behind: {left:#?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
