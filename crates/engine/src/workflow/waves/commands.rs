//! Which commands planex runs to verify each task: decided before the gate, shown there, and kept as approved.
//!
//! What is a command depends on the programs and files that are there. A task may create the very script that a later
//! one runs: so what was decided at the approval stays decided while the text of the row is the same.

use std::collections::{BTreeMap, HashMap};

use planex_core::command::Directives;
use planex_core::rows::{Sheet, TaskRow};
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use super::Flow;
use crate::error::{EngineError, Result};
use crate::verify::is_program;

/// A row's directives as they were read at the approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Decided {
    text: String,
    directives: Directives,
}

/// The directives of every task, by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Commands {
    by_task: BTreeMap<String, Directives>,
    baseline: Option<String>,
}

/// What was decided at the approval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Decisions {
    tasks: BTreeMap<String, Decided>,
    /// The project's own test command, or that there is none to run.
    baseline: Option<String>,
}

impl Commands {
    /// All of them, in the order of the tasks: what an approval covers.
    pub(super) fn all(&self, sheet: &Sheet<TaskRow>) -> Vec<String> {
        self.baseline.iter().cloned().chain(sheet.rows.iter().flat_map(|row| self.of(&row.id).to_vec())).collect()
    }

    /// The project's own test command, which runs once before any change counts.
    pub(super) fn baseline(&self) -> Option<&str> {
        self.baseline.as_deref()
    }

    /// Those of one task.
    pub(super) fn of(&self, task: &str) -> &[String] {
        self.by_task.get(task).map(|read| read.commands.as_slice()).unwrap_or_default()
    }

    /// What is said to the agent only.
    pub(super) fn advice_of(&self, task: &str) -> &[String] {
        self.by_task.get(task).map(|read| read.advice.as_slice()).unwrap_or_default()
    }

    /// As the watch of a wave wants them.
    pub(super) fn map(&self) -> HashMap<String, Vec<String>> {
        self.by_task.iter().map(|(task, read)| (task.clone(), read.commands.clone())).collect()
    }
}

impl Flow<'_> {
    /// The commands of every task as they stand now; nothing where planex does not verify.
    pub(super) fn commands(&self, sheet: &Sheet<TaskRow>) -> Result<Commands> {
        let verifies = self.verifies();
        let decided = self.decided()?;
        let tasks = decided.as_ref().map(|decided| &decided.tasks);
        let read = |row: &TaskRow| match tasks.and_then(|tasks| tasks.get(&row.id)) {
            Some(known) if known.text == row.execution_directives => known.directives.clone(),
            _ => Directives::read(&row.execution_directives, |word| {
                is_program(word, &self.engine.env, &self.engine.project.root)
            }),
        };
        let by_task = sheet.rows.iter().map(|row| {
            let mut directives = read(row);
            if !verifies {
                directives.advice.append(&mut directives.commands);
            }
            (row.id.clone(), directives)
        });
        let by_task = by_task.collect();
        let baseline = match &decided {
            Some(decided) if verifies && self.engine.settings.isolation.baseline => decided.baseline.clone(),
            Some(_) => None,
            None => self.baseline_command()?,
        };
        Ok(Commands { by_task, baseline })
    }

    /// Whether planex runs commands itself.
    pub(super) fn verifies(&self) -> bool {
        self.engine.settings.isolation.verify && self.engine.guardian.is_some()
    }

    /// Keeps what was decided, right after its approval.
    pub(super) fn decide(&self, sheet: &Sheet<TaskRow>, commands: &Commands) -> Result<()> {
        let tasks: BTreeMap<String, Decided> = sheet
            .rows
            .iter()
            .filter_map(|row| {
                let directives = commands.by_task.get(&row.id)?.clone();
                Some((row.id.clone(), Decided { text: row.execution_directives.clone(), directives }))
            })
            .collect();
        let decided = Decisions { tasks, baseline: commands.baseline.clone() };
        let text = serde_json::to_vec_pretty(&decided).map_err(EngineError::internal)?;
        Ok(fs::write_atomic(&self.driver.session.paths.commands(), &text)?)
    }

    fn decided(&self) -> Result<Option<Decisions>> {
        let bytes = fs::read_if_exists(&self.driver.session.paths.commands())?;
        // A file that is not whole decides nothing: the gate shows what is decided anew.
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}
