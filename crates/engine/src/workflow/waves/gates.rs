//! The gates of the waves workflow, as data (spec 20, *Phases 1, 3 and 5*). Pure: the engine asks them.

use std::fmt::Write;

use jiff::Timestamp;
use planex_core::gate::{Choice, Gate, Question};
use planex_core::report::{Totals, shared_files};
use planex_core::rows::{ExploreRow, Sheet, TaskPlan, TaskRow};
use planex_core::text::{fit, one_line, safe};

use super::commands::Commands;

/// Base ids of the gates; a gate that comes back gets `-2`, `-3`, ….
pub(super) const ANGLES: &str = "angles";
pub(super) const TASKS: &str = "tasks";
pub(super) const PLAN_FAULTS: &str = "plan-faults";
pub(super) const FAILED: &str = "failed";
pub(super) const SCOPES: &str = "scopes";
pub(super) const UNVERIFIED: &str = "unverified";
pub(super) const RED: &str = "merged-red";

/// Id of the one question of each gate.
pub(super) const CONFIRM: &str = "confirm";

/// Width that lines of a gate's body are cut to.
const LINE: usize = 160;

fn question(header: &str, text: &str, options: Vec<Choice>) -> Question {
    let default = options.first().map(|choice| choice.id.clone()).unwrap_or_default();
    Question {
        id: CONFIRM.to_owned(),
        header: header.to_owned(),
        question: text.to_owned(),
        options,
        default,
        free_text: false,
    }
}

fn line(text: &str) -> String {
    fit(&one_line(&safe(text)), LINE)
}

/// After phase 1: are these the right angles?
pub(super) fn angles(rows: &[ExploreRow], hash: String, file: &str, at: Timestamp) -> Gate {
    let mut body = String::new();
    for row in rows {
        let _ = writeln!(body, "{}", line(&format!("[{}] {}: {}", row.id, row.angle, row.focus)));
    }
    let _ = writeln!(body, "\nAn answer holds for exactly this: {hash}");
    Gate {
        id: ANGLES.to_owned(),
        title: format!("Explore from {} angle(s)?", rows.len()),
        body,
        questions: vec![question(
            "Angles",
            "Approve these exploration angles?",
            vec![
                Choice::new("approve", "Approve", "Explore from these angles"),
                Choice::new("modify", "Modify", &format!("Edit {file}, then --continue")),
                Choice::new("cancel", "Cancel", "End the session"),
            ],
        )],
        approves: Some(hash),
        opened_at: at,
    }
}

/// What the gate before execution shows.
pub(super) struct Plan<'a> {
    /// Rows of explore.csv.
    pub explorations: &'a [ExploreRow],
    /// The tasks.
    pub sheet: &'a Sheet<TaskRow>,
    /// Their waves, scopes and warnings.
    pub plan: &'a TaskPlan,
    /// What else must be known: degraded phases, missing agents, isolation.
    pub notes: &'a [String],
    /// Hash of what is approved.
    pub hash: String,
    /// tasks.csv, as shown.
    pub file: &'a str,
    /// Whether the user explores at all.
    pub explored: bool,
    /// Which of the tasks' directives planex runs.
    pub commands: &'a Commands,
}

/// After phase 3: may these tasks run?
pub(super) fn tasks(show: &Plan<'_>, at: Timestamp) -> Gate {
    let waves = show.plan.last_wave();
    let mut body = String::new();
    if show.explored {
        let totals = Totals::count(show.explorations, &[], 0);
        let _ = writeln!(body, "Explored {} of {} angles", totals.explored, totals.angles);
        for (file, ids) in shared_files(show.explorations).iter().take(10) {
            let _ = writeln!(body, "  {}", line(&format!("{file} (from {})", ids.join(", "))));
        }
        body.push('\n');
    }
    for wave in 1..=waves {
        let rows: Vec<&TaskRow> = show
            .sheet
            .rows
            .iter()
            .zip(&show.plan.waves.wave)
            .filter(|(_, w)| **w == wave)
            .map(|(row, _)| row)
            .collect();
        let _ = writeln!(body, "Wave {wave}: {} task(s)", rows.len());
        for row in rows {
            task_lines(&mut body, row, show.commands);
        }
    }
    if let Some(command) = show.commands.baseline() {
        let _ = writeln!(body, "The project's own tests, once, as things are now:");
        let _ = writeln!(body, "      {}", one_line(&safe(&format!("$ {command}"))));
    }
    for moved in &show.plan.waves.moved {
        let _ = writeln!(body, "{}", line(&format!("Moved: {moved}")));
    }
    for said in show.plan.warnings.iter().chain(show.notes) {
        let _ = writeln!(body, "{}", line(&format!("Note: {said}")));
    }
    let _ = writeln!(body, "\nAn answer holds for exactly this: {}", show.hash);
    Gate {
        id: TASKS.to_owned(),
        title: format!("Run {} task(s) in {waves} wave(s)?", show.sheet.rows.len()),
        body,
        questions: vec![question(
            "Tasks",
            "Execute this plan?",
            vec![
                Choice::new("execute", "Execute", "Run the tasks, wave by wave"),
                Choice::new("modify", "Modify", &format!("Edit {}, then --continue", show.file)),
                Choice::new("cancel", "Cancel", "End the session"),
            ],
        )],
        approves: Some(show.hash.clone()),
        opened_at: at,
    }
}

