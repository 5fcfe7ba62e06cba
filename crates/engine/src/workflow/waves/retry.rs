//! Running again what failed, and what other processes ask for between waves (spec 20, *Phases 4 and 5*).

use planex_core::event::Level;
use planex_core::id;
use planex_core::job::JobOutcome;
use planex_core::rows::{RowStatus, Sheet, TaskRow};
use planex_core::text::one_line;

use super::gates::{self, CONFIRM};
use super::{Flow, Leave, Walk};
use crate::error::{EngineError, Result};
use crate::gate::GateResult;
use crate::registry;
use crate::requests::{self, Request};
use crate::run::{Ended, Finished};

impl Flow<'_> {
    /// Sets rows back to pending: those named, or all that failed or were skipped. The rows that depend on them and were
    /// skipped come along.
    ///
    /// The runs are marked as superseded before the file is written: killed in between, nothing is lost and an old
    /// result is not taken for the new one.
    pub(super) fn set_back(&mut self, tasks: &[String]) -> Result<()> {
        if !self.has_tasks() {
            return Err(EngineError::usage(format!("the session {} has no tasks yet", self.driver.session.id))
                .hint(format!("go on with `planex resume {}`", self.driver.session.id)));
        }
        let (mut sheet, plan) = self.read_tasks()?;
        let wanted = wanted_rows(&sheet, tasks)?;
        if wanted.is_empty() {
            self.say(Level::Info, "nothing failed or was skipped: there is nothing to retry");
            return Ok(());
        }
        for index in &wanted {
            let Some(row) = sheet.rows.get(*index) else { continue };
            registry::supersede(&self.driver.session.paths, &id::run_id(&self.driver.session.id, &row.id))?;
        }
        for index in wanted {
            let Some(row) = sheet.rows.get_mut(index) else { continue };
            row.reset();
            let state = row.state(plan.waves.wave.get(index).copied().unwrap_or(1));
            sheet.write(index, &state);
        }
        self.save_tasks(&sheet)
    }

    /// After the report, when something failed: retry, show, or done. `true`: run phase 4 again.
    pub(super) fn offer_retry(&mut self) -> Walk<bool> {
        let (sheet, _) = self.read_tasks()?;
        let failed = sheet.rows.iter().any(|row| matches!(row.status, RowStatus::Failed | RowStatus::Skipped));
        // With -y there is no gate, and where nobody can be asked the end is the end: exit 5 says how to retry.
        if !failed || self.engine.settings.gates != planex_core::settings::GatePolicy::Ask {
            return Ok(false);
        }
        loop {
            let mut gate = gates::failed(&sheet.rows, self.engine.clock.now());
            gate.id = self.driver.gates.id(&gate.id, None)?;
            let answer = match self.driver.gates.open(gate)? {
                GateResult::Passed(answer) => answer,
                GateResult::Deferred(gate) => {
                    self.withdraw(&gate.id)?;
                    return Ok(false);
                }
            };
            match answer.option(CONFIRM) {
                Some("retry") => {
                    self.set_back(&[])?;
                    return Ok(true);
                }
                Some("report") => self.show_report()?,
                _ => return Ok(false),
            }
        }
    }

    /// Takes back a gate that nobody could be asked: the session has ended, `--retry` is the way on.
    fn withdraw(&self, id: &str) -> Result<()> {
        Ok(planex_sys::fs::remove_file(&self.driver.session.paths.gate(id))?)
    }

    fn show_report(&self) -> Result<()> {
        let report = planex_sys::fs::read_to_string(&self.driver.session.paths.context_md())?;
        self.driver.events.notice(Level::Info, planex_core::text::safe(&report));
        self.driver.events.flush()
    }

    /// What went wrong the last time, for the prompt of a retry.
    pub(super) fn earlier_error(&self, item: &str) -> Result<Option<String>> {
        let base = id::run_id(&self.driver.session.id, item);
        let attempts = registry::attempts(&self.driver.session.paths, &base);
        let Some(last) = attempts.checked_sub(1) else { return Ok(None) };
        let run = registry::load_run(&self.driver.session.paths.run(&id::retry_of(&base, last)))?;
        let Some(outcome) = run.outcome else {
            return Ok(Some("the last run was interrupted; the folder may hold half of its work".to_owned()));
        };
        let mut row = TaskRow::default();
        row.take(&outcome, Vec::new());
        Ok((row.status == RowStatus::Failed).then_some(row.error))
    }

    /// Whether what was approved is still what stands in the file.
    pub(super) fn still_approved(&mut self, sheet: &Sheet<TaskRow>) -> Walk<bool> {
        let commands = self.commands(sheet)?;
        let hash = self.approval(sheet, &commands)?;
        self.is_approved(gates::TASKS, "execute", &hash)
    }

    /// Acts on requests that other processes left between waves.
    pub(super) fn take_requests(&mut self) -> Walk {
        for placed in requests::waiting(&self.driver.session.paths)? {
            match placed.request.clone() {
                Request::Pause => {
                    placed.done()?;
                    return Err(Leave::Paused);
                }
                // It goes when it is written that the session is cancelled.
                Request::Cancel { tasks } if tasks.is_empty() => return Err(Leave::Cancelled),
                // The rows first, so that a kill in between loses no request.
                Request::Cancel { tasks } | Request::Skip { tasks } => {
                    self.skip(&tasks)?;
                    placed.done()?;
                }
                // One that names an unknown task is said and dropped: it would be found for ever.
                Request::Retry { tasks } => {
                    if let Err(error) = self.set_back(&tasks) {
                        self.say(Level::Warning, format!("a request to retry was dropped: {error}"));
                    }
                    placed.done()?;
                }
                Request::Unpause => placed.done()?,
            }
        }
        Ok(())
    }

    /// A task that the user skipped or ended while its wave ran is so on disk at once: a kill before the merge must not
    /// bring it back. `ids` are those of the wave's rows, in the batch's order.
    pub(super) fn keep_skip(&mut self, ids: &[String], finished: &Finished) -> Result<()> {
        let Some(id) = ids.get(finished.index).filter(|_| finished.ended == Ended::Skipped) else { return Ok(()) };
        self.set_skipped(std::slice::from_ref(id), skipped_because(&finished.outcome))
    }

    /// Sets pending rows to skipped, because the user said so.
    pub(super) fn skip(&mut self, tasks: &[String]) -> Result<()> {
        self.set_skipped(tasks, SKIPPED_BY_USER)
    }

    fn set_skipped(&mut self, tasks: &[String], why: &str) -> Result<()> {
        let (mut sheet, plan) = self.read_tasks()?;
        for id in tasks {
            let Some(index) = sheet.rows.iter().position(|row| row.id == *id) else {
                self.say(Level::Warning, format!("there is no task {} to skip", one_line(id)));
                continue;
            };
            let Some(row) = sheet.rows.get_mut(index).filter(|row| row.status == RowStatus::Pending) else { continue };
            row.status = RowStatus::Skipped;
            why.clone_into(&mut row.error);
            let state = row.state(plan.waves.wave.get(index).copied().unwrap_or(1));
            sheet.write(index, &state);
        }
        self.save_tasks(&sheet)
    }

    /// Whether the newest answered gate of this name approved exactly this.
    pub(super) fn is_approved(&mut self, name: &str, option: &str, hash: &str) -> Walk<bool> {
        let Some(answer) = self.driver.gates.newest(name)? else { return Ok(false) };
        let same = answer.approves.as_deref() == Some(hash);
        let chosen = answer.option(CONFIRM) == Some(option);
        if chosen && !same {
            self.say(Level::Info, "the plan was changed after it was approved, so it is shown again");
        }
        Ok(chosen && same)
    }
}

