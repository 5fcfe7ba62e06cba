//! What a worker is told: the row's instruction, the row and the schema as JSON, how to report, how much time there is.

use std::fmt::Write as _;
use std::time::Duration;

use planex_core::job::Mode;
use planex_core::text::truncate_bytes;
use planex_core::time::human_duration;
use serde_json::Value;

use super::input::JobRow;

/// The prompt of one row, at most `cap` bytes; a long row is cut first, since `PLANEX_ROW_FILE` has all of it.
pub(super) fn prompt(row: &JobRow, schema: Option<&Value>, mode: Mode, limit: Duration, cap: usize) -> String {
    let mut out = format!("{}\n", row.instruction.trim_end());
    let mut report = format!("\n## Your report\n\nThis is one of several independent jobs; its id is `{}`.\n", row.id);
    match schema {
        Some(schema) => {
            let text = serde_json::to_string_pretty(schema).unwrap_or_default();
            let _ = write!(
                report,
                "End with exactly one JSON object that fits this JSON Schema, and nothing after it:\n\n```json\n{text}\n```\n"
            );
            report.push_str("If you have the tool `report_agent_job_result`, report the object through it, once.\n");
        }
        None => report.push_str("Your final message is the result.\n"),
    }
    report.push_str("To keep the jobs that have not started from starting at all, add `\"stop\": true`.\n");
    match mode {
        Mode::Analysis => report.push_str("Change no files.\n"),
        Mode::Write => report.push_str("Other jobs may work in the same folder: change only what this job is about.\n"),
    }
    let _ = writeln!(report, "You have {} in all.", human_duration(limit));
    let room = cap.saturating_sub(out.len() + report.len() + 64);
    let json = serde_json::to_string_pretty(&row.item).unwrap_or_default();
    if !row.item.is_empty() && room > 256 {
        let _ = write!(out, "\n## The row\n\n```json\n{}\n```\n", truncate_bytes(&json, room));
    }
    out.push_str(&report);
    truncate_bytes(&out, cap)
}
