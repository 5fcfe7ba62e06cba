//! `prev_context`: what earlier rows found, for the tasks that name them (spec 20, *Phase 4*).

use crate::rows::{ExploreRow, RowStatus, TaskRow};

/// Said when no named row has anything to tell.
const NOTHING: &str = "No previous context available";

/// The findings of the rows in `context_from`, in its order; only completed rows with findings.
#[must_use]
pub fn prev_context(context_from: &[String], explorations: &[ExploreRow], tasks: &[TaskRow]) -> String {
    let mut lines = Vec::new();
    for id in context_from {
        if let Some(row) = explorations.iter().find(|row| row.id == *id) {
            if row.status == RowStatus::Completed && !row.findings.is_empty() {
                lines.push(format!("[Explore {}] {}", row.angle, row.findings));
                if !row.key_files.is_empty() {
                    lines.push(format!("  Key files: {}", crate::csv::join_list(&row.key_files)));
                }
            }
        } else if let Some(row) = tasks.iter().find(|row| row.id == *id)
            && row.status == RowStatus::Completed
            && !row.findings.is_empty()
        {
            lines.push(format!("[Task {}: {}] {}", row.id, row.title, row.findings));
            if !row.files_modified.is_empty() {
                lines.push(format!("  Modified: {}", crate::csv::join_list(&row.files_modified)));
            }
        }
    }
    if lines.is_empty() { NOTHING.to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(list: &[&str]) -> Vec<String> {
        list.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn in_the_order_asked_for_and_only_what_is_done() {
        let explorations = vec![
            ExploreRow {
                id: "E1".into(),
                angle: "architecture".into(),
                status: RowStatus::Completed,
                findings: "Layers".into(),
                key_files: ids(&["a.rs", "b.rs"]),
                ..ExploreRow::default()
            },
            ExploreRow { id: "E2".into(), status: RowStatus::Failed, findings: "half".into(), ..ExploreRow::default() },
        ];
        let tasks = vec![
            TaskRow {
                id: "T1".into(),
                title: "Types".into(),
                status: RowStatus::Completed,
                findings: "Made types".into(),
                files_modified: ids(&["t.rs"]),
                ..TaskRow::default()
            },
            TaskRow { id: "T2".into(), findings: "not yet".into(), ..TaskRow::default() },
        ];
        let context = prev_context(&ids(&["T1", "E2", "T2", "E1", "nope"]), &explorations, &tasks);
        assert_eq!(
            context,
            "[Task T1: Types] Made types\n  Modified: t.rs\n[Explore architecture] Layers\n  Key files: a.rs;b.rs"
        );
        assert_eq!(prev_context(&[], &explorations, &tasks), NOTHING);
    }
}
