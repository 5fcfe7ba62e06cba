//! Where a session keeps what: all paths of a session folder, in this one file (spec 00, *State*).
//!
//! Names that come from a plan, a CSV or an agent are checked by [`planex_core::id`] before they get here.

use camino::{Utf8Path, Utf8PathBuf};

/// The paths of one session folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    dir: Utf8PathBuf,
}

impl SessionPaths {
    /// The paths below `dir` (absolute). Nothing is created.
    #[must_use]
    pub fn new(dir: impl Into<Utf8PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The session's folder.
    #[must_use]
    pub fn dir(&self) -> &Utf8Path {
        &self.dir
    }

    /// planex's own state: `.planex/`.
    #[must_use]
    pub fn planex(&self) -> Utf8PathBuf {
        self.dir.join(".planex")
    }

    /// What the session is and how it was started.
    #[must_use]
    pub fn meta(&self) -> Utf8PathBuf {
        self.planex().join("meta.json")
    }

    /// Folder of all runs.
    #[must_use]
    pub fn runs(&self) -> Utf8PathBuf {
        self.planex().join("runs")
    }

    /// Folder of one run.
    #[must_use]
    pub fn run(&self, run_id: &str) -> Utf8PathBuf {
        self.runs().join(run_id)
    }

    /// Folder of all checks.
    #[must_use]
    pub fn all_checks(&self) -> Utf8PathBuf {
        self.planex().join("checks")
    }

    /// Logs of the commands that planex runs to verify `name`: a run's id, `baseline`, `merged-2`.
    #[must_use]
    pub fn checks(&self, name: &str) -> Utf8PathBuf {
        self.all_checks().join(name)
    }

    /// How the project's own tests were before the first wave.
    #[must_use]
    pub fn baseline(&self) -> Utf8PathBuf {
        self.planex().join("baseline.json")
    }

    /// Folder of gates and answers.
    #[must_use]
    pub fn gates(&self) -> Utf8PathBuf {
        self.planex().join("gates")
    }

    /// One gate.
    #[must_use]
    pub fn gate(&self, id: &str) -> Utf8PathBuf {
        self.gates().join(format!("{id}.json"))
    }

    /// The answer to one gate.
    #[must_use]
    pub fn answer(&self, id: &str) -> Utf8PathBuf {
        self.gates().join(format!("{id}.answer.json"))
    }

    /// What other processes ask the driver to do.
    #[must_use]
    pub fn requests(&self) -> Utf8PathBuf {
        self.planex().join("requests")
    }

    /// What the job `run_id` came to when the user skipped it.
    #[must_use]
    pub fn skipped(&self, run_id: &str) -> Utf8PathBuf {
        self.planex().join("skipped").join(format!("{run_id}.json"))
    }

    /// Every event, append-only.
    #[must_use]
    pub fn journal(&self) -> Utf8PathBuf {
        self.planex().join("journal.ndjson")
    }

    /// The lock of the one driver.
    #[must_use]
    pub fn lock(&self) -> Utf8PathBuf {
        self.planex().join("lock")
    }

    /// Until when agents are limited, so that a wait survives a resume.
    #[must_use]
    pub fn limits(&self) -> Utf8PathBuf {
        self.planex().join("limits.json")
    }

    /// The copy of a fanout's input, its template and schema.
    #[must_use]
    pub fn inputs(&self) -> Utf8PathBuf {
        self.planex().join("inputs")
    }

    /// Which lines of the tasks' directives are commands, as it was decided at the approval.
    #[must_use]
    pub fn commands(&self) -> Utf8PathBuf {
        self.planex().join("commands.json")
    }

    /// Folder of the books of waves.
    #[must_use]
    pub fn waves(&self) -> Utf8PathBuf {
        self.planex().join("waves")
    }

    /// The book of one wave that ran.
    #[must_use]
    pub fn wave(&self, seq: u32) -> Utf8PathBuf {
        self.waves().join(format!("{seq:04}.json"))
    }

    /// Where a write into the user's tree keeps its journal, the staged files and what they replace.
    #[must_use]
    pub fn swap(&self) -> Utf8PathBuf {
        self.planex().join("swap")
    }

    /// planex's own copies of indices, while it works with them.
    #[must_use]
    pub fn scratch(&self) -> Utf8PathBuf {
        self.planex().join("scratch")
    }

    /// Folder of what tasks made and was not merged.
    #[must_use]
    pub fn patches(&self) -> Utf8PathBuf {
        self.planex().join("patches")
    }

    /// The shared board.
    #[must_use]
    pub fn discoveries(&self) -> Utf8PathBuf {
        self.dir.join("discoveries.ndjson")
    }

    /// The lock that makes "read, deduplicate, append" of the board one step.
    #[must_use]
    pub fn discoveries_lock(&self) -> Utf8PathBuf {
        self.planex().join("discoveries.lock")
    }

    /// `explore.csv`.
    #[must_use]
    pub fn explore_csv(&self) -> Utf8PathBuf {
        self.dir.join("explore.csv")
    }

    /// `tasks.csv`.
    #[must_use]
    pub fn tasks_csv(&self) -> Utf8PathBuf {
        self.dir.join("tasks.csv")
    }

    /// `results.csv`.
    #[must_use]
    pub fn results_csv(&self) -> Utf8PathBuf {
        self.dir.join("results.csv")
    }

    /// `context.md`.
    #[must_use]
    pub fn context_md(&self) -> Utf8PathBuf {
        self.dir.join("context.md")
    }

    /// Everything that was merged, with `--into patch`.
    #[must_use]
    pub fn changes_patch(&self) -> Utf8PathBuf {
        self.dir.join("changes.patch")
    }

    /// A plan that was refused twice.
    #[must_use]
    pub fn tasks_rejected(&self) -> Utf8PathBuf {
        self.dir.join("tasks.rejected.json")
    }

    /// `explore-wave-{n}.csv`, while that wave runs.
    #[must_use]
    pub fn explore_wave(&self, wave: u32) -> Utf8PathBuf {
        self.dir.join(format!("explore-wave-{wave}.csv"))
    }

    /// `task-wave-{n}.csv`, while that wave runs.
    #[must_use]
    pub fn task_wave(&self, wave: u32) -> Utf8PathBuf {
        self.dir.join(format!("task-wave-{wave}.csv"))
    }

    /// A gate's notes for pending tasks.
    #[must_use]
    pub fn notes(&self) -> Utf8PathBuf {
        self.planex().join("notes.ndjson")
    }
}

/// Paths of one run's folder, `runs/<run_id>/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPaths {
    dir: Utf8PathBuf,
}

