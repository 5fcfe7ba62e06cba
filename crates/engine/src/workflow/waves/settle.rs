//! What a wave's runs come to: which of them may be merged, what the user has a say in, the merge, the rows (spec 70).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use planex_core::event::{EventKind, Level};
use planex_core::gate::Gate;
use planex_core::job::{JobOutcome, JobStatus};
use planex_core::rows::{RowStatus, Sheet, TaskRow};
use planex_core::text::one_line;
use planex_isolation::{Merger, RepoPath, Written};
use planex_sys::swap::{Recovered, Swap};

use super::execute::Wave;
use super::{Flow, Leave, Walk, gates};
use crate::error::{EngineError, ErrorKind, Result};
use crate::ground::book::{Phase, TaskEntry, WaveBook};
use crate::ground::{Observed, Trees, claims_success, forget, not_run_of, patch, some, undo};
use crate::registry;
use crate::run::{Ended, Finished};
use crate::store::SessionPaths;
use crate::verify::{Check, Verdict};

/// One run of the wave that ended.
struct Ran {
    task: String,
    title: String,
    outcome: JobOutcome,
    observed: Observed,
    ended: Ended,
}

/// How often a write into the user's tree is tried anew after the user changed files in the middle of it.
const WRITES: usize = 5;

impl Flow<'_> {
    /// Judges the runs of a wave, asks where the user has a say, and concludes it.
    pub(super) async fn settle(
        &mut self,
        trees: &Arc<Trees>,
        mut book: WaveBook,
        sheet: &Sheet<TaskRow>,
        wave: &Wave,
        done: &[Finished],
    ) -> Walk {
        self.await_baseline().await?;
        let ran = self.ran(sheet, wave, done)?;
        if self.ask_about_scopes(&mut book, sheet, &ran)? == Scopes::Again {
            return Ok(());
        }
        self.ask_about_missing(&mut book, &ran)?;
        let failures: BTreeMap<String, Option<String>> =
            ran.iter().map(|ran| (ran.task.clone(), self.refusal(&book, ran))).collect();
        for ran in &ran {
            for remark in &ran.observed.remarks {
                self.say(Level::Warning, format!("{} {}", ran.task, one_line(remark)));
            }
        }
        self.merge_all(trees, &mut book, &ran, failures)?;
        self.conclude(trees, book).await
    }

    /// The runs that ended for good, with what was observed, in the order of the list.
    fn ran(&self, sheet: &Sheet<TaskRow>, wave: &Wave, done: &[Finished]) -> Result<Vec<Ran>> {
        let mut list: Vec<(usize, Ran)> = Vec::new();
        for finished in done {
            let outcome = finished.outcome.clone();
            if finished.ended == Ended::Skipped || outcome.status == JobStatus::Cancelled {
                continue;
            }
            let Some(index) = wave.rows.get(finished.index).copied() else { continue };
            let Some(row) = sheet.rows.get(index) else { continue };
            let dir = self.driver.session.paths.run(&outcome.run_id);
            let mut observed = Observed::load(&dir)?.unwrap_or_default();
            self.excuse(&mut observed.checks)?;
            let (task, title) = (row.id.clone(), row.title.clone());
            list.push((index, Ran { task, title, outcome, observed, ended: finished.ended }));
        }
        list.sort_by_key(|(index, _)| *index);
        Ok(list.into_iter().map(|(_, ran)| ran).collect())
    }

    /// Why nothing of a run is merged, beside what its own report says.
    fn refusal(&self, book: &WaveBook, ran: &Ran) -> Option<String> {
        let enforce = self.enforces() && !book.widened.contains(&ran.outcome.run_id);
        ran.observed.refusal(enforce)
    }

    /// Asks once a wave what becomes of tasks that left their scope and did well otherwise. -y: they fail.
    fn ask_about_scopes(&mut self, book: &mut WaveBook, sheet: &Sheet<TaskRow>, ran: &[Ran]) -> Walk<Scopes> {
        // An answer is for the run that was shown: one that waits for the next gate is not asked about again.
        let wide: Vec<&Ran> = ran
            .iter()
            .filter(|ran| claims_success(&ran.outcome) && self.refusal(book, ran).is_some())
            .filter(|ran| ran.observed.refused.is_empty() && !book.kept_out.contains(&ran.outcome.run_id))
            .collect();
        if wide.is_empty() {
            return Ok(Scopes::Settled);
        }
        let shown: Vec<(String, String, String)> = wide
            .iter()
            .map(|ran| {
                let scope = sheet.rows.iter().find(|row| row.id == ran.task).map(|row| row.scope.clone());
                (ran.task.clone(), scope.unwrap_or_default(), some(&ran.observed.outside))
            })
            .collect();
        let gate = gates::scopes(book.wave, &shown, self.engine.clock.now());
        let runs = wide.iter().map(|ran| ran.outcome.run_id.clone());
        match self.ask(gate)?.as_str() {
            "accept" => book.widened.extend(runs),
            "again" => {
                for ran in wide {
                    let base = planex_core::id::run_id(&self.driver.session.id, &ran.task);
                    registry::supersede(&self.driver.session.paths, &base)?;
                }
                return Ok(Scopes::Again);
            }
            _ => book.kept_out.extend(runs),
        }
        book.save(&self.driver.session.paths)?;
        Ok(Scopes::Settled)
    }

    /// Asks about runs of the wave whose commands could not be run; once for each.
    fn ask_about_missing(&mut self, book: &mut WaveBook, ran: &[Ran]) -> Walk {
        let asked = ran
            .iter()
            .filter(|ran| claims_success(&ran.outcome) && !book.unverified.contains(&ran.outcome.run_id))
            .map(|ran| (ran, not_run_of(&ran.observed.checks)))
            .filter(|(_, not_run)| !not_run.is_empty());
        let (runs, missing): (Vec<String>, Vec<_>) =
            asked.map(|(ran, not_run)| (ran.outcome.run_id.clone(), (ran.task.clone(), not_run))).unzip();
        if missing.is_empty() {
            return Ok(());
        }
        self.ask_about_unverified(missing)?;
        book.unverified.extend(runs);
        Ok(book.save(&self.driver.session.paths)?)
    }

    /// Asks what commands mean that could not be run. -y: "not verified", and on it goes.
    pub(super) fn ask_about_unverified(&mut self, mut missing: Vec<(String, Vec<String>)>) -> Walk {
        missing.retain(|(_, not_run)| !not_run.is_empty());
        if missing.is_empty() {
            return Ok(());
        }
        match self.ask(gates::unverified(&missing, self.engine.clock.now()))?.as_str() {
            "stop" => Err(Leave::Paused),
            _ => Ok(()),
        }
    }

    /// Merges, in objects alone, everything that may be: the book says what became of each task.
    fn merge_all(
        &mut self,
        trees: &Trees,
        book: &mut WaveBook,
        ran: &[Ran],
        mut failures: BTreeMap<String, Option<String>>,
    ) -> Result<()> {
        for attempt in 0..=WRITES {
            let conflicts = self.merge_once(trees, book, ran, &failures)?;
            // What an earlier write left must be gone before the book says that this one may have begun: after a kill
            // its mark would be taken for this one's.
            forget(&trees.swap())?;
            book.phase = Phase::Writing;
            self.driver.session.check_lock()?;
            book.save(&self.driver.session.paths)?;
            match self.write(trees, book)? {
                None => return Ok(()),
                Some(late) if attempt < WRITES => {
                    // The user changed files in this very moment: the tasks that touch them are in conflict now.
                    for ran in ran.iter().filter(|ran| touches(trees, ran, &late)) {
                        let reason = conflict_text(trees, &late, "what is in your tree");
                        failures.insert(ran.task.clone(), Some(reason));
                    }
                    failures.extend(conflicts);
                }
                Some(late) => {
                    return Err(EngineError::internal(format!(
                        "files keep changing while planex writes them: {}",
                        some(&late.iter().map(|path| path.in_project(trees.repo.prefix())).collect::<Vec<_>>())
                    ))
                    .hint("nothing of this wave was written; resume when they are quiet"));
                }
            }
        }
        Ok(())
    }

    /// One pass over the tasks; gives the conflicts that it found.
    fn merge_once(
        &mut self,
        trees: &Trees,
        book: &mut WaveBook,
        ran: &[Ran],
        failures: &BTreeMap<String, Option<String>>,
    ) -> Result<BTreeMap<String, Option<String>>> {
        let mut merger = Merger::start(&trees.repo, &book.base.commit, book.into_tree, &trees.scratch())?;
        let mut conflicts = BTreeMap::new();
        book.tasks.clear();
        for ran in ran {
            let mut entry = TaskEntry {
                run: ran.outcome.run_id.clone(),
                not_run: (ran.ended == Ended::NotRun).then(|| ran.outcome.clone()),
                commit: ran.observed.has_changes().then(|| ran.observed.commit.clone()),
                merged: false,
                failed: failures.get(&ran.task).cloned().flatten(),
                after: Vec::new(),
            };
            let succeeds = claims_success(&ran.outcome) && ran.observed.contradiction().is_none();
            if succeeds && entry.failed.is_none() {
                match self.merge_task(trees, &mut merger, ran)? {
                    None => entry.merged = entry.commit.is_some(),
                    Some(reason) => {
                        conflicts.insert(ran.task.clone(), Some(reason.clone()));
                        entry.failed = Some(reason);
                    }
                }
            }
            book.tasks.insert(ran.task.clone(), entry);
        }
        book.integration = merger.integration().to_owned();
        trees.repo.keep(&trees.session, &WaveBook::end_ref(book.seq), &book.integration)?;
        Ok(conflicts)
    }

    /// Merges one task's commit; a conflict as text.
    fn merge_task(&self, trees: &Trees, merger: &mut Merger<'_>, ran: &Ran) -> Result<Option<String>> {
        if !ran.observed.has_changes() {
            return Ok(None);
        }
        let message = format!("{}: {}\n\nplanex session {}\n", ran.task, ran.title, trees.session);
        Ok(match merger.add(&ran.observed.commit, &message)? {
            Ok(_) => None,
            Err(conflict) => Some(conflict_text(trees, &conflict.paths, &conflict.with.to_string())),
        })
    }

    /// Brings the integration to where results go. Gives paths that the user changed meanwhile: then nothing is written.
    fn write(&mut self, trees: &Trees, book: &mut WaveBook) -> Result<Option<Vec<RepoPath>>> {
        if book.into_tree {
            match trees.repo.write(&book.base.commit, &book.integration, &trees.scratch(), &trees.swap())? {
                Written::Conflict(paths) => return Ok(Some(paths)),
                Written::Done { kept, .. } => {
                    for file in kept {
                        self.say(
                            Level::Warning,
                            format!("another program wrote into a file just then; it is kept at {file}"),
                        );
                    }
                }
            }
        } else if let planex_core::settings::Into::Branch(name) = &trees.into {
            trees.repo.move_branch(name, &book.base.commit, &book.integration)?;
        }
        book.phase = Phase::Written;
        book.save(&self.driver.session.paths)?;
        forget(&trees.swap())?;
        Ok(None)
    }

    /// Brings a wave whose merge is decided to its end: written, checked in the merged tree, told in the rows.
    pub(super) async fn conclude(&mut self, trees: &Arc<Trees>, mut book: WaveBook) -> Walk {
        if book.phase == Phase::Writing && !self.recover(trees, &mut book)? {
            return Ok(());
        }
        self.check_merged(trees, &mut book).await?;
        let undone = self.ask_about_red(trees, &mut book)?;
        self.write_rows(trees, &book, undone)?;
        if book.phase != Phase::Undone {
            book.phase = Phase::Done;
            book.save(&self.driver.session.paths)?;
        }
        Ok(trees.release_tasks()?)
    }

    /// A write that a killed planex had begun is finished or taken back; `false`: the merge has to be done again.
    fn recover(&mut self, trees: &Trees, book: &mut WaveBook) -> Result<bool> {
        if !book.into_tree {
            return Ok(self.write(trees, book)?.is_none());
        }
        match Swap::recover(trees.repo.top(), &trees.swap()).map_err(planex_isolation::IsolationError::from)? {
            Recovered::Finished(_) => {
                book.phase = Phase::Written;
                book.save(&self.driver.session.paths)?;
                forget(&trees.swap())?;
                Ok(true)
            }
            Recovered::Nothing | Recovered::RolledBack { .. } => {
                book.phase = Phase::Running;
                book.tasks.clear();
                book.integration.clone_from(&book.base.commit);
                book.save(&self.driver.session.paths)?;
                Ok(false)
            }
        }
    }

    /// Rows of a wave from what its runs came to and what the book says, once, all together.
    fn write_rows(&mut self, trees: &Trees, book: &WaveBook, undone: bool) -> Result<()> {
        let (mut sheet, plan) = self.read_tasks()?;
        let mut counts = (0, 0, 0);
        for index in 0..sheet.rows.len() {
            let Some(row) = sheet.rows.get_mut(index) else { continue };
            let Some(entry) = book.tasks.get(&row.id).filter(|_| row.status == RowStatus::Pending) else { continue };
            let dir = self.driver.session.paths.run(&entry.run);
            let outcome = match &entry.not_run {
                Some(outcome) => Some(outcome.clone()),
                None => registry::load_outcome(&dir)?,
            };
            let Some(outcome) = outcome else {
                return Err(EngineError::internal(format!("the result of the run {} is gone from {dir}", entry.run))
                    .hint(format!("run it again with `planex resume {} --retry {}`", trees.session, row.id)));
            };
            let mut observed = Observed::load(&dir)?.unwrap_or_default();
            self.excuse(&mut observed.checks)?;
            let before = merged_before(&self.driver.session.paths, book, &row.id)?;
            take(row, &outcome, &observed, entry, &before);
            if undone && entry.merged {
                row.refuse("the wave was taken back");
            }
            if row.status == RowStatus::Failed && (!entry.merged || undone) {
                keep_patch(trees, &self.driver.session.paths, row, &observed)?;
            }
            match row.status {
                RowStatus::Completed => counts.0 += 1,
                RowStatus::Failed => counts.1 += 1,
                RowStatus::Skipped | RowStatus::Pending => counts.2 += 1,
            }
            let state = row.state(plan.waves.wave.get(index).copied().unwrap_or(book.wave));
            self.driver.events.emit(EventKind::ItemFinished {
                item: row.id.clone(),
                title: row.title.clone(),
                status: row.status.to_string(),
                error: row.error.clone(),
            });
            sheet.write(index, &state);
        }
        self.save_tasks(&sheet)?;
        self.wave_finished(book.wave, counts);
        Ok(())
    }

    /// Asks what to do where commands that passed in tasks' own trees fail in the merged one. -y: the tasks fail and
    /// their dependents are skipped. `true`: the wave was taken back.
    fn ask_about_red(&mut self, trees: &Trees, book: &mut WaveBook) -> Walk<bool> {
        let red: Vec<(String, String)> = book
            .tasks
            .iter()
            .filter_map(|(task, entry)| Some((task.clone(), crate::ground::contradiction(&entry.after)?)))
            .collect();
        if red.is_empty() {
            return Ok(false);
        }
        let mut gate: Gate = gates::red(book.wave, &red, self.engine.clock.now());
        if !book.into_tree {
            gate.questions.iter_mut().for_each(|question| question.options.retain(|option| option.id != "undo"));
        }
        match self.ask(gate)?.as_str() {
            "undo" => match undo::take_back(&trees.repo, &self.driver.session.paths, book, false) {
                Ok(_) => Ok(true),
                Err(error) if error.kind == ErrorKind::TasksFailed => {
                    self.say(Level::Warning, format!("the wave stays: {error}"));
                    Ok(false)
                }
                Err(error) => Err(error.into()),
            },
            "stop" => Err(Leave::Paused),
            _ => Ok(false),
        }
    }
}

