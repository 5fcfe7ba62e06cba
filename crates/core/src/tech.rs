//! `project-tech.json`: what a project is made of (spec 15, *Project knowledge*).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What `planex init` finds in the tree and its manifests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProjectTech {
    /// Name of the project.
    pub name: String,
    /// Languages by share of source lines, largest first.
    pub languages: Vec<LanguageShare>,
    /// Frameworks and main libraries that the manifests name.
    pub frameworks: Vec<String>,
    /// `cargo`, `npm`, `pnpm`, `maven`, …
    pub build_system: Vec<String>,
    /// Test frameworks.
    pub test_framework: Vec<String>,
    /// Command that runs all tests of the root, if one is known.
    pub test_command: Option<String>,
    /// Command that builds, if one is known.
    pub build_command: Option<String>,
    /// Modules or packages (monorepos: each).
    pub modules: Vec<TechModule>,
    /// Entry points, as paths.
    pub entry_points: Vec<String>,
    /// One paragraph on the architecture.
    pub architecture: String,
    /// Key components: path and purpose.
    pub key_components: Vec<KeyComponent>,
    /// RFC 3339 time of writing.
    pub generated_at: String,
    /// Development index and whatever others keep here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One language of a project.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LanguageShare {
    /// Name.
    pub name: String,
    /// Files.
    pub files: usize,
    /// Lines.
    pub lines: usize,
    /// 0..1 of all source lines.
    pub share: f64,
}

/// One package of a project.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TechModule {
    /// Name in its manifest.
    pub name: String,
    /// Folder, `.` for the root.
    pub path: String,
    /// Main language.
    pub language: String,
    /// Command that runs its tests, from the project root.
    pub test_command: Option<String>,
    /// Names of the project's own modules that it depends on.
    pub depends_on: Vec<String>,
}

/// One component that a newcomer should know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyComponent {
    /// Path.
    pub path: String,
    /// What it is for.
    pub purpose: String,
}
