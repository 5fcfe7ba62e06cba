//! Phase 4: executing, wave by wave of `tasks.csv` (spec 20).
//!
//! The file is read again before every wave and written once after it. A result that an earlier planex flushed is merged
//! without running its task again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use planex_core::csv::Table;
use planex_core::event::{EventKind, Level};
use planex_core::id;
use planex_core::job::{JobOutcome, Mode, Role};
use planex_core::prompt::waves as prompt;
use planex_core::report::prev_context;
use planex_core::rows::{INPUT_COLUMNS, RowStatus, Sheet, TASK_COLUMNS, TaskPlan, TaskRow, cascade, next_wave};
use planex_sys::fs;
use serde_json::{Map, Value};

use super::attribute::Attribute;
use super::jobs::{Wanted, leave_if_stopped};
use super::merged::Checks;
use super::retry::skipped_because;
use super::settle::Verified as _;
use super::{Flow, Walk, off_thread};
use crate::error::Result;
use crate::ground::Trees;
use crate::registry;
use crate::run::{Ended, JobRequest, Next};

/// One wave, ready to run.
pub(super) struct Wave {
    pub number: u32,
    /// Rows that run, as indices into the sheet.
    pub rows: Vec<usize>,
    /// `prev_context` of each of them.
    pub contexts: Vec<String>,
}

impl Wave {
    /// Ids of its rows, in their order.
    pub(super) fn ids(&self, sheet: &Sheet<TaskRow>) -> Vec<String> {
        self.rows.iter().filter_map(|i| sheet.rows.get(*i)).map(|row| row.id.clone()).collect()
    }
}