/// What the row of a task says that the user skipped.
const SKIPPED_BY_USER: &str = "skipped by the user";

/// What a row says that the user skipped, or ended while it ran.
pub(super) fn skipped_because(outcome: &JobOutcome) -> &'static str {
    let ran = outcome.attempt > 0 && outcome.duration_s > 0.0;
    if ran { "cancelled by the user" } else { SKIPPED_BY_USER }
}

/// Indices of the rows that a retry sets back.
fn wanted_rows(sheet: &Sheet<TaskRow>, tasks: &[String]) -> Result<Vec<usize>> {
    let ended = |row: &TaskRow| matches!(row.status, RowStatus::Failed | RowStatus::Skipped);
    if tasks.is_empty() {
        return Ok(sheet.rows.iter().enumerate().filter(|(_, row)| ended(row)).map(|(index, _)| index).collect());
    }
    let known = |id: &str| sheet.rows.iter().position(|row| row.id == id);
    let unknown: Vec<String> = tasks.iter().filter(|id| known(id).is_none()).map(|id| one_line(id)).collect();
    if !unknown.is_empty() {
        let all: Vec<&str> = sheet.rows.iter().map(|row| row.id.as_str()).collect();
        return Err(EngineError::usage(format!(
            "there is no task {}; there are {}",
            unknown.join(", "),
            all.join(", ")
        )));
    }
    let mut wanted: Vec<usize> = tasks.iter().filter_map(|id| known(id)).collect();
    // Whatever was skipped because of these comes along, also through others.
    let mut at = 0;
    while let Some(index) = wanted.get(at).copied() {
        at += 1;
        let Some(id) = sheet.rows.get(index).map(|row| row.id.clone()) else { continue };
        for (next, row) in sheet.rows.iter().enumerate() {
            if row.status == RowStatus::Skipped && row.deps.contains(&id) && !wanted.contains(&next) {
                wanted.push(next);
            }
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}
