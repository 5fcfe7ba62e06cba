//! What a project is made of.
use camino::Utf8Path;
use planex_core::tech::ProjectTech;
use crate::explorer::Explorer;
/// Reads tree and manifests; never runs anything. `now_stamp` is RFC 3339.
#[must_use]
pub fn project_tech(_root: &Utf8Path, _explorer: Option<&Explorer>, now_stamp: &str) -> ProjectTech { ProjectTech { generated_at: now_stamp.to_owned(), ..ProjectTech::default() } }
/// The test commands for changed paths, each with its module's name.
#[must_use]
pub fn test_command_for(_tech: &ProjectTech, _paths: &[String]) -> Vec<(String, String)> { Vec::new() }
