//! The part of `cargo metadata` that the checks read.

use anyhow::Context as _;
use serde::Deserialize;

use crate::shell::{cargo, output};

/// All packages, those of the workspace among them.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    pub(super) workspace_members: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) source: Option<String>,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// Absent: a normal dependency.
    pub(super) kind: Option<String>,
}

impl Metadata {
    /// The packages of this workspace.
    pub(super) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }
}

/// Asks cargo.
pub(super) fn load() -> anyhow::Result<Metadata> {
    let json = output(cargo().args(["metadata", "--format-version", "1", "--locked"]))
        .context("Cargo.lock may be out of date")?;
    serde_json::from_str(&json).context("`cargo metadata` printed something unexpected")
}
