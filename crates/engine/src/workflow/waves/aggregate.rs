//! Phase 5: results and report (spec 20).

use planex_core::id;
use planex_core::job::Usage;
use planex_core::report::{RunLine, Totals, WavesReport};
use planex_sys::fs;

use super::Flow;
use crate::error::Result;
use crate::registry;

impl Flow<'_> {
    /// Writes `results.csv` and `context.md`.
    pub(super) fn aggregate(&mut self) -> Result<()> {
        self.phase("aggregate", "Writing the report");
        let paths = self.driver.session.paths.clone();
        let (sheet, plan) = self.read_tasks()?;
        fs::write_atomic(&paths.results_csv(), sheet.to_csv().as_bytes())?;
        let explorations = self.explorations()?;
        let runs = self.run_lines()?;
        let report = WavesReport {
            session: &self.driver.session.id,
            requirement: &self.driver.session.meta.requirement,
            time: &self.engine.zone.stamp(self.engine.clock.now()),
            concurrency: self.engine.settings.concurrency.0,
            explorations: &explorations,
            tasks: &sheet.rows,
            wave_of: &plan.waves.wave,
            usage: self.usage(),
            runs: &runs,
            notes: &self.notes,
        };
        fs::write_atomic(&paths.context_md(), report.to_markdown().as_bytes())?;
        self.phase_done("aggregate", self.shown(&paths.context_md()));
        Ok(())
    }

    /// One line a run, in the order in which they started.
    fn run_lines(&self) -> Result<Vec<RunLine>> {
        let prefix = id::run_id(&self.driver.session.id, "");
        let mut runs: Vec<_> = registry::runs(&self.driver.session.paths)?
            .into_iter()
            .filter_map(|run| run.outcome.map(|o| (run.id, o)))
            .collect();
        runs.sort_by_key(|(_, outcome)| outcome.started_at);
        let lines = runs.into_iter().map(|(run, outcome)| RunLine {
            item: run.strip_prefix(&prefix).unwrap_or(&run).to_owned(),
            agent: outcome.agent,
            agent_session: outcome.agent_session.unwrap_or_default(),
            usage: outcome.usage,
            duration_s: outcome.duration_s,
            run,
        });
        Ok(lines.collect())
    }

    /// Tokens and cost of the session so far.
    pub(super) fn usage(&self) -> Usage {
        crate::usage::of_session(&self.driver.session.paths).unwrap_or_default()
    }

    /// Counts of the session; zero where there is no readable plan yet.
    pub(super) fn totals(&self) -> Totals {
        let explorations = self.explorations().unwrap_or_default();
        let Some((sheet, plan)) = self.has_tasks().then(|| self.read_tasks().ok()).flatten() else {
            return Totals::count(&explorations, &[], 0);
        };
        Totals::count(&explorations, &sheet.rows, plan.last_wave())
    }
}
