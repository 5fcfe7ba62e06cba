//! `tasks.csv`: one row a task, its validation, its waves and the hash of what is approved.

use sha2::{Digest, Sha256};

use super::sheet::{Cells, Fault, RowStatus, Sheet, read_sheet};
use crate::csv::{Table, join_list};
use crate::glob::Scope;
use crate::graph::GraphFault;
use crate::schema::results::PlannedTask;
use crate::settings::OverlapPolicy;
use crate::waves::{self, WaveFault, WaveInput, WavePlan};

/// Columns of `tasks.csv`, in the seed's order.
pub const COLUMNS: [&str; 17] = [
    "id",
    "title",
    "description",
    "test",
    "acceptance_criteria",
    "scope",
    "hints",
    "execution_directives",
    "deps",
    "context_from",
    "wave",
    "status",
    "findings",
    "files_modified",
    "tests_passed",
    "acceptance_met",
    "error",
];

/// The columns of [`COLUMNS`] that a wave's file has: what a task is given, and its wave.
pub const INPUT_COLUMNS: usize = 11;

/// Columns that planex writes; all others are what the user approves.
pub const STATE_COLUMNS: [&str; 8] =
    ["wave", "status", "findings", "key_files", "files_modified", "tests_passed", "acceptance_met", "error"];

/// One row of `tasks.csv`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskRow {
    /// `T1`, `T2`, …
    pub id: String,
    /// Short title.
    pub title: String,
    /// What to do, self-contained.
    pub description: String,
    /// Tests to write and how to verify.
    pub test: String,
    /// What defines done.
    pub acceptance_criteria: String,
    /// Where it may write.
    pub scope: String,
    /// `tips || file1;file2`.
    pub hints: String,
    /// Commands and constraints for verification, one a line.
    pub execution_directives: String,
    /// Tasks that must be completed first.
    pub deps: Vec<String>,
    /// Rows whose findings it needs, in order.
    pub context_from: Vec<String>,
    /// State.
    pub status: RowStatus,
    /// What was done, at most 500 characters.
    pub findings: String,
    /// Files that were observed to change.
    pub files_modified: Vec<String>,
    /// Whether its tests passed.
    pub tests_passed: Option<bool>,
    /// Which criteria were met.
    pub acceptance_met: String,
    /// Why it did not complete.
    pub error: String,
}

impl TaskRow {
    /// The cells to write back at a merge.
    #[must_use]
    pub fn state(&self, wave: u32) -> Vec<(&'static str, String)> {
        vec![
            ("wave", wave.to_string()),
            ("status", self.status.to_string()),
            ("findings", self.findings.clone()),
            ("files_modified", join_list(&self.files_modified)),
            ("tests_passed", self.tests_passed.map(|b| b.to_string()).unwrap_or_default()),
            ("acceptance_met", self.acceptance_met.clone()),
            ("error", self.error.clone()),
        ]
    }

    /// Takes back everything an earlier run wrote, for a retry.
    pub fn reset(&mut self) {
        self.status = RowStatus::Pending;
        self.findings.clear();
        self.files_modified.clear();
        self.tests_passed = None;
        self.acceptance_met.clear();
        self.error.clear();
    }
}

impl super::Row for TaskRow {
    fn id(&self) -> &str {
        &self.id
    }
}

/// The tips of a `hints` cell: what stands before `||`.
#[must_use]
pub fn hint_tips(hints: &str) -> &str {
    hints.split_once("||").map_or(hints, |(tips, _)| tips).trim()
}

/// The reference files of a `hints` cell: what stands behind `||`.
#[must_use]
pub fn hint_files(hints: &str) -> Vec<String> {
    hints.split_once("||").map(|(_, files)| crate::csv::split_list(files)).unwrap_or_default()
}

/// The table for a newly planned list of tasks.
#[must_use]
pub fn task_table(tasks: &[PlannedTask]) -> Table {
    let mut table = Table::new(COLUMNS.map(str::to_owned).to_vec());
    for task in tasks {
        let deps = join_list(&task.deps);
        let context = join_list(&task.context_from);
        let cells: [&str; 17] = [
            &task.id,
            &task.title,
            &task.description,
            &task.test,
            &task.acceptance_criteria,
            &task.scope,
            &task.hints,
            &task.execution_directives,
            &deps,
            &context,
            "",
            "pending",
            "",
            "",
            "",
            "",
            "",
        ];
        table.push(cells.iter().map(|cell| crate::csv::clean_cell(cell)).collect());
    }
    table
}

