//! Phase 1: from the requirement to `explore.csv` (spec 20).

use planex_core::event::Level;
use planex_core::job::{JobStatus, Mode, Role};
use planex_core::prompt::waves as prompt;
use planex_core::rows::{ExploreRow, Sheet, explore_table, read_explore};
use planex_core::schema::results::Assess;
use planex_sys::fs;
use serde_json::{Map, Value};

use super::jobs::Wanted;
use super::{Flow, Walk, off_thread};
use crate::error::{EngineError, Result};

/// Most angles of one session (spec 20).
const MOST_ANGLES: usize = 4;

impl Flow<'_> {
    /// Decides on the angles and writes `explore.csv`, unless it is there.
    pub(super) async fn choose_angles(&mut self) -> Walk {
        let file = self.driver.session.paths.explore_csv();
        if fs::exists(&file) {
            return Ok(());
        }
        self.phase("assess", "Choosing exploration angles");
        let assess = self.assess().await?;
        fs::write_atomic(&file, explore_table(&assess).to_csv().as_bytes())?;
        let names: Vec<&str> = assess.angles.iter().map(|angle| angle.angle.as_str()).collect();
        self.phase_done(
            "assess",
            format!("{:?}, {:?} complexity: {}", assess.kind, assess.complexity, names.join(", ")),
        );
        Ok(())
    }

    /// Type, complexity and angles: by an agent where one is usable, else, and for a bad answer, by planex itself.
    async fn assess(&mut self) -> Walk<Assess> {
        let requirement = self.driver.session.meta.requirement.clone();
        let chain = self.reader(Role::Assess).await?;
        let around = self.surroundings(Role::Assess)?;
        let evidence = self.evidence(requirement.clone(), None).await?;
        let fields = Map::from_iter([("requirement".to_owned(), Value::String(requirement.clone()))]);
        let wanted = Wanted {
            role: Role::Assess,
            mode: Mode::Analysis,
            item: "assess",
            title: "Choose angles",
            prompt: prompt::assess(&requirement, &evidence, &around),
            schema: "assess",
            is_row: false,
            fields,
        };
        let job = self.request(wanted, chain)?;
        let outcome = self.run_one(job).await?;
        let answered = outcome.result.filter(|_| outcome.status == JobStatus::Completed);
        let chosen = answered.and_then(|value| serde_json::from_value::<Assess>(value).ok());
        let count = chosen.as_ref().map_or(0, |assess| assess.angles.len());
        match chosen.and_then(sensible) {
            Some(assess) => {
                let kept = assess.angles.len();
                if kept < count {
                    self.say(
                        Level::Info,
                        format!("{} named {count} angles; {kept} distinct ones are kept", outcome.agent),
                    );
                }
                Ok(assess)
            }
            None => {
                let why = outcome
                    .cause
                    .map_or_else(|| "its answer names no usable angle".to_owned(), |cause| cause.to_string());
                self.say(
                    Level::Warning,
                    format!("{} chose no angles ({why}); planex chooses by itself", outcome.agent),
                );
                let native = std::sync::Arc::clone(&self.engine.native);
                let assess = move || planex_explore::assess(&requirement, native.explorer().ok().as_deref());
                Ok(off_thread(assess).await?)
            }
        }
    }

    /// Reads and checks `explore.csv`.
    pub(super) fn read_explore(&self) -> Result<Sheet<ExploreRow>> {
        let file = self.driver.session.paths.explore_csv();
        read_explore(&fs::read(&file)?).map_err(|faults| input_error(&self.shown(&file), &faults))
    }

    /// Rows of `explore.csv`, or none where the session does not explore.
    pub(super) fn explorations(&self) -> Result<Vec<ExploreRow>> {
        if !fs::exists(&self.driver.session.paths.explore_csv()) {
            return Ok(Vec::new());
        }
        Ok(self.read_explore()?.rows)
    }
}

/// Faults of a file that people edit, as the lines a user sees.
pub(super) fn input_error(file: &str, faults: &[planex_core::rows::Fault]) -> EngineError {
    let lines = faults.iter().map(|fault| format!("{file}:{fault}")).collect();
    EngineError::input(format!("{file} can't be used"), lines).hint("mend the file, then go on with --continue")
}

/// An answer with one to four distinct angles; more are cut, repeated ones dropped.
fn sensible(mut assess: Assess) -> Option<Assess> {
    let mut seen = Vec::new();
    assess.angles.retain(|angle| {
        let name = angle.angle.trim().to_lowercase();
        let new = !name.is_empty() && !seen.contains(&name);
        seen.push(name);
        new
    });
    assess.angles.truncate(MOST_ANGLES);
    (!assess.angles.is_empty()).then_some(assess)
}
