//! Bringing what agents reported into rows, and deciding which rows run next. Pure; the engine writes the files.

use std::collections::HashMap;

use super::{ExploreRow, RowStatus, TaskRow};
use crate::csv::clean_cell;
use crate::job::{JobOutcome, JobStatus};
use crate::schema::results::{ExecuteResult, ExploreResult, ReportedStatus};
use crate::text::truncate_chars;

/// Longest `findings` of explore.csv, in characters (spec 20).
pub const EXPLORE_FINDINGS: usize = 800;
/// Longest `findings` of tasks.csv, in characters (spec 20).
pub const TASK_FINDINGS: usize = 500;
/// The reason of a skipped row.
pub const SKIPPED: &str = "Dependency failed or skipped";

impl ExploreRow {
    /// Takes over what a run came to. The status is the one that was reported, not that of the run.
    pub fn take(&mut self, outcome: &JobOutcome) {
        let Some(report) = report_of::<ExploreResult>(outcome) else {
            self.status = RowStatus::Failed;
            self.error = failure(outcome);
            return;
        };
        self.status = if report.status == ReportedStatus::Completed { RowStatus::Completed } else { RowStatus::Failed };
        self.findings = truncate_chars(&clean_cell(&report.findings), EXPLORE_FINDINGS);
        self.key_files = report.key_files.iter().map(|file| clean_cell(file)).collect();
        self.error = match self.status {
            RowStatus::Failed => reason(&report.error, &report.findings),
            RowStatus::Pending | RowStatus::Completed | RowStatus::Skipped => String::new(),
        };
    }
}

impl TaskRow {
    /// Takes over what a run came to: `completed` only if the agent says so and its tests did not fail.
    ///
    /// `files` are those planex observed; what the agent claims is not asked for.
    pub fn take(&mut self, outcome: &JobOutcome, files: Vec<String>) {
        self.files_modified = files;
        let Some(report) = report_of::<ExecuteResult>(outcome) else {
            self.status = RowStatus::Failed;
            self.error = failure(outcome);
            return;
        };
        self.findings = truncate_chars(&clean_cell(&report.findings), TASK_FINDINGS);
        self.tests_passed = Some(report.tests_passed);
        self.acceptance_met = clean_cell(&report.acceptance_met);
        (self.status, self.error) = match (report.status, report.tests_passed) {
            (ReportedStatus::Completed, true) => (RowStatus::Completed, String::new()),
            (ReportedStatus::Completed, false) => (
                RowStatus::Failed,
                reason(&report.error, "the agent reported `completed`, but also that tests do not pass"),
            ),
            (ReportedStatus::Failed, _) => (RowStatus::Failed, reason(&report.error, &report.findings)),
        };
    }
}

impl TaskRow {
    /// What planex found contradicts that the tests pass: downwards only (spec 70, *Truth over claims*).
    pub fn contradict(&mut self, found: &str) {
        self.tests_passed = Some(false);
        self.refuse(found);
    }

    /// Nothing of it counts, for this reason. A reason that it has already stays in front.
    pub fn refuse(&mut self, reason: &str) {
        let both = if self.error.is_empty() { reason.to_owned() } else { format!("{}; {reason}", self.error) };
        self.error = truncate_chars(&clean_cell(&both), TASK_FINDINGS);
        if self.status != RowStatus::Skipped {
            self.status = RowStatus::Failed;
        }
    }

    /// Says something about a row without changing how it ended.
    pub fn remark(&mut self, text: &str) {
        let both = if self.error.is_empty() { text.to_owned() } else { format!("{}; {text}", self.error) };
        self.error = truncate_chars(&clean_cell(&both), TASK_FINDINGS);
    }
}

/// The report of a run that ended well. Discoveries are left out: a malformed one must not spoil the report.
fn report_of<T: serde::de::DeserializeOwned>(outcome: &JobOutcome) -> Option<T> {
    let mut value = outcome.result.clone().filter(|_| outcome.status == JobStatus::Completed)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("discoveries");
    }
    serde_json::from_value(value).ok()
}

/// The agent's own reason, else what stands for it; one readable cell.
fn reason(error: &str, otherwise: &str) -> String {
    let said = if error.trim().is_empty() { otherwise } else { error };
    truncate_chars(&clean_cell(said), TASK_FINDINGS)
}

fn failure(outcome: &JobOutcome) -> String {
    let cause = outcome.cause.as_ref().map_or_else(|| "failed: the run left no result".to_owned(), ToString::to_string);
    truncate_chars(&clean_cell(&cause), TASK_FINDINGS)
}