impl RunPaths {
    /// The paths below a run's folder.
    #[must_use]
    pub fn new(dir: impl Into<Utf8PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Utf8Path {
        &self.dir
    }

    /// The outcome; once it is flushed the run counts as finished.
    #[must_use]
    pub fn result(&self) -> Utf8PathBuf {
        self.dir.join("result.json")
    }

    /// Who runs: what is needed to resume or to end leftovers before there is a result.
    #[must_use]
    pub fn ident(&self) -> Utf8PathBuf {
        self.dir.join("ident.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_lies_inside_the_session() {
        let paths = SessionPaths::new("/p/.workflow/.lite-plan/wpp-x");
        let all = [
            paths.meta(),
            paths.run("a-T1"),
            paths.skipped("a-T1"),
            paths.checks("a-T1"),
            paths.baseline(),
            paths.gate("tasks"),
            paths.answer("tasks"),
            paths.requests(),
            paths.journal(),
            paths.lock(),
            paths.discoveries(),
            paths.explore_csv(),
            paths.tasks_csv(),
            paths.results_csv(),
            paths.context_md(),
            paths.explore_wave(1),
            paths.task_wave(2),
        ];
        for path in &all {
            assert!(path.starts_with(paths.dir()), "{path}");
        }
        assert_eq!(paths.explore_wave(3).file_name(), Some("explore-wave-3.csv"));
        assert_eq!(paths.answer("tasks-2").file_name(), Some("tasks-2.answer.json"));
    }
}
