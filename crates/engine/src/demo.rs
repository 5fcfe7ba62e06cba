//! The sample project of `planex demo` and the recorded answers of its agents.
//!
//! The answers are recorded; what they lead to is not: files are changed, tests run, gates asked, results merged. One
//! task fails at its first try and passes at its second, so that a retry can be shown.

use camino::Utf8Path;
use planex_agents::replay::Recording;
use planex_sys::env::Environment;
use planex_sys::fs;
use planex_sys::git::Git;

use crate::error::{EngineError, Result};

/// The requirement of the demo.
pub const REQUIREMENT: &str = "Add tags to notes, and a command that finds notes by tag";

/// Files of the sample project.
const FILES: [(&str, &str); 5] = [
    ("README.md", include_str!("../demo/project/README.md")),
    ("bin/jot", include_str!("../demo/project/bin/jot")),
    ("lib/store.sh", include_str!("../demo/project/lib/store.sh")),
    ("tests/list_test.sh", include_str!("../demo/project/tests/list_test.sh")),
    ("tests/run.sh", include_str!("../demo/project/tests/run.sh")),
];

/// Writes the sample project into an empty or new folder: a git repository where there is git, so that each task has a
/// tree of its own.
///
/// # Errors
/// The folder is not empty, or can't be written.
pub fn write_project(dir: &Utf8Path, env: &Environment) -> Result<()> {
    if fs::is_dir(dir) && !fs::list(dir)?.is_empty() {
        return Err(EngineError::usage(format!("{dir} is not empty")).hint("name a new folder for the sample project"));
    }
    // A project of its own, wherever it lies: below another repository, too.
    fs::create_dir_all(&dir.join(".workflow"))?;
    for (path, content) in FILES {
        let file = dir.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write_atomic(&file, content.as_bytes())?;
    }
    // Without git the demo runs as well: tasks share the folder then, and the gate says so.
    if let Err(error) = Git::create(dir, env, "A small notebook") {
        tracing::info!("the sample project is no git repository: {error}");
    }
    Ok(())
}

/// The recorded answers.
///
/// # Errors
/// The recording in this binary is broken.
pub fn recording() -> Result<Recording> {
    serde_json::from_str(include_str!("../demo/recording.json")).map_err(EngineError::internal)
}

#[cfg(test)]
mod tests {
    use planex_agents::replay::{Change, Step};
    use planex_core::job::Role;
    use planex_sys::process::{CommandSpec, run};
    use serde_json::Value;

    use super::*;

    fn apply(dir: &Utf8Path, step: &Step) {
        for edit in &step.edits {
            let path = dir.join(&edit.path);
            match &edit.change {
                Change::Content(text) => fs::write_atomic(&path, text.as_bytes()).unwrap(),
                Change::Replace { old, new } => {
                    let text = fs::read_to_string(&path).unwrap();
                    assert!(text.contains(old.as_str()), "{path}");
                    fs::write_atomic(&path, text.replace(old.as_str(), new).as_bytes()).unwrap();
                }
                Change::Delete(_) => fs::remove_file(&path).unwrap(),
            }
        }
    }

    /// Runs a step's own commands.
    fn passes(dir: &Utf8Path, argv: &[String]) -> bool {
        let spec = CommandSpec {
            argv: argv.to_vec(),
            env: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            cwd: dir.to_owned(),
            stdin: Vec::new(),
            limit: std::time::Duration::from_secs(60),
            output_cap: 10_000,
        };
        run(&spec).unwrap().success()
    }

    /// What the recording claims of the tests is what the tests say.
    #[test]
    fn recorded_claims_are_true() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temp.path()).unwrap();
        write_project(dir, &Environment::default()).unwrap();
        assert!(passes(dir, &["sh".into(), "tests/run.sh".into()]), "the sample project is green before");
        let recording = recording().unwrap();
        for (item, attempt) in [("T1", 1), ("T2", 1), ("T3", 1), ("T2", 2), ("T4", 1)] {
            let step = recording.step_for(Role::Execute, item, attempt).unwrap();
            apply(dir, step);
            let claimed = step.result.get("tests_passed").and_then(Value::as_bool).unwrap();
            assert_eq!(step.run.iter().all(|argv| passes(dir, argv)), claimed, "{item}, attempt {attempt}");
        }
    }

    #[test]
    fn a_folder_with_files_is_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temp.path()).unwrap();
        fs::write_atomic(&dir.join("mine"), b"x").unwrap();
        assert!(write_project(dir, &Environment::default()).is_err());
    }
}
