//! A wave's commands in the tree that its tasks share in the end: once more in the merged one, or, without isolation,
//! in the user's (spec 70, *Truth over claims*).

use std::collections::BTreeMap;
use std::sync::Arc;

use planex_core::event::Level;
use planex_core::job::JobOutcome;
use planex_core::rows::{Sheet, TaskRow};

use super::execute::Wave;
use super::{Flow, Leave, Walk};
use crate::ground::book::{Phase, WaveBook};
use crate::ground::{Trees, claims_success, not_run_of};
use crate::run::Ended;
use crate::verify::{self, Check, CheckContext};

/// Name of the tree; no task has such an id.
const MERGED: &str = ".merged";

/// What the commands of tasks came to, by the task's place in its wave.
pub(super) type Checks = BTreeMap<usize, Vec<Check>>;

impl Flow<'_> {
    /// Without isolation: runs the commands of tasks that say they did well, one after another, once all have ended.
    pub(super) async fn check_shared(
        &mut self,
        sheet: &Sheet<TaskRow>,
        wave: &Wave,
        done: &BTreeMap<usize, (JobOutcome, Ended)>,
    ) -> Walk<Checks> {
        let mut all = Checks::new();
        let commands = self.commands(sheet)?;
        let Some(context) = self.engine.check_context(&self.driver.session.paths) else { return Ok(all) };
        let mut not_run = Vec::new();
        for (place, (outcome, _)) in done {
            let Some(row) = wave.rows.get(*place).and_then(|index| sheet.rows.get(*index)) else { continue };
            let commands = commands.of(&row.id);
            if commands.is_empty() || !claims_success(outcome) {
                continue;
            }
            let logs = self.driver.session.paths.checks(&outcome.run_id);
            let context = CheckContext { name: "check".to_owned(), logs, ..context.clone() };
            let mut checks = verify::run_checks(&context, commands, self.engine.cancel.end()).await;
            self.excuse(&mut checks)?;
            if self.engine.cancel.is_cancelled() {
                return Err(Leave::Interrupted);
            }
            not_run.push((row.id.clone(), not_run_of(&checks)));
            all.insert(*place, checks);
        }
        self.ask_about_unverified(not_run)?;
        Ok(all)
    }

    /// Runs the commands of merged tasks in the merged tree, unless that is the tree in which they ran already.
    pub(super) async fn check_merged(&mut self, trees: &Arc<Trees>, book: &mut WaveBook) -> Walk {
        let merged: Vec<String> =
            book.tasks.iter().filter(|(_, entry)| entry.merged).map(|(task, _)| task.clone()).collect();
        let (sheet, _) = self.read_tasks()?;
        let commands = self.commands(&sheet)?;
        let due = merged.iter().any(|task| !commands.of(task).is_empty());
        let done = book.tasks.values().any(|entry| !entry.after.is_empty());
        if !due || done || book.phase != Phase::Written || self.is_one_tasks_tree(trees, book)? {
            return Ok(());
        }
        let Some(context) = self.engine.check_context(&self.driver.session.paths) else { return Ok(()) };
        self.driver.events.notice(Level::Info, format!("wave {}: checking the merged tree", book.wave));
        let (maker, commit, placed) = (Arc::clone(trees), book.integration.clone(), book.placed.clone());
        let tree = tokio::task::spawn_blocking(move || maker.make(MERGED, &commit, &placed))
            .await
            .map_err(crate::EngineError::internal)??;
        let mut env = context.env.clone();
        env.extend(trees.environment(&tree));
        let context = CheckContext {
            env,
            cwd: trees.project_in(&tree),
            logs: self.driver.session.paths.checks(&format!("merged-{:04}", book.seq)),
            ..context
        };
        for task in merged {
            let context = CheckContext { name: task.clone(), ..context.clone() };
            let mut checks = verify::run_checks(&context, commands.of(&task), self.engine.cancel.end()).await;
            self.excuse(&mut checks)?;
            if self.engine.cancel.is_cancelled() {
                return Err(Leave::Interrupted);
            }
            if let Some(entry) = book.tasks.get_mut(&task) {
                entry.after = checks;
            }
        }
        trees.give_back(MERGED);
        book.save(&self.driver.session.paths)?;
        Ok(())
    }

    /// Whether the merged tree is exactly the one tree of one task: its commands would say the same again.
    fn is_one_tasks_tree(&self, trees: &Trees, book: &WaveBook) -> crate::Result<bool> {
        let mut merged = book.tasks.values().filter(|entry| entry.merged);
        let (Some(first), None) = (merged.next(), merged.next()) else { return Ok(false) };
        let Some(commit) = &first.commit else { return Ok(false) };
        Ok(trees.repo.changes(commit, &book.integration, &trees.scratch())?.is_empty())
    }
}