/// Reads `tasks.csv`, cell by cell; [`validate_tasks`] checks what the rows say to each other.
///
/// # Errors
/// Every fault that was found, with line and column.
pub fn read_tasks(bytes: &[u8]) -> Result<Sheet<TaskRow>, Vec<Fault>> {
    read_sheet(bytes, &["id", "title", "description"], read_row)
}

fn read_row(cells: &mut Cells<'_>) -> TaskRow {
    let tests = cells.text("tests_passed");
    let tests_passed = crate::csv::parse_bool(&tests);
    if tests_passed.is_none() && !tests.is_empty() {
        cells.fault(
            "tests_passed",
            format!("`{}` is neither true nor false", crate::text::one_line(&tests)),
            "use true, false, or leave it empty",
        );
    }
    let row = TaskRow {
        id: cells.id(),
        title: cells.text("title"),
        description: cells.text("description"),
        test: cells.text("test"),
        acceptance_criteria: cells.text("acceptance_criteria"),
        scope: cells.text("scope"),
        hints: cells.text("hints"),
        execution_directives: cells.text("execution_directives"),
        deps: cells.list("deps"),
        context_from: cells.list("context_from"),
        status: cells.status(),
        findings: cells.text("findings"),
        files_modified: cells.list("files_modified"),
        tests_passed,
        acceptance_met: cells.text("acceptance_met"),
        error: cells.text("error"),
    };
    if row.title.is_empty() && row.description.is_empty() {
        cells.fault("description", "the task says nothing to do".to_owned(), "give it a title and a description");
    }
    row
}

/// A validated list of tasks: waves, what was moved, what is worth saying.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPlan {
    /// Wave of each row and what overlap moved.
    pub waves: WavePlan,
    /// Scope of each row.
    pub scopes: Vec<Scope>,
    /// Wishes that are not met; shown at the gate.
    pub warnings: Vec<String>,
}

impl TaskPlan {
    /// Number of waves.
    #[must_use]
    pub fn last_wave(&self) -> u32 {
        self.waves.wave.iter().copied().max().unwrap_or(0)
    }
}

/// Checks a sheet and computes its waves (spec 20, *Phase 3*).
///
/// `explorations` are the ids of explore.csv; `None` when the session does not explore, so no link is asked for.
///
/// # Errors
/// Duplicate ids, unknown dependencies and context ids, cycles as a path, an empty list; with `OverlapPolicy::Error`
/// also overlapping scopes of one wave.
pub fn validate_tasks(
    sheet: &Sheet<TaskRow>,
    explorations: Option<&[String]>,
    overlap: OverlapPolicy,
    exists: &dyn Fn(&str) -> bool,
) -> Result<TaskPlan, Vec<Fault>> {
    if sheet.rows.is_empty() {
        return Err(vec![Fault {
            line: 0,
            column: 0,
            message: "the plan has no task".to_owned(),
            hint: "add at least one row".to_owned(),
        }]);
    }
    let mut faults = context_faults(sheet, explorations.unwrap_or_default());
    let (scopes, warnings, bad) = scopes_of(sheet, explorations, exists);
    faults.extend(bad);
    let inputs: Vec<WaveInput<'_>> = sheet
        .rows
        .iter()
        .zip(&scopes)
        .map(|(row, scope)| WaveInput { id: &row.id, deps: row.deps.iter().map(String::as_str).collect(), scope })
        .collect();
    match waves::plan_waves(&inputs, overlap) {
        Ok(waves) if faults.is_empty() => Ok(TaskPlan { waves, scopes, warnings }),
        Ok(_) => Err(faults),
        Err(wave_faults) => {
            for fault in wave_faults {
                faults.push(sheet.fault_of(node_of(&fault), &fault));
            }
            Err(faults)
        }
    }
}