impl Flow<'_> {
    /// Runs wave after wave until no row is pending.
    pub(super) async fn execute_waves(&mut self) -> Walk {
        let mut announced = false;
        self.conclude_open().await?;
        loop {
            self.take_requests()?;
            let (mut sheet, plan) = self.read_tasks()?;
            self.skip_dependents(&mut sheet, &plan)?;
            let Some((number, rows)) = next_wave(&sheet.rows, &plan.waves.wave) else { break };
            if !self.still_approved(&sheet)? {
                self.approve_tasks().await?;
                continue;
            }
            if !announced {
                self.executor().await?;
                self.phase("execute", &format!("Executing {} wave(s)", plan.last_wave()));
                announced = true;
            }
            let explorations = self.explorations()?;
            let contexts = rows
                .iter()
                .filter_map(|i| sheet.rows.get(*i))
                .map(|row| prev_context(&row.context_from, &explorations, &sheet.rows))
                .collect();
            self.execute_wave(&mut sheet, &plan, Wave { number, rows, contexts }).await?;
        }
        if announced {
            let totals = self.totals();
            self.phase_done(
                "execute",
                format!("{} completed, {} failed, {} skipped", totals.completed, totals.failed, totals.skipped),
            );
        }
        Ok(())
    }

    async fn execute_wave(&mut self, sheet: &mut Sheet<TaskRow>, plan: &TaskPlan, wave: Wave) -> Walk {
        let file = self.driver.session.paths.task_wave(wave.number);
        fs::write_atomic(&file, wave_table(sheet, &wave).to_csv().as_bytes())?;
        self.driver.events.emit(EventKind::WaveStarted {
            phase: "execute".to_owned(),
            wave: wave.number,
            of: plan.last_wave(),
            items: wave.ids(sheet),
        });
        if let Some(trees) = self.ground()?.trees() {
            self.run_isolated(trees, sheet, plan, &wave).await?;
            return Ok(fs::remove_file(&file)?);
        }
        let scopes: HashMap<String, planex_core::glob::Scope> = wave
            .rows
            .iter()
            .filter_map(|i| Some((sheet.rows.get(*i)?.id.clone(), plan.scopes.get(*i)?.clone())))
            .collect();
        self.tell_interrupted(sheet, &wave)?;
        let root = self.engine.project.root.clone();
        self.baseline_before(self.commands(sheet)?.baseline()).await?;
        let attribute = off_thread(move || Attribute::start(&root, scopes)).await.map(Arc::new)?;
        let jobs = self.task_jobs(sheet, &wave, None).await?;
        let mut done: BTreeMap<usize, (JobOutcome, Ended)> = BTreeMap::new();
        let wave_ids = wave.ids(sheet);
        let report = self
            .run_batch(jobs, Some(attribute.clone()), |flow, finished| {
                flow.keep_skip(&wave_ids, &finished)?;
                done.insert(finished.index, (finished.outcome, finished.ended));
                Ok(Next::GoOn)
            })
            .await?;
        let checks = if report.stop.is_none() { self.check_shared(sheet, &wave, &done).await? } else { Checks::new() };
        self.merge(sheet, plan, &wave, &done, &checks)?;
        fs::remove_file(&file)?;
        self.unattributed(&attribute);
        leave_if_stopped(&report)
    }

    /// One job a row; in `trees`, each works in its own.
    pub(super) async fn task_jobs(
        &mut self,
        sheet: &Sheet<TaskRow>,
        wave: &Wave,
        trees: Option<&Trees>,
    ) -> Walk<Vec<JobRequest>> {
        let chain = self.engine.chain(Role::Execute, Mode::Write, None).await?;
        let mut around = self.surroundings(Role::Execute)?;
        let notes = crate::notes::load(&self.driver.session.paths)?;
        let mut jobs = Vec::new();
        for (index, context) in wave.rows.iter().zip(&wave.contexts) {
            let Some(row) = sheet.rows.get(*index) else { continue };
            let earlier = self.earlier_error(&row.id)?;
            let note = notes.get(&row.id).cloned();
            if let Some(trees) = trees {
                around.root = trees.project_of(&row.id).to_string();
            }
            let assignment = prompt::Assignment {
                row,
                context,
                earlier_error: earlier.as_deref(),
                note: note.as_deref(),
                isolated: trees.is_some(),
            };
            let wanted = Wanted {
                role: Role::Execute,
                mode: Mode::Write,
                item: &row.id,
                title: &row.title,
                prompt: prompt::execute(assignment, &around),
                schema: "execute",
                is_row: true,
                fields: fields(sheet, *index, context),
            };
            jobs.push(self.request(wanted, chain.clone())?);
        }
        Ok(jobs)
    }

    /// Brings outcomes into the rows and writes `tasks.csv` once for the wave.
    fn merge(
        &mut self,
        sheet: &mut Sheet<TaskRow>,
        plan: &TaskPlan,
        wave: &Wave,
        done: &BTreeMap<usize, (JobOutcome, Ended)>,
        checks: &Checks,
    ) -> Result<()> {
        let mut counts = (0, 0, 0);
        for (place, (outcome, ended)) in done {
            let Some(index) = wave.rows.get(*place).copied() else { continue };
            let Some(row) = sheet.rows.get_mut(index) else { continue };
            if *ended == Ended::Skipped {
                row.status = RowStatus::Skipped;
                skipped_because(outcome).clone_into(&mut row.error);
            } else if outcome.status != planex_core::job::JobStatus::Cancelled {
                // What earlier attempts wrote is in the tree as well.
                let base = id::run_id(&self.driver.session.id, &row.id);
                let mut files = registry::files_changed(&self.driver.session.paths, &base)?;
                files.extend(outcome.files_changed.iter().cloned());
                row.take(outcome, files.iter().map(ToString::to_string).collect());
                row.verify(checks.get(place).map(Vec::as_slice).unwrap_or_default());
            }
            match row.status {
                RowStatus::Completed => counts.0 += 1,
                RowStatus::Failed => counts.1 += 1,
                RowStatus::Skipped => counts.2 += 1,
                // Cancelled before its end: it runs again at the next resume.
                RowStatus::Pending => continue,
            }
            let state = row.state(plan.waves.wave.get(index).copied().unwrap_or(wave.number));
            self.driver.events.emit(EventKind::ItemFinished {
                item: row.id.clone(),
                title: row.title.clone(),
                status: row.status.to_string(),
                error: row.error.clone(),
            });
            sheet.write(index, &state);
        }
        self.save_tasks(sheet)?;
        self.driver.events.emit(EventKind::WaveFinished {
            phase: "execute".to_owned(),
            wave: wave.number,
            completed: counts.0,
            failed: counts.1,
            skipped: counts.2,
        });
        Ok(())
    }

    /// Skips pending rows whose dependencies failed or were skipped, also in earlier runs.
    fn skip_dependents(&mut self, sheet: &mut Sheet<TaskRow>, plan: &TaskPlan) -> Result<()> {
        let skipped = cascade(&mut sheet.rows);
        for index in &skipped {
            let Some(row) = sheet.rows.get(*index) else { continue };
            let state = row.state(plan.waves.wave.get(*index).copied().unwrap_or(1));
            self.driver.events.emit(EventKind::ItemFinished {
                item: row.id.clone(),
                title: row.title.clone(),
                status: row.status.to_string(),
                error: row.error.clone(),
            });
            sheet.write(*index, &state);
        }
        if skipped.is_empty() { Ok(()) } else { self.save_tasks(sheet) }
    }

    pub(super) fn save_tasks(&self, sheet: &Sheet<TaskRow>) -> Result<()> {
        self.driver.session.check_lock()?;
        Ok(fs::write_atomic(&self.driver.session.paths.tasks_csv(), sheet.to_csv().as_bytes())?)
    }

    /// Says which tasks were running when planex was killed: what they wrote is still there (spec 70, *Recovery*).
    fn tell_interrupted(&mut self, sheet: &Sheet<TaskRow>, wave: &Wave) -> Result<()> {
        for row in wave.rows.iter().filter_map(|i| sheet.rows.get(*i)) {
            let base = id::run_id(&self.driver.session.id, &row.id);
            if registry::is_interrupted(&self.driver.session.paths, &base)? {
                let text = format!("{} was running when planex ended; it runs again on the files as they are", row.id);
                self.say(Level::Warning, text);
            }
        }
        Ok(())
    }

    fn unattributed(&mut self, attribute: &Attribute) {
        let left = attribute.unattributed();
        if !left.is_empty() {
            let shown: Vec<String> = left.iter().take(10).map(ToString::to_string).collect();
            let more = left.len().saturating_sub(shown.len());
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.say(Level::Warning, format!("changed, but by no task that may: {}{rest}", shown.join(", ")));
        }
    }
}

/// What the agent gets of its row: the input columns and `prev_context`, the same at every resume.
fn fields(sheet: &Sheet<TaskRow>, index: usize, context: &str) -> Map<String, Value> {
    let mut fields = sheet.item(index);
    for column in planex_core::rows::STATE_COLUMNS {
        fields.remove(column);
    }
    fields.insert("prev_context".to_owned(), Value::String(context.to_owned()));
    fields
}

fn wave_table(sheet: &Sheet<TaskRow>, wave: &Wave) -> Table {
    // `prev_context` stands at the end (spec 20).
    let input = TASK_COLUMNS.iter().take(INPUT_COLUMNS);
    let columns = input.clone().copied().chain(["prev_context"]).map(str::to_owned);
    let mut table = Table::new(columns.collect());
    for (index, context) in wave.rows.iter().zip(&wave.contexts) {
        let mut cells: Vec<String> =
            input.clone().map(|column| sheet.table().cell(*index, column).unwrap_or_default().to_owned()).collect();
        cells.push(context.clone());
        table.push(cells);
    }
    table
}
