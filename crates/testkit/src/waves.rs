//! What tests of whole waves sessions share: the first phases of a script, and a look at what is left of a session.

use std::fs;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::TestEnv;
use crate::env::must;

/// Rules of a script: one angle, and these tasks.
#[must_use]
pub fn planning(tasks: &[Value]) -> Vec<Value> {
    vec![
        json!({"when": {"role": "assess"}, "do": [{"reply": {"type": "feature", "complexity": "Low", "angles": [
            {"id": "E1", "angle": "architecture", "description": "d", "focus": "main"}]}}]}),
        json!({"when": {"role": "explore"}, "do": ["completed"]}),
        json!({"when": {"role": "plan"}, "do": [{"reply": {"tasks": tasks}}]}),
    ]
}

/// A task that writes its own file, `out/{id}.txt`.
#[must_use]
pub fn task(id: &str, deps: &[&str]) -> Value {
    json!({"id": id, "title": format!("Make {id}"), "description": format!("Write out/{id}.txt"),
           "scope": format!("out/{id}.txt"), "test": "", "acceptance_criteria": "", "hints": "",
           "execution_directives": "", "deps": deps, "context_from": ["E1"]})
}

/// The folder of the only waves session of the project in the working folder.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn session(env: &TestEnv) -> Utf8PathBuf {
    let folder = env.dir().join(".workflow/.lite-plan");
    let entries = must(folder.as_str(), folder.read_dir_utf8()).flatten();
    let mut sessions = entries.filter(|entry| !entry.file_name().starts_with('.')).map(|entry| entry.path().to_owned());
    must("find a session", sessions.next().ok_or("there is none"))
}

/// Processes that run in this place, by the home folder in their environment or their working folder.
///
/// # Panics
/// When the system does not list processes.
#[must_use]
pub fn left(env: &TestEnv) -> Vec<String> {
    let root = env.root().as_str().as_bytes();
    let mut found = Vec::new();
    for entry in must("/proc", fs::read_dir("/proc")).flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        let cwd = fs::read_link(entry.path().join("cwd")).map(|path| path.into_os_string().into_encoded_bytes());
        let here = environ.windows(root.len()).any(|part| part == root) || cwd.is_ok_and(|cwd| cwd.starts_with(root));
        if here && pid != std::process::id() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

/// Waits until nothing runs here any more, at most as long as the specification allows after the death of planex.
///
/// # Panics
/// When something still runs then.
pub fn nothing_left(env: &TestEnv) {
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
