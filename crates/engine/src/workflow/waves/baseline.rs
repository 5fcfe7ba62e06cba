//! The project's own tests before the first change, so that nobody is blamed for what was red already (spec 70,
//! *Truth over claims*).
//!
//! With trees of their own the command runs beside the first wave, on the snapshot; without, before the first wave. Its
//! outcome is kept in the session, and is there for every later wave.

use std::sync::Arc;

use planex_core::event::Level;
use planex_core::failures::Compared;
use planex_core::tech::ProjectTech;
use planex_sys::fs;
use tokio::task::JoinHandle;

use super::{Flow, Leave, Walk};
use crate::error::{EngineError, Result};
use crate::ground::book::WaveBook;
use crate::ground::{Trees, some};
use crate::verify::{Baseline, Check, CheckContext, Verdict};

/// Name of the tree; no task has such an id.
const TREE: &str = ".baseline";

/// The run in progress.
pub(super) type Running = JoinHandle<Result<Option<Baseline>>>;

impl Flow<'_> {
    /// The command that an approval is asked for, where planex verifies and the project has one.
    pub(super) fn baseline_command(&self) -> Result<Option<String>> {
        if !self.verifies() || !self.engine.settings.isolation.baseline {
            return Ok(None);
        }
        if let Some(command) = &self.engine.settings.test_command {
            return Ok(Some(command.clone()));
        }
        let file = self.engine.project.workflow().join("project-tech.json");
        let known = fs::read_if_exists(&file)?.and_then(|text| serde_json::from_slice::<ProjectTech>(&text).ok());
        let tech = known.unwrap_or_else(|| self.engine.native.tech());
        Ok(Baseline::command(&tech).map(str::to_owned))
    }

    /// Starts the command beside the first wave, in a tree of its own. Nothing happens if it ran already.
    pub(super) fn start_baseline(&mut self, trees: &Arc<Trees>, book: &WaveBook, command: Option<&str>) -> Result<()> {
        let paths = &self.driver.session.paths;
        let Some((command, context)) = command.zip(self.baseline_context()) else { return Ok(()) };
        if self.baseline.is_some() || Baseline::load(&paths.baseline())?.is_some_and(|b| b.check.command == command) {
            return Ok(());
        }
        let (maker, book, path, command) = (Arc::clone(trees), book.clone(), paths.baseline(), command.to_owned());
        let cancel = self.engine.cancel.end().clone();
        self.baseline = Some(tokio::spawn(async move {
            let trees = Arc::clone(&maker);
            let made = tokio::task::spawn_blocking(move || maker.make(TREE, &book.base.commit, &book.placed));
            let tree = made.await.map_err(EngineError::internal)??;
            let context = CheckContext { env: trees.environment(&tree), cwd: trees.project_in(&tree), ..context };
            let baseline = Baseline::run(&context, &path, &command, &cancel).await;
            trees.give_back(TREE);
            baseline
        }));
        Ok(())
    }

    /// Waits for the command, and says once what it came to.
    pub(super) async fn await_baseline(&mut self) -> Walk {
        let Some(running) = self.baseline.take() else { return Ok(()) };
        if !running.is_finished() {
            self.driver.events.notice(Level::Info, "waiting for the project's own tests, as they were before");
        }
        match running.await.map_err(EngineError::internal)?? {
            Some(baseline) => self.say_baseline(&baseline),
            None => return Err(Leave::Interrupted),
        }
        Ok(())
    }

    /// Without isolation: runs the command in the user's tree, before the first wave.
    pub(super) async fn baseline_before(&mut self, command: Option<&str>) -> Walk {
        let path = self.driver.session.paths.baseline();
        let Some((command, context)) = command.zip(self.baseline_context()) else { return Ok(()) };
        if Baseline::load(&path)?.is_some() {
            return Ok(());
        }
        self.driver.events.notice(Level::Info, format!("running the project's own tests first: {command}"));
        match Baseline::run(&context, &path, command, self.engine.cancel.end()).await? {
            Some(baseline) => self.say_baseline(&baseline),
            None => return Err(Leave::Interrupted),
        }
        Ok(())
    }

    fn baseline_context(&self) -> Option<CheckContext> {
        let paths = &self.driver.session.paths;
        let context = self.engine.check_context(paths)?;
        let limit = self.engine.settings.limits.tests;
        Some(CheckContext { logs: paths.checks("baseline"), name: "baseline".to_owned(), limit, ..context })
    }

    fn say_baseline(&mut self, baseline: &Baseline) {
        let check = &baseline.check;
        if baseline.is_red() {
            let names: Vec<String> = baseline.failures.known.iter().flatten().cloned().collect();
            let known = if names.is_empty() { String::new() } else { format!(": {}", some(&names)) };
            let text = format!("`{}` was red before any task; only new failures count{known}", check.command);
            self.say(Level::Warning, text);
        } else if !check.passed() {
            self.say(Level::Warning, format!("the project's own tests: `{}` {}", check.command, check.verdict));
        }
    }

    /// Takes what was red before any task out of what contradicts; new failures are named.
    pub(super) fn excuse(&self, checks: &mut [Check]) -> Result<()> {
        let Some(baseline) = Baseline::load(&self.driver.session.paths.baseline())? else { return Ok(()) };
        for check in checks {
            match baseline.compared_with(check)? {
                None => {}
                Some(Compared::NewFailures(names)) => {
                    let names: Vec<String> = names.into_iter().collect();
                    check.tail.push_str(&format!("\nnew: {}", some(&names)));
                }
                Some(Compared::NoNew | Compared::NotDecisive) => check.verdict = Verdict::RedBefore,
            }
        }
        Ok(())
    }
}
