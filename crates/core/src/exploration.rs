//! The exploration file `exploration-{angle}.json` (spec 15, *Exploration file*).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What was found from one angle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exploration {
    /// How the project is laid out. Text; real files also hold lists and objects.
    pub project_structure: Value,
    /// Files that matter, best first.
    pub relevant_files: Vec<RelevantFile>,
    /// Patterns to follow, with examples.
    pub patterns: Value,
    /// What depends on what.
    pub dependencies: Value,
    /// Where a change connects, as `file:line`.
    pub integration_points: Value,
    /// What must hold.
    pub constraints: Value,
    /// What a person should be asked.
    pub clarification_needs: Vec<Clarification>,
    /// Where it comes from.
    #[serde(rename = "_metadata")]
    pub metadata: ExplorationMetadata,
    /// Fields planex does not know, kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One file that matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelevantFile {
    /// Relative to the project root, with `/`.
    pub path: String,
    /// 0..1; 0.7 and more is high, 0.5 to 0.7 medium.
    pub relevance: f64,
    /// Why this file: specific, more than 10 characters.
    pub rationale: String,
    /// What the file is to the task.
    pub role: FileRole,
    /// How it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery_source: Option<String>,
    /// Symbols that matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_symbols: Vec<String>,
    /// Places that matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_code: Vec<KeyCode>,
    /// How it relates to the angle, 15 characters or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic_relation: Option<String>,
}

/// What a file is to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the documentation; spec 15 lists them")]
pub enum FileRole {
    ModifyTarget,
    Dependency,
    PatternReference,
    TestTarget,
    TypeDefinition,
    IntegrationPoint,
    Config,
    ContextOnly,
}

/// One place that matters in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyCode {
    /// The symbol.
    pub symbol: String,
    /// `L45-L78`.
    #[serde(default)]
    pub location: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
}

/// A question that a person should answer before planning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clarification {
    /// The question.
    pub question: String,
    /// Why it is asked.
    #[serde(default)]
    pub context: String,
    /// 2 to 4 answers.
    #[serde(default)]
    pub options: Vec<String>,
    /// Index of the recommended one.
    #[serde(default)]
    pub recommended: usize,
}

/// Where an exploration comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorationMetadata {
    /// RFC 3339 with offset.
    pub timestamp: String,
    /// The task.
    pub task_description: String,
    /// `cli-explore-agent` or `native`.
    pub source: String,
    /// The angle.
    pub exploration_angle: String,
    /// 1..4.
    #[serde(default)]
    pub exploration_index: u32,
    /// How many there are.
    #[serde(default)]
    pub total_explorations: u32,
    /// Seconds it took.
    #[serde(default)]
    pub duration_seconds: f64,
    /// What was cited but does not exist, as `path: reason`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Fields planex does not know, kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
