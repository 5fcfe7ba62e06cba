//! The test's side: writes the script, names the command, reads what was recorded.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::context::RecordedRun;
use super::format::AgentScript;
use crate::bins::scripted_agent;
use crate::env::must;

/// A scripted agent with its script on disk.
#[derive(Debug, Clone)]
pub struct ScriptedAgent {
    program: Utf8PathBuf,
    script: Utf8PathBuf,
}

impl ScriptedAgent {
    /// Writes the script into `folder`, which is better not the one that the agent works in.
    ///
    /// # Panics
    /// When the script is not one, or cannot be written.
    #[must_use]
    pub fn new(folder: &Utf8Path, script: &Value) -> Self {
        let parsed: Result<AgentScript, _> = serde_json::from_value(script.clone());
        must("read the script", parsed);
        let file = folder.join("agent-script.json");
        must(folder.as_str(), fs::create_dir_all(folder));
        must(file.as_str(), fs::write(&file, script.to_string()));
        Self { program: scripted_agent(), script: file }
    }

    /// Its command: for `command` of an `[agents.NAME]` table.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        vec![self.program.to_string(), "--script".to_owned(), self.script.to_string()]
    }

    /// Its table for a configuration file, with a way to resume.
    #[must_use]
    pub fn toml(&self, name: &str) -> String {
        let command: Vec<String> = self.command().iter().map(|word| Value::from(word.as_str()).to_string()).collect();
        format!("[agents.{name}]\ncommand = [{}]\nresume_args = [\"--resume\", \"{{session}}\"]\n", command.join(", "))
    }

    /// Every run so far, by role, id and attempt.
    ///
    /// # Panics
    /// When a record is broken.
    #[must_use]
    pub fn runs(&self) -> Vec<RecordedRun> {
        let state = Utf8PathBuf::from(format!("{}.state", self.script));
        let Ok(entries) = state.read_dir_utf8() else { return Vec::new() };
        let files = entries.flatten().map(|entry| entry.path().to_owned());
        let records = files
            .filter(|path| path.extension() == Some("json") && !path.file_name().unwrap_or_default().starts_with('.'));
        let mut runs: Vec<RecordedRun> = records
            .map(|path| {
                let text = must(path.as_str(), fs::read_to_string(&path));
                must(path.as_str(), serde_json::from_str(&text))
            })
            .collect();
        runs.sort_by(|a, b| (&a.role, &a.id, a.attempt).cmp(&(&b.role, &b.id, b.attempt)));
        runs
    }
}