/// What the gate about scopes came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scopes {
    Settled,
    Again,
}

/// What commands say about a row.
pub(super) trait Verified {
    /// A command that failed contradicts it; one that could not be run is said.
    fn verify(&mut self, checks: &[Check]);
}

impl Verified for TaskRow {
    fn verify(&mut self, checks: &[Check]) {
        if let Some(found) = crate::ground::contradiction(checks) {
            self.contradict(&found);
        }
        if self.status == RowStatus::Completed
            && let Some(check) = checks.iter().find(|check| check.verdict == Verdict::RedBefore)
        {
            self.remark(&format!("`{}` fails, as it did before", check.command));
        }
        let not_run = not_run_of(checks);
        if self.status == RowStatus::Completed && !not_run.is_empty() {
            self.remark(&format!("not verified: {}", not_run.join("; ")));
        }
    }
}

/// What runs of a task in earlier waves changed that is still merged: red after the merge, then tried again.
fn merged_before(paths: &SessionPaths, book: &WaveBook, task: &str) -> Result<BTreeSet<Utf8PathBuf>> {
    let mut files = BTreeSet::new();
    for earlier in WaveBook::load_all(paths)?.iter().filter(|earlier| earlier.seq < book.seq) {
        let stands = matches!(earlier.phase, Phase::Written | Phase::Done);
        let Some(entry) = earlier.tasks.get(task).filter(|entry| stands && entry.merged) else { continue };
        files.extend(Observed::load(&paths.run(&entry.run))?.unwrap_or_default().changed);
    }
    Ok(files)
}