/// Plans tasks that are not in a file yet; lines of faults count the tasks from 2, as the file will have them.
///
/// # Errors
/// As [`read_tasks`] and [`validate_tasks`].
pub fn plan_of(
    tasks: &[PlannedTask],
    explorations: Option<&[String]>,
    overlap: OverlapPolicy,
    exists: &dyn Fn(&str) -> bool,
) -> Result<(Sheet<TaskRow>, TaskPlan), Vec<Fault>> {
    let mut sheet = read_tasks(task_table(tasks).to_csv().as_bytes())?;
    let plan = validate_tasks(&sheet, explorations, overlap, exists)?;
    for index in 0..sheet.rows.len() {
        let wave = plan.waves.wave.get(index).copied().unwrap_or(1);
        sheet.write(index, &[("wave", wave.to_string())]);
    }
    Ok((sheet, plan))
}

fn context_faults(sheet: &Sheet<TaskRow>, explorations: &[String]) -> Vec<Fault> {
    let known: std::collections::HashSet<&str> =
        sheet.rows.iter().map(|r| r.id.as_str()).chain(explorations.iter().map(String::as_str)).collect();
    let mut faults = Vec::new();
    for (index, row) in sheet.rows.iter().enumerate() {
        if explorations.contains(&row.id) {
            faults.push(sheet.fault_in(index, "id", &format!("{} is the id of an exploration too", row.id)));
        }
        for id in &row.context_from {
            if !known.contains(id.as_str()) {
                let near = crate::suggest::nearest(id, known.iter().copied());
                let hint = near.map_or_else(
                    || "name a row of explore.csv or tasks.csv".to_owned(),
                    |n| format!("did you mean {n}?"),
                );
                let shown = crate::text::one_line(id);
                let said = format!("{} takes context from `{shown}`, which does not exist", row.id);
                faults.push(Fault { hint, ..sheet.fault_in(index, "context_from", &said) });
            }
        }
    }
    faults
}

/// Scope of each row, what is worth saying, and what is refused.
fn scopes_of(
    sheet: &Sheet<TaskRow>,
    explorations: Option<&[String]>,
    exists: &dyn Fn(&str) -> bool,
) -> (Vec<Scope>, Vec<String>, Vec<Fault>) {
    let (mut scopes, mut warnings, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (index, row) in sheet.rows.iter().enumerate() {
        let (scope, said) = Scope::parse(&row.scope, exists);
        for fault in said {
            if fault.is_error() {
                faults.push(sheet.fault_in(index, "scope", &fault));
            } else {
                warnings.push(format!("{}: {fault}", row.id));
            }
        }
        if !scope.is_limited() {
            warnings.push(format!("{} has no scope: it may write anywhere and runs alone in its wave", row.id));
        }
        let linked = explorations.is_none_or(|ids| row.context_from.iter().any(|id| ids.contains(id)));
        if !linked {
            warnings.push(format!("{} is linked to no exploration", row.id));
        }
        scopes.push(scope);
    }
    (scopes, warnings, faults)
}

/// The task that a fault is about.
fn node_of(fault: &WaveFault) -> &str {
    match fault {
        WaveFault::Graph(fault) => graph_node(fault),
        WaveFault::Overlap { b, .. } => b,
    }
}

/// The row that a fault of the dependencies is about.
pub(super) fn graph_node(fault: &GraphFault) -> &str {
    match fault {
        GraphFault::Duplicate { node, .. }
        | GraphFault::SelfDependency { node }
        | GraphFault::UnknownDependency { node, .. } => node,
        GraphFault::Cycle(path) => path.0.first().map_or("", String::as_str),
    }
}

/// Hash of exactly what an approval covers: every column but the state, and the commands planex will run.
#[must_use]
pub fn approval_hash<R>(sheet: &Sheet<R>, commands: &[String]) -> String {
    let mut hasher = Sha256::new();
    let mut feed = |text: &str| {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    };
    let table = sheet.table();
    for (column, name) in table.columns.iter().enumerate().filter(|(_, name)| !STATE_COLUMNS.contains(&name.as_str())) {
        feed(name);
        for row in &table.rows {
            feed(row.cells.get(column).map_or("", String::as_str));
        }
    }
    commands.iter().for_each(|command| feed(command));
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
