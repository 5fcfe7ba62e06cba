//! Phase 2: exploring, wave by wave of `explore.csv` (spec 20).

use std::collections::HashMap;

use planex_core::csv::Table;
use planex_core::event::{EventKind, Level};
use planex_core::job::{JobOutcome, JobStatus, Mode, Role};
use planex_core::prompt::waves as prompt;
use planex_core::rows::{ExploreRow, RowStatus, Sheet, explore_waves};
use planex_sys::fs;
use serde_json::Value;

use super::jobs::{Wanted, leave_if_stopped};
use super::retry::skipped_because;
use super::{Flow, Walk};
use crate::error::Result;
use crate::run::{Ended, JobRequest, Next};

const INPUT: [&str; 6] = ["id", "angle", "description", "focus", "deps", "wave"];

impl Flow<'_> {
    /// Explores every pending row; a row whose dependency did not complete is skipped.
    pub(super) async fn explore_waves(&mut self) -> Walk {
        let mut announced = false;
        loop {
            let mut sheet = self.read_explore()?;
            let waves = explore_waves(&sheet).map_err(|faults| {
                super::angles::input_error(&self.shown(&self.driver.session.paths.explore_csv()), &faults)
            })?;
            self.skip_explorations(&mut sheet, &waves)?;
            let pending = |row: &ExploreRow| row.status == RowStatus::Pending;
            let Some(wave) = sheet.rows.iter().zip(&waves).filter(|(row, _)| pending(row)).map(|(_, wave)| *wave).min()
            else {
                break;
            };
            if !announced {
                self.phase("explore", &format!("Exploring from {} angle(s)", sheet.rows.len()));
                announced = true;
            }
            let now: Vec<usize> = (0..sheet.rows.len())
                .filter(|i| waves.get(*i) == Some(&wave) && sheet.rows.get(*i).is_some_and(pending))
                .collect();
            self.explore_wave(&mut sheet, &waves, wave, &now).await?;
        }
        if announced {
            let rows = self.explorations()?;
            let done = rows.iter().filter(|row| row.status == RowStatus::Completed).count();
            if done == 0 {
                self.say(Level::Warning, "every exploration failed: planning goes on from the requirement alone");
            }
            self.phase_done("explore", format!("{done} of {} angles explored", rows.len()));
        }
        Ok(())
    }

    async fn explore_wave(&mut self, sheet: &mut Sheet<ExploreRow>, waves: &[u32], wave: u32, now: &[usize]) -> Walk {
        let file = self.driver.session.paths.explore_wave(wave);
        fs::write_atomic(&file, wave_table(sheet, now).to_csv().as_bytes())?;
        let of = waves.iter().copied().max().unwrap_or(wave);
        let items: Vec<String> = now.iter().filter_map(|i| sheet.rows.get(*i)).map(|row| row.id.clone()).collect();
        self.driver.events.emit(EventKind::WaveStarted { phase: "explore".to_owned(), wave, of, items });
        let chain = self.reader(Role::Explore).await?;
        let mut jobs: Vec<JobRequest> = Vec::new();
        for row in now.iter().filter_map(|i| sheet.rows.get(*i)) {
            jobs.push(self.request(self.exploration(row).await?, chain.clone())?);
        }
        let mut outcomes: HashMap<usize, (JobOutcome, Ended)> = HashMap::new();
        let report = self
            .run_batch(jobs, None, |_, finished| {
                outcomes.insert(finished.index, (finished.outcome, finished.ended));
                Ok(Next::GoOn)
            })
            .await?;
        let mut counts = (0, 0, 0);
        for (place, index) in now.iter().enumerate() {
            let (Some(outcome), Some(row)) = (outcomes.get(&place), sheet.rows.get_mut(*index)) else { continue };
            let (outcome, ended) = outcome;
            match (*ended, outcome.status) {
                (Ended::Skipped, _) => {
                    row.status = RowStatus::Skipped;
                    skipped_because(outcome).clone_into(&mut row.error);
                }
                // Ended because everything ends: it runs again at the next resume.
                (_, JobStatus::Cancelled) => continue,
                _ => row.take(outcome),
            }
            let missing = self.drop_absent(&mut row.key_files);
            match row.status {
                RowStatus::Completed => counts.0 += 1,
                RowStatus::Skipped => counts.2 += 1,
                RowStatus::Failed | RowStatus::Pending => counts.1 += 1,
            }
            let (state, id, title) = (row.state(wave), row.id.clone(), row.angle.clone());
            let (status, error) = (row.status.to_string(), row.error.clone());
            sheet.write(*index, &state);
            if !missing.is_empty() {
                self.say(Level::Warning, format!("{id} cites files that do not exist: {}", missing.join(", ")));
            }
            self.driver.events.emit(EventKind::ItemFinished { item: id, title, status, error });
        }
        self.save_explore(sheet)?;
        fs::remove_file(&file)?;
        leave_if_stopped(&report)?;
        self.driver.events.emit(EventKind::WaveFinished {
            phase: "explore".to_owned(),
            wave,
            completed: counts.0,
            failed: counts.1,
            skipped: counts.2,
        });
        Ok(())
    }

    async fn exploration<'a>(&self, row: &'a ExploreRow) -> Result<Wanted<'a>> {
        let requirement = &self.driver.session.meta.requirement;
        let around = self.surroundings(Role::Explore)?;
        let asked = format!("{requirement}\n{}", row.focus);
        let evidence = self.evidence(asked, Some(row.angle.clone())).await?;
        let angle = prompt::Angle { id: &row.id, angle: &row.angle, description: &row.description, focus: &row.focus };
        let fields = [
            ("id", &row.id),
            ("angle", &row.angle),
            ("description", &row.description),
            ("focus", &row.focus),
            ("requirement", requirement),
        ];
        Ok(Wanted {
            role: Role::Explore,
            mode: Mode::Analysis,
            item: &row.id,
            title: &row.angle,
            prompt: prompt::explore(requirement, angle, &evidence, &around),
            schema: "explore-waves",
            is_row: true,
            fields: fields.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value.clone()))).collect(),
        })
    }

    /// Rows whose dependency failed or was skipped: skipped themselves, with the reason.
    fn skip_explorations(&mut self, sheet: &mut Sheet<ExploreRow>, waves: &[u32]) -> Result<()> {
        let mut changed = false;
        while let Some((index, dep)) = next_skipped(&sheet.rows) {
            let Some(row) = sheet.rows.get_mut(index) else { break };
            row.status = RowStatus::Skipped;
            row.error = format!("{}: {dep}", planex_core::rows::SKIPPED);
            let state = row.state(waves.get(index).copied().unwrap_or(1));
            sheet.write(index, &state);
            changed = true;
        }
        if changed { self.save_explore(sheet) } else { Ok(()) }
    }

    fn save_explore(&self, sheet: &Sheet<ExploreRow>) -> Result<()> {
        self.driver.session.check_lock()?;
        Ok(fs::write_atomic(&self.driver.session.paths.explore_csv(), sheet.to_csv().as_bytes())?)
    }

    /// Removes cited files that do not exist from a list and gives them back.
    fn drop_absent(&self, files: &mut Vec<String>) -> Vec<String> {
        let claims = planex_explore::check_claims(&self.engine.project.root, files);
        let absent: Vec<String> = claims.iter().filter(|claim| !claim.ok).map(|claim| claim.cited.clone()).collect();
        files.retain(|file| !absent.contains(file));
        absent
    }
}

/// A pending row with a dependency that did not complete, and that dependency.
fn next_skipped(rows: &[ExploreRow]) -> Option<(usize, String)> {
    let stopped = |id: &&String| {
        rows.iter().any(|row| row.id == **id && matches!(row.status, RowStatus::Failed | RowStatus::Skipped))
    };
    rows.iter()
        .enumerate()
        .filter(|(_, row)| row.status == RowStatus::Pending)
        .find_map(|(index, row)| row.deps.iter().find(stopped).map(|dep| (index, dep.clone())))
}

fn wave_table(sheet: &Sheet<ExploreRow>, now: &[usize]) -> Table {
    let mut table = Table::new(INPUT.map(str::to_owned).to_vec());
    for index in now {
        let cells = INPUT.map(|column| sheet.table().cell(*index, column).unwrap_or_default().to_owned());
        table.push(cells.to_vec());
    }
    table
}