/// A row from its run, what planex observed (`before`: in runs that are merged already), and what the merge said.
fn take(
    row: &mut TaskRow,
    outcome: &JobOutcome,
    observed: &Observed,
    entry: &TaskEntry,
    before: &BTreeSet<Utf8PathBuf>,
) {
    let files: BTreeSet<&Utf8PathBuf> = before.iter().chain(&observed.changed).collect();
    row.take(outcome, files.iter().map(ToString::to_string).collect());
    row.verify(&observed.checks);
    if let Some(reason) = &entry.failed {
        row.refuse(reason);
    }
    if let Some(found) = crate::ground::contradiction(&entry.after) {
        row.contradict(&format!("after the merge {found}"));
    }
    if row.status == RowStatus::Completed && !observed.outside.is_empty() {
        row.remark(&format!("outside of its scope: {}", some(&observed.outside)));
    }
}

/// Keeps the changes of a failed task, and says where in its row.
fn keep_patch(trees: &Trees, paths: &SessionPaths, row: &mut TaskRow, observed: &Observed) -> Result<()> {
    if !observed.has_changes() {
        return Ok(());
    }
    patch::keep(trees, paths, &row.id, &row.title, &row.error, observed)?;
    row.remark(&format!("its changes are kept: planex patch show {} {}", trees.session, row.id));
    Ok(())
}

fn conflict_text(trees: &Trees, paths: &[RepoPath], with: &str) -> String {
    let files: Vec<Utf8PathBuf> = paths.iter().map(|path| path.in_project(trees.repo.prefix())).collect();
    format!("conflicts with {with}: {}", some(&files))
}

/// Whether a run changed one of these paths.
fn touches(trees: &Trees, ran: &Ran, paths: &[RepoPath]) -> bool {
    paths.iter().any(|path| ran.observed.changed.contains(&path.in_project(trees.repo.prefix())))
}
