//! Passing the gates of the workflow: an answer for exactly what is shown, or no way through (spec 20, spec 70).

use planex_core::gate::Gate;
use planex_core::rows::{ExploreRow, RowStatus, Sheet, TaskPlan, TaskRow, approval_hash};
use planex_core::settings::Into as Destination;

use super::commands::Commands;
use super::gates::{self, CONFIRM};
use super::{Flow, Leave, Walk};
use crate::error::Result;
use crate::gate::GateResult;
use crate::ground::Ground;

impl Flow<'_> {
    /// The gate after phase 1, unless exactly these angles were approved, or exploring has begun.
    pub(super) fn approve_angles(&mut self) -> Walk {
        let sheet = self.read_explore()?;
        let begun = sheet.rows.iter().any(|row| row.status != RowStatus::Pending);
        let hash = approval_hash(&sheet, &[]);
        if begun || self.is_approved(gates::ANGLES, "approve", &hash)? {
            return Ok(());
        }
        let file = self.shown(&self.driver.session.paths.explore_csv());
        let gate = gates::angles(&sheet.rows, hash, &file, self.engine.clock.now());
        match self.ask(gate)?.as_str() {
            "approve" => Ok(()),
            "modify" => Err(Leave::Modify(self.driver.session.paths.explore_csv())),
            _ => Err(Leave::Cancelled),
        }
    }

    /// The gate before execution. Passed without asking only if exactly this plan was approved before.
    pub(super) async fn approve_tasks(&mut self) -> Walk {
        let (sheet, plan) = self.read_tasks()?;
        if sheet.rows.iter().all(|row| row.status != RowStatus::Pending) {
            return Ok(());
        }
        let commands = self.commands(&sheet)?;
        let hash = self.approval(&sheet, &commands)?;
        if !self.confirm && self.is_approved(gates::TASKS, "execute", &hash)? {
            return Ok(());
        }
        self.confirm = false;
        let explorations = self.explorations()?;
        let notes = self.gate_notes(&explorations).await?;
        let file = self.shown(&self.driver.session.paths.tasks_csv());
        let show = gates::Plan {
            explorations: &explorations,
            sheet: &sheet,
            plan: &plan,
            notes: &notes,
            hash,
            file: &file,
            explored: self.explores,
            commands: &commands,
        };
        let gate = gates::tasks(&show, self.engine.clock.now());
        match self.ask(gate)?.as_str() {
            "execute" => Ok(self.decide(&sheet, &commands)?),
            "modify" => Err(Leave::Modify(self.driver.session.paths.tasks_csv())),
            _ => Err(Leave::Cancelled),
        }
    }

    /// Hash of what an approval covers: the tasks, the commands that planex runs, and the terms on which it does: a resume
    /// with other options has to ask again.
    pub(super) fn approval(&mut self, sheet: &Sheet<TaskRow>, commands: &Commands) -> Result<String> {
        let place = if self.ground()?.trees().is_some() { "trees" } else { "shared" };
        let scope = if self.enforces() { "enforce" } else { "warn" };
        let terms = format!("isolation {place}; scope {scope}");
        Ok(approval_hash(sheet, &[commands.all(sheet), vec![terms]].concat()))
    }

    /// What the user must know before saying yes, beside the plan itself.
    async fn gate_notes(&mut self, explorations: &[ExploreRow]) -> Result<Vec<String>> {
        let mut notes = self.notes.clone();
        if self.explores && !explorations.iter().any(|row| row.status == RowStatus::Completed) {
            notes.push("no exploration succeeded: the plan comes from the requirement alone".to_owned());
        }
        notes.extend(self.ground_notes()?);
        match self.executor().await {
            Ok(agent) => notes.push(format!("tasks run on {agent}")),
            Err(error) => notes.push(format!("nothing can run yet: {}", error.message)),
        }
        Ok(notes)
    }

    /// Where tasks work and where their results go.
    fn ground_notes(&mut self) -> Result<Vec<String>> {
        let ground = self.ground()?;
        let trees = match &ground {
            Ground::Shared(why) => {
                return Ok(vec![format!(
                    "isolation none ({why}): all tasks work in this folder, beside each other and beside you"
                )]);
            }
            Ground::Trees(trees) => trees,
        };
        let where_to = match &trees.into {
            Destination::Tree => "your working tree, wave by wave".to_owned(),
            Destination::Branch(name) => format!("the branch {name}; your working tree stays as it is"),
            Destination::Patch => "a patch; your working tree stays as it is".to_owned(),
        };
        let mut notes = vec![format!("each task works in a tree of its own; results go into {where_to}")];
        if !self.enforces() {
            notes.push("changes outside of a task's scope are merged and reported".to_owned());
        }
        if !self.verifies() {
            notes.push("planex runs no commands of tasks: what they say about their tests is believed".to_owned());
        }
        Ok(notes)
    }

    /// Opens a gate of one question and gives the option that was chosen.
    pub(super) fn ask(&mut self, mut gate: Gate) -> Walk<String> {
        gate.id = self.driver.gates.id(&gate.id, gate.approves.as_deref())?;
        match self.driver.gates.open(gate)? {
            GateResult::Passed(answer) => Ok(answer.option(CONFIRM).unwrap_or_default().to_owned()),
            GateResult::Deferred(gate) => Err(Leave::AtGate(Box::new(gate))),
        }
    }

    pub(super) fn shown(&self, path: &camino::Utf8Path) -> String {
        path.strip_prefix(&self.engine.project.root).unwrap_or(path).to_string()
    }
}

/// A plan that is read from its file: rows and what follows from them.
pub(super) type ReadTasks = (Sheet<TaskRow>, TaskPlan);
