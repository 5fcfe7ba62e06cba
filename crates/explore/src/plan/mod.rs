//! The built-in planner.
mod split;

use planex_core::exploration::Exploration;
use planex_core::schema::results::PlannedTask;
use planex_core::tech::ProjectTech;
use crate::explorer::Explorer;
pub(crate) use split::split_requirement;
/// One completed row of explore.csv.
#[derive(Debug, Clone, Copy)]
pub struct ExploredRow<'a> {
    /// `E1`, …
    pub id: &'a str,
    /// The angle.
    pub angle: &'a str,
    /// What was found.
    pub findings: &'a str,
    /// Files that matter.
    pub key_files: &'a [String],
    /// The whole exploration, where there is one.
    pub exploration: Option<&'a Exploration>,
}
/// Plans tasks for a requirement.
#[must_use]
pub fn plan_tasks(_requirement: &str, _rows: &[ExploredRow<'_>], _tech: &ProjectTech, _explorer: Option<&Explorer>) -> Vec<PlannedTask> { Vec::new() }
