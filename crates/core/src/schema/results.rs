//! What each role reports (spec 10, *Result schemas by role*).
//!
//! Doc comments become the descriptions of the schemas, which agents read: they are written for them.
//! Strict for what planex needs, open for more.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::discovery::DiscoveryKind;

/// Some agents, and all in strict dialects, write null for what they leave out.
fn null_is_absent<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Assessment of a requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assess {
    /// Kind of work.
    #[serde(rename = "type")]
    pub kind: WorkKind,
    /// Low: one place; Medium: several files or an integration point; High: cross-module or architectural.
    pub complexity: Complexity,
    /// 1 to 4 distinct points of view from which to explore the code.
    #[schemars(length(min = 1))]
    pub angles: Vec<AssessedAngle>,
}

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum WorkKind {
    Feature,
    Bugfix,
    Refactor,
    Security,
    Performance,
}

/// How far a change reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Complexity {
    Low,
    Medium,
    High,
}

/// One point of view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssessedAngle {
    /// E1, E2, …
    #[serde(default, deserialize_with = "null_is_absent")]
    pub id: String,
    /// Name, such as architecture, dependencies, integration-points, testing, patterns, security, performance,
    /// state-management, error-handling, edge-cases.
    #[schemars(length(min = 1))]
    pub angle: String,
    /// What to find out.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub description: String,
    /// Where to look and what matters, for this requirement.
    pub focus: String,
}

/// How it went, in the agent's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum ReportedStatus {
    Completed,
    Failed,
}

impl ReportedStatus {
    /// The word of the interface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

/// Something worth knowing for the others, for the shared board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiscoveryDraft {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: DiscoveryKind,
    /// Fields of the kind: code_pattern {name,file,description}, integration_point {file,description,exports},
    /// convention {naming,imports,formatting}, blocker {issue,severity,impact}, tech_stack {framework,version,config},
    /// test_command {command,framework,scope}.
    #[schemars(with = "DiscoveryFields")]
    pub data: Map<String, Value>,
}

/// The fields of all kinds of discoveries: strict dialects need them by name.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct DiscoveryFields {
    name: Option<String>,
    file: Option<String>,
    description: Option<String>,
    exports: Option<Vec<String>>,
    naming: Option<String>,
    imports: Option<String>,
    formatting: Option<String>,
    issue: Option<String>,
    severity: Option<String>,
    impact: Option<String>,
    framework: Option<String>,
    version: Option<String>,
    config: Option<String>,
    command: Option<String>,
    scope: Option<String>,
}

/// Result of exploring from one angle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreResult {
    /// Id of the row, as given.
    pub id: String,
    /// Whether the exploration succeeded.
    pub status: ReportedStatus,
    /// What was found, with paths, at most 800 characters.
    pub findings: String,
    /// Files that matter, relative to the project root.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub key_files: Vec<String>,
    /// Why it failed.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub error: String,
    /// Entries for the shared board.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub discoveries: Vec<DiscoveryDraft>,
}

/// A plan as tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanResult {
    /// The tasks, in the order in which a person would do them.
    #[schemars(length(min = 1))]
    pub tasks: Vec<PlannedTask>,
    /// Entries for the shared board.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub discoveries: Vec<DiscoveryDraft>,
}

/// One task of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTask {
    /// T1, T2, …
    pub id: String,
    /// One line.
    #[schemars(length(min = 1))]
    pub title: String,
    /// Complete in itself: who does the task reads nothing else.
    pub description: String,
    /// Test cases to write or to pass.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub test: String,
    /// What must hold when it is done, checkable.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub acceptance_criteria: String,
    /// Paths or globs that the task may change, separated by `;`. Globs know **, *, ?, {a,b}, […]; ! excludes.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub scope: String,
    /// Tips, then || and reference files separated by `;`; either part is optional.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub hints: String,
    /// Shell commands that verify the task, one a line.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub execution_directives: String,
    /// Ids of the tasks that must be done before.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub deps: Vec<String>,
    /// Ids of the explorations (E…) and tasks (T…) whose findings the task needs.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub context_from: Vec<String>,
}

/// Result of executing one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecuteResult {
    /// Id of the task, as given.
    pub id: String,
    /// completed only if all tests pass and all acceptance criteria are met.
    pub status: ReportedStatus,
    /// What was done and learned, at most 500 characters.
    pub findings: String,
    /// Files that were changed, relative to the project root.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub files_modified: Vec<String>,
    /// Whether all tests pass.
    pub tests_passed: bool,
    /// Which acceptance criteria are met, and which are not.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub acceptance_met: String,
    /// Why it failed.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub error: String,
    /// Entries for the shared board.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub discoveries: Vec<DiscoveryDraft>,
}

/// Result of a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewResult {
    /// PASS: nothing to do; WARN: worth mending; FAIL: must be mended.
    pub verdict: Verdict,
    /// One paragraph.
    pub summary: String,
    /// What was found.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub issues: Vec<ReviewIssue>,
    /// Entries for the shared board.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub discoveries: Vec<DiscoveryDraft>,
}

/// Verdict of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Verdict {
    Pass,
    Warn,
    Fail,
}

/// One thing that a review found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewIssue {
    /// critical, high, medium or low.
    pub severity: String,
    /// As file:line.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub location: String,
    /// What is wrong.
    pub description: String,
    /// How to mend it.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub fix: String,
}

/// Whether finished tasks meet their criteria.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConvergeResult {
    /// Each task that was looked at.
    pub tasks: Vec<ConvergedTask>,
    /// Entries for the shared board.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub discoveries: Vec<DiscoveryDraft>,
}

/// One task and its criteria.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConvergedTask {
    /// Id of the task, as given.
    pub task_id: String,
    /// Each criterion of the task.
    pub criteria: Vec<CheckedCriterion>,
    /// What no test covers.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub test_gaps: Vec<String>,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCriterion {
    /// Its words, as given.
    pub criterion: String,
    /// Whether it is met.
    pub met: bool,
    /// What shows it, as file:line or a command's output.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub evidence: String,
}

/// Result of mending what failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixResult {
    /// Whether it is mended.
    pub fixed: bool,
    /// Files that were changed, relative to the project root.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub files_modified: Vec<String>,
    /// What was done, or why it cannot be.
    pub summary: String,
    /// Entries for the shared board.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub discoveries: Vec<DiscoveryDraft>,
}

/// Whose report it is (spec 10: another id counts as no result, no id as the job's own).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It carries the expected id, or none, which was filled in.
    Own,
    /// It carries another one.
    Foreign(String),
}

/// Fills in a missing id of a report, and tells a foreign one. What is no object is left alone.
pub fn claim(report: &mut Value, expected: &str) -> Claim {
    let Some(map) = report.as_object_mut() else { return Claim::Own };
    let id = match map.get("id") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(id)) => id.trim().to_owned(),
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => other.to_string(),
    };
    if id.is_empty() || id == expected {
        map.insert("id".to_owned(), Value::String(expected.to_owned()));
        return Claim::Own;
    }
    Claim::Foreign(id)
}
