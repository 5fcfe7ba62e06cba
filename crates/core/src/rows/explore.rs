//! `explore.csv`: one row an angle.

use super::sheet::{Cells, Fault, RowStatus, Sheet, read_sheet};
use crate::csv::{Table, join_list};
use crate::graph;
use crate::schema::results::Assess;

/// Columns of `explore.csv`, in the seed's order.
const COLUMNS: [&str; 10] =
    ["id", "angle", "description", "focus", "deps", "wave", "status", "findings", "key_files", "error"];

/// One row of `explore.csv`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExploreRow {
    /// `E1`, `E2`, …
    pub id: String,
    /// The point of view.
    pub angle: String,
    /// What to explore from it.
    pub description: String,
    /// Key words.
    pub focus: String,
    /// Rows that must be completed first.
    pub deps: Vec<String>,
    /// State.
    pub status: RowStatus,
    /// What was found, at most 800 characters.
    pub findings: String,
    /// Files that matter.
    pub key_files: Vec<String>,
    /// Why it did not complete.
    pub error: String,
}

/// The table for newly chosen angles.
#[must_use]
pub fn explore_table(assess: &Assess) -> Table {
    let mut table = Table::new(COLUMNS.map(str::to_owned).to_vec());
    for (index, angle) in assess.angles.iter().enumerate() {
        let id = format!("E{}", index + 1);
        let cells = [&id, &angle.angle, &angle.description, &angle.focus, "", "1", "pending", "", "", ""];
        table.push(cells.iter().map(|cell| crate::csv::clean_cell(cell)).collect());
    }
    table
}

/// Reads `explore.csv` and checks ids and dependencies.
///
/// # Errors
/// Every fault that was found, with line and column.
pub fn read_explore(bytes: &[u8]) -> Result<Sheet<ExploreRow>, Vec<Fault>> {
    let sheet = read_sheet(bytes, &["id", "angle", "description"], |cells: &mut Cells<'_>| {
        let row = ExploreRow {
            id: cells.id(),
            angle: cells.text("angle"),
            description: cells.text("description"),
            focus: cells.text("focus"),
            deps: cells.list("deps"),
            status: cells.status(),
            findings: cells.text("findings"),
            key_files: cells.list("key_files"),
            error: cells.text("error"),
        };
        if row.angle.is_empty() {
            cells.fault("angle", "the angle is empty".to_owned(), "name a point of view, such as architecture");
        }
        row
    })?;
    if sheet.rows.is_empty() {
        return Err(vec![Fault {
            line: 0,
            column: 0,
            message: "no angle is left".to_owned(),
            hint: "keep at least one row, or start with --no-explore".to_owned(),
        }]);
    }
    explore_waves(&sheet)?;
    Ok(sheet)
}

/// Wave of each row, by the longest path from a row without dependencies, from 1.
///
/// # Errors
/// Duplicate and unknown ids, self-dependencies and cycles.
pub fn explore_waves(sheet: &Sheet<ExploreRow>) -> Result<Vec<u32>, Vec<Fault>> {
    let deps: Vec<(&str, Vec<&str>)> =
        sheet.rows.iter().map(|r| (r.id.as_str(), r.deps.iter().map(String::as_str).collect())).collect();
    let nodes: Vec<(&str, &[&str])> = deps.iter().map(|(id, deps)| (*id, deps.as_slice())).collect();
    graph::levels(&nodes)
        .map_err(|faults| faults.iter().map(|fault| sheet.fault_of(super::task::graph_node(fault), fault)).collect())
}

impl super::Row for ExploreRow {
    fn id(&self) -> &str {
        &self.id
    }
}

impl ExploreRow {
    /// The cells to write back at a merge.
    #[must_use]
    pub fn state(&self, wave: u32) -> Vec<(&'static str, String)> {
        vec![
            ("wave", wave.to_string()),
            ("status", self.status.to_string()),
            ("findings", self.findings.clone()),
            ("key_files", join_list(&self.key_files)),
            ("error", self.error.clone()),
        ]
    }
}
