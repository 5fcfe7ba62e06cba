//! A wave whose tasks have trees of their own: run, judged, merged, written, checked again (spec 70).
//!
//! Steps in reading order: [`Flow::run_isolated`] runs the tasks, [`super::settle`] decides what may be merged and asks
//! where the user has a say, [`Flow::conclude`] merges, writes and brings the rows up to it. A planex that takes up the
//! session after a kill begins with [`Flow::conclude_open`].

use std::collections::HashMap;
use std::sync::Arc;

use planex_core::event::{EventKind, Level};
use planex_core::rows::{Sheet, TaskPlan, TaskRow};
use planex_core::settings::{Into as Destination, ScopePolicy};

use super::execute::Wave;
use super::jobs::leave_if_stopped;
use super::{Flow, Walk};
use crate::error::{EngineError, Result};
use crate::ground::book::{Phase, WaveBook};
use crate::ground::{Ground, Trees, Wave as Watched, WaveWatch, undo};
use crate::run::{Finished, Next, Watch};

/// Name of the option that keeps where results go.
pub(super) const INTO: &str = "into";

impl Flow<'_> {
    /// Where tasks work; decided once per walk. A session that began with trees stays with them: what its tasks made is
    /// nowhere else.
    pub(super) fn ground(&mut self) -> Result<Ground> {
        if let Some(ground) = &self.ground {
            return Ok(ground.clone());
        }
        let session = &self.driver.session;
        let ground = Ground::choose(self.engine, &session.id, &session.paths, self.destination()?)?;
        if ground.trees().is_none() && !WaveBook::load_all(&session.paths)?.is_empty() {
            return Err(EngineError::usage(format!(
                "the tasks of {} have trees of their own, and now they cannot: {}",
                session.id,
                match &ground {
                    Ground::Shared(why) => why.as_str(),
                    Ground::Trees(_) => "",
                }
            ))
            .hint("go on without --isolation none, with the git repository in its place"));
        }
        self.ground = Some(ground.clone());
        Ok(ground)
    }

    /// Where results go: where they went when the session began, also if a resume does not say so again.
    fn destination(&self) -> Result<Destination> {
        let (now, meta) = (&self.engine.settings.isolation.into, &self.driver.session.meta);
        let Some(then) = meta.option_str(INTO) else { return Ok(now.clone()) };
        let then: Destination = then.parse().map_err(|error: String| {
            EngineError::internal(format!("{}: options.{INTO}: {error}", self.driver.session.paths.meta()))
        })?;
        if *now != Destination::Tree && *now != then {
            return Err(EngineError::usage(format!("the results of {} go into {then}, not into {now}", meta.session))
                .hint(format!("leave --into away, or say --into {then}")));
        }
        Ok(then)
    }

    /// Whether a change outside of a task's scope fails it.
    pub(super) fn enforces(&self) -> bool {
        self.engine.settings.isolation.scope != Some(ScopePolicy::Warn)
    }

    /// Runs a wave in trees, to the end that its results come to.
    pub(super) async fn run_isolated(
        &mut self,
        trees: &Arc<Trees>,
        sheet: &Sheet<TaskRow>,
        plan: &TaskPlan,
        wave: &Wave,
    ) -> Walk {
        let book = self.open_book(trees, wave.number)?;
        let commands = self.commands(sheet)?;
        self.start_baseline(trees, &book, commands.baseline())?;
        let scopes: HashMap<_, _> = wave
            .rows
            .iter()
            .filter_map(|i| Some((sheet.rows.get(*i)?.id.clone(), plan.scopes.get(*i)?.clone())))
            .collect();
        let watched = Watched {
            base: book.base.commit.clone(),
            placed: book.placed.clone(),
            scopes,
            commands: commands.map(),
            check: self.engine.check_context(&self.driver.session.paths).filter(|_| self.verifies()),
        };
        let watch: Arc<dyn Watch> = Arc::new(WaveWatch::new(Arc::clone(trees), watched));
        let jobs = self.task_jobs(sheet, wave, Some(trees)).await?;
        let mut done: Vec<Finished> = Vec::new();
        let wave_ids = wave.ids(sheet);
        let report = self
            .run_batch(jobs, Some(watch), |flow, finished| {
                flow.keep_skip(&wave_ids, &finished)?;
                done.push(finished);
                Ok(Next::GoOn)
            })
            .await?;
        // What has finished waits for the others: it is flushed, and is not run again.
        leave_if_stopped(&report)?;
        self.settle(trees, book, sheet, wave, &done).await
    }

    /// The book of the wave that is about to run: one that an earlier planex did not finish, or a new one.
    fn open_book(&mut self, trees: &Arc<Trees>, wave: u32) -> Result<WaveBook> {
        let paths = self.driver.session.paths.clone();
        let mut books = WaveBook::load_all(&paths)?;
        let seq = books.last().map_or(1, |book| book.seq + 1);
        let into_tree = trees.into == Destination::Tree;
        if let Destination::Branch(name) = &trees.into {
            // Before anything runs, not when its results have no place to go to.
            let left = books.iter().rev().find(|book| matches!(book.phase, Phase::Written | Phase::Done));
            trees.repo.check_branch(name, left.map(|book| book.integration.as_str()))?;
        }
        if let Some(last) = books.last_mut().filter(|book| book.phase == Phase::Running) {
            if last.wave == wave {
                return Ok(last.clone());
            }
            // Rows were edited, so that another wave is due: nothing of this one was merged.
            last.phase = Phase::Done;
            last.save(&paths)?;
        }
        let earlier = books.iter().rev().find(|book| matches!(book.phase, Phase::Written | Phase::Done));
        let base = match earlier.filter(|_| !into_tree) {
            // The user's tree stays as it was: waves build on each other elsewhere.
            Some(book) => {
                let mut base = book.base.clone();
                base.commit.clone_from(&book.integration);
                trees.repo.keep(&trees.session, &WaveBook::base_ref(seq), &base.commit)?;
                base
            }
            None => trees.snapshot(&WaveBook::base_ref(seq))?,
        };
        for left in &base.left_out {
            self.say_once(Level::Warning, &format!("not in the tasks' trees: {left}"));
        }
        let placed = trees.placed(&base)?;
        let book = WaveBook::begin(seq, wave, base, placed, into_tree);
        book.save(&paths)?;
        Ok(book)
    }

    /// Clears up behind the walk: trees, and commits that nothing waits for any more.
    pub(super) fn leave_ground(&mut self) {
        if let Some(running) = self.baseline.take() {
            running.abort();
        }
        let paths = self.driver.session.paths.clone();
        let books = WaveBook::load_all(&paths).unwrap_or_default();
        // Also where all was done already: the planex that did it may have been killed before this.
        let ground = if books.is_empty() { self.ground.clone() } else { self.ground().ok() };
        let Some(trees) = ground.as_ref().and_then(Ground::trees) else { return };
        let clear = || -> Result<()> {
            if books.iter().all(|book| matches!(book.phase, Phase::Done | Phase::Undone)) {
                trees.release_tasks()?;
            }
            trees.remove_all()
        };
        if let Err(error) = clear() {
            let text = format!("not all that tasks worked in is gone: {error}; planex doctor --fix removes it");
            self.say(Level::Warning, text);
        }
    }

    /// Finishes a wave whose merge an earlier planex had begun.
    pub(super) async fn conclude_open(&mut self) -> Walk {
        let books = WaveBook::load_all(&self.driver.session.paths)?;
        if books.iter().any(|book| book.phase == Phase::Undoing)
            && let Some(trees) = self.ground()?.trees()
        {
            undo::finish_begun(&trees.repo, &self.driver.session.paths)?;
        }
        let Some(book) = books.into_iter().next_back().filter(|book| book.phase.is_open()) else { return Ok(()) };
        let ground = self.ground()?;
        let Some(trees) = ground.trees() else { return Ok(()) };
        self.conclude(trees, book).await
    }

    /// With `--into patch`: everything that was merged so far, as one patch.
    pub(super) fn write_patch(&mut self) -> Result<()> {
        let Some(trees) = self.ground.as_ref().and_then(Ground::trees).filter(|trees| trees.into == Destination::Patch)
        else {
            return Ok(());
        };
        let paths = &self.driver.session.paths;
        let books = WaveBook::load_all(paths)?;
        let (Some(first), Some(last)) = (books.first(), books.last()) else { return Ok(()) };
        let patch = trees.repo.patch(&first.base.commit, &last.integration, &trees.scratch())?;
        Ok(planex_sys::fs::write_atomic(&paths.changes_patch(), &patch)?)
    }

    /// Tells that a wave is over.
    pub(super) fn wave_finished(&self, wave: u32, counts: (u32, u32, u32)) {
        let (completed, failed, skipped) = counts;
        let phase = "execute".to_owned();
        self.driver.events.emit(EventKind::WaveFinished { phase, wave, completed, failed, skipped });
    }
}