/// Sets every pending row to skipped whose dependency failed or was skipped, also through others.
///
/// Failures of an earlier run count too. Returns the indices of the rows that were skipped now, in the order of the
/// list. Linear in rows and dependencies.
pub fn cascade(tasks: &mut [TaskRow]) -> Vec<usize> {
    let index: HashMap<String, usize> = tasks.iter().enumerate().map(|(i, row)| (row.id.clone(), i)).collect();
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    for (i, row) in tasks.iter().enumerate() {
        for dep in row.deps.iter().filter_map(|dep| index.get(dep)) {
            if let Some(list) = dependents.get_mut(*dep) {
                list.push(i);
            }
        }
    }
    let stopped = |row: &TaskRow| matches!(row.status, RowStatus::Failed | RowStatus::Skipped);
    let mut queue: Vec<usize> = tasks.iter().enumerate().filter(|(_, row)| stopped(row)).map(|(i, _)| i).collect();
    let mut skipped = Vec::new();
    while let Some(at) = queue.pop() {
        for next in dependents.get(at).cloned().unwrap_or_default() {
            let Some(row) = tasks.get_mut(next).filter(|row| row.status == RowStatus::Pending) else { continue };
            row.status = RowStatus::Skipped;
            SKIPPED.clone_into(&mut row.error);
            skipped.push(next);
            queue.push(next);
        }
    }
    skipped.sort_unstable();
    skipped
}

/// The lowest wave that still has pending rows, with their indices in the order of the list.
#[must_use]
pub fn next_wave(tasks: &[TaskRow], wave_of: &[u32]) -> Option<(u32, Vec<usize>)> {
    let pending = || tasks.iter().zip(wave_of).enumerate().filter(|(_, (row, _))| row.status == RowStatus::Pending);
    let wave = pending().map(|(_, (_, wave))| *wave).min()?;
    Some((wave, pending().filter(|(_, (_, w))| **w == wave).map(|(i, _)| i).collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::job::{Cause, CauseKind, Role, Usage};

    fn outcome(status: JobStatus, result: Option<serde_json::Value>) -> JobOutcome {
        JobOutcome {
            run_id: "s-T1".into(),
            role: Role::Execute,
            agent: "scripted".into(),
            model: None,
            status,
            cause: (status != JobStatus::Completed).then(|| Cause::new(CauseKind::Timeout, "no time left")),
            result,
            source: None,
            notes: Vec::new(),
            text: String::new(),
            agent_session: None,
            usage: Usage::default(),
            started_at: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 0.0,
            exit: None,
            files_changed: Vec::new(),
            attempt: 1,
            left_running: Vec::new(),
        }
    }

    fn task(id: &str, deps: &[&str], status: RowStatus) -> TaskRow {
        TaskRow { id: id.into(), deps: deps.iter().map(|d| (*d).to_owned()).collect(), status, ..TaskRow::default() }
    }

    #[test]
    fn completed_with_failed_tests_is_failed() {
        let mut row = task("T1", &[], RowStatus::Pending);
        let report = json!({"id": "T1", "status": "completed", "findings": "done", "tests_passed": false});
        row.take(&outcome(JobStatus::Completed, Some(report)), vec!["a".into()]);
        assert_eq!(row.status, RowStatus::Failed);
        assert_eq!(row.tests_passed, Some(false));
        assert!(row.error.contains("tests do not pass"), "{}", row.error);
        assert_eq!(row.files_modified, ["a"]);
    }

    #[test]
    fn a_run_that_ended_badly_names_the_cause_first() {
        let mut row = task("T1", &[], RowStatus::Pending);
        row.take(&outcome(JobStatus::Timeout, None), Vec::new());
        assert_eq!((row.status, row.error.as_str()), (RowStatus::Failed, "timeout: no time left"));
    }

    #[test]
    fn explore_status_is_the_reported_one() {
        let mut row = ExploreRow::default();
        let long = "界".repeat(900);
        let report = json!({"id": "E1", "status": "failed", "findings": long, "key_files": ["a.rs"]});
        row.take(&outcome(JobStatus::Completed, Some(report)));
        assert_eq!(row.status, RowStatus::Failed);
        assert_eq!(row.findings.chars().count(), EXPLORE_FINDINGS);
        assert!(row.findings.ends_with('…'));
    }

    #[test]
    fn cascade_goes_through_and_counts_earlier_failures() {
        let mut tasks = vec![
            task("T4", &["T3"], RowStatus::Pending),
            task("T1", &[], RowStatus::Failed),
            task("T2", &[], RowStatus::Completed),
            task("T3", &["T2", "T1"], RowStatus::Pending),
            task("T5", &["T2"], RowStatus::Pending),
        ];
        assert_eq!(cascade(&mut tasks), [0, 3]);
        assert_eq!(tasks.iter().map(|t| t.status).collect::<Vec<_>>()[4], RowStatus::Pending);
        assert_eq!(cascade(&mut tasks), Vec::<usize>::new());
    }

    #[test]
    fn the_lowest_wave_with_pending_rows_is_next() {
        let tasks = [
            task("T1", &[], RowStatus::Completed),
            task("T2", &["T1"], RowStatus::Pending),
            task("T3", &["T1"], RowStatus::Pending),
            task("T4", &["T2"], RowStatus::Pending),
        ];
        assert_eq!(next_wave(&tasks, &[1, 2, 2, 3]), Some((2, vec![1, 2])));
        assert_eq!(next_wave(&tasks[..1], &[1]), None);
    }
}