fn task_lines(body: &mut String, row: &TaskRow, commands: &Commands) {
    let scope = if row.scope.trim().is_empty() { "anywhere" } else { &row.scope };
    let from = if row.context_from.is_empty() { "nothing".to_owned() } else { row.context_from.join(", ") };
    let after = if row.deps.is_empty() { String::new() } else { format!(", after {}", row.deps.join(", ")) };
    let _ = writeln!(body, "  {}", line(&format!("[{}] {}", row.id, row.title)));
    // Whole, however long: this is what an approval covers.
    let _ = writeln!(body, "      {}", one_line(&safe(&format!("scope {scope}; context from {from}{after}"))));
    for command in commands.of(&row.id) {
        let _ = writeln!(body, "      {}", one_line(&safe(&format!("$ {command}"))));
    }
    for advice in commands.advice_of(&row.id) {
        let _ = writeln!(body, "      {}", one_line(&safe(&format!("told to the agent: {advice}"))));
    }
}

/// Tasks that did well, but left their scope. The default keeps what is outside out.
pub(super) fn scopes(wave: u32, tasks: &[(String, String, String)], at: Timestamp) -> Gate {
    let mut body = String::new();
    for (task, scope, paths) in tasks {
        let _ = writeln!(body, "  {}", one_line(&safe(&format!("[{task}] may change {scope}; changed {paths}"))));
    }
    Gate {
        id: SCOPES.to_owned(),
        title: format!("Wave {wave}: {} task(s) changed files outside of their scope", tasks.len()),
        body,
        questions: vec![question(
            "Scope",
            "What becomes of them?",
            vec![
                Choice::new("refuse", "Keep out", "They fail, nothing of them is merged; their patches are kept"),
                Choice::new("accept", "Accept", "Merge them with what is outside"),
                Choice::new("again", "Run again", "Run these tasks once more"),
            ],
        )],
        approves: None,
        opened_at: at,
    }
}

/// Commands that prove nothing, because they could not be run.
pub(super) fn unverified(tasks: &[(String, Vec<String>)], at: Timestamp) -> Gate {
    let mut body = String::new();
    for (task, reasons) in tasks {
        for reason in reasons {
            let _ = writeln!(body, "  {}", line(&format!("[{task}] {reason}")));
        }
    }
    Gate {
        id: UNVERIFIED.to_owned(),
        title: "Commands that verify tasks could not be run".to_owned(),
        body,
        questions: vec![question(
            "Checks",
            "Go on without them?",
            vec![
                Choice::new("go-on", "Go on", "Merge the tasks, marked as not verified"),
                Choice::new("stop", "Stop", "Stop here; resume when the commands can be run"),
            ],
        )],
        approves: None,
        opened_at: at,
    }
}

/// Commands that passed in tasks' own trees and fail after the merge.
pub(super) fn red(wave: u32, tasks: &[(String, String)], at: Timestamp) -> Gate {
    let body: String =
        tasks.iter().map(|(task, found)| format!("  {}\n", line(&format!("[{task}] {found}")))).collect();
    Gate {
        id: RED.to_owned(),
        title: format!("Wave {wave} is merged, and now {} task(s) fail", tasks.len()),
        body,
        questions: vec![question(
            "Merged",
            "What now?",
            vec![
                Choice::new("go-on", "Go on", "The tasks fail, their changes stay; dependents are skipped"),
                Choice::new("undo", "Undo wave", "Put the tree back to how it was before this wave"),
                Choice::new("stop", "Stop", "Stop here"),
            ],
        )],
        approves: None,
        opened_at: at,
    }
}

/// The agent's plan has faults, also after it was asked again.
pub(super) fn plan_faults(faults: &[String], file: &str, at: Timestamp) -> Gate {
    let body: String = faults.iter().map(|fault| format!("  {}\n", line(fault))).collect();
    Gate {
        id: PLAN_FAULTS.to_owned(),
        title: format!("The plan has {} fault(s)", faults.len()),
        body,
        questions: vec![question(
            "Plan",
            "What now?",
            vec![
                Choice::new("edit", "Edit", &format!("Mend {file}, then --continue")),
                Choice::new("retry", "Retry", "Plan anew"),
                Choice::new("cancel", "Cancel", "End the session"),
            ],
        )],
        approves: None,
        opened_at: at,
    }
}

/// After phase 5, when something failed.
pub(super) fn failed(tasks: &[TaskRow], at: Timestamp) -> Gate {
    let totals = Totals::count(&[], tasks, 0);
    let mut body = String::new();
    for row in tasks.iter().filter(|row| !row.error.is_empty()) {
        let _ = writeln!(body, "  {}", line(&format!("[{}] {} {}: {}", row.id, row.title, row.status, row.error)));
    }
    Gate {
        id: FAILED.to_owned(),
        title: format!("{} task(s) failed, {} skipped", totals.failed, totals.skipped),
        body,
        questions: vec![Question {
            default: "done".to_owned(),
            ..question(
                "Next",
                "What now?",
                vec![
                    Choice::new("retry", "Retry Failed", "Run failed and skipped tasks again"),
                    Choice::new("report", "View Report", "Show context.md, then ask again"),
                    Choice::new("done", "Done", "End the session"),
                ],
            )
        }],
        approves: None,
        opened_at: at,
    }
}
