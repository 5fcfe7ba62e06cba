//! What a recording is: results that were given once, by role, item and attempt.

use camino::Utf8PathBuf;
use planex_core::job::{CauseKind, JobSpec, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Recorded answers of agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The answers.
    pub steps: Vec<Step>,
}

/// The answer to one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// For jobs of this role; `None`: of every role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// For the row or task of this id; `None`: for every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// For this attempt, from 1; `None`: for every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How long the work seems to take.
    #[serde(default)]
    pub delay_ms: u64,
    /// Lines of activity, spread over the delay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activity: Vec<String>,
    /// Changes that are really made below the job's folder (mode write only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// Commands that are really run in the job's folder, after the edits (mode write only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<Vec<String>>,
    /// The result.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The final text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The job fails with this instead, after its edits and commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail: Option<Failure>,
}

/// How a recorded job fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of cause.
    pub kind: CauseKind,
    /// The words.
    #[serde(default)]
    pub message: String,
}

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Relative to the job's folder; a path that leads out of it fails the job.
    pub path: Utf8PathBuf,
    /// What is done.
    #[serde(flatten)]
    pub change: Change,
}

/// What is done to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The whole file, made or replaced.
    Content(String),
    /// Removed (`delete: true`); a file that is not there is fine.
    Delete(bool),
    /// Every occurrence of `old` becomes `new`; none is a failure.
    Replace {
        /// What is looked for.
        old: String,
        /// What takes its place.
        new: String,
    },
}

impl Recording {
    /// The step for a job: of all that fit, the one that names most of item, attempt and role (in this order of
    /// weight); of equals the first.
    #[must_use]
    pub fn step_for(&self, role: Role, item: &str, attempt: u32) -> Option<&Step> {
        let mut best: Option<(u8, &Step)> = None;
        for step in &self.steps {
            let fits = step.role.is_none_or(|r| r == role)
                && step.item.as_deref().is_none_or(|i| i == item)
                && step.attempt.is_none_or(|a| a == attempt);
            let weight = u8::from(step.item.is_some()) * 4
                + u8::from(step.attempt.is_some()) * 2
                + u8::from(step.role.is_some());
            if fits && best.is_none_or(|(found, _)| weight > found) {
                best = Some((weight, step));
            }
        }
        best.map(|(_, step)| step)
    }
}

/// The row or task that a job is for: the id its report must carry, its row's `id`, or its run's id.
#[must_use]
pub fn item_of(spec: &JobSpec) -> &str {
    let of_row = || spec.item.as_ref().and_then(|row| row.get("id")).and_then(Value::as_str);
    spec.expected_id.as_deref().or_else(of_row).unwrap_or(&spec.run_id)
}

/// Which attempt a run's id names: 1, or one more than the number behind `-retry` (`-retry` alone is the second).
#[must_use]
pub fn attempt_of(run_id: &str) -> u32 {
    match run_id.rsplit_once("-retry") {
        Some((_, "")) => 2,
        Some((_, rest)) => {
            let number = rest.strip_prefix('-').and_then(|n| n.parse::<u32>().ok());
            number.map_or(1, |n| n.saturating_add(1))
        }
        None => 1,
    }
}
