//! The report of a waves session, `context.md`, and the synthesis of its explorations (spec 20, *Phases 3 and 5*).

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::csv::join_list;
use crate::job::Usage;
use crate::prompt::waves::Synthesis;
use crate::rows::{ExploreRow, RowStatus, TaskRow};
use crate::text::{md_cell, md_text, truncate_chars};

/// Counts of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Angles, and how many of them completed.
    pub angles: usize,
    /// Completed angles.
    pub explored: usize,
    /// Tasks.
    pub tasks: usize,
    /// Completed tasks.
    pub completed: usize,
    /// Failed tasks.
    pub failed: usize,
    /// Skipped tasks.
    pub skipped: usize,
    /// Waves of tasks.
    pub waves: u32,
}

impl Totals {
    /// Counts the rows.
    #[must_use]
    pub fn count(explorations: &[ExploreRow], tasks: &[TaskRow], waves: u32) -> Self {
        let of = |status| tasks.iter().filter(|row| row.status == status).count();
        Self {
            angles: explorations.len(),
            explored: explorations.iter().filter(|row| row.status == RowStatus::Completed).count(),
            tasks: tasks.len(),
            completed: of(RowStatus::Completed),
            failed: of(RowStatus::Failed),
            skipped: of(RowStatus::Skipped),
            waves,
        }
    }
}

/// Everything that `context.md` tells.
#[derive(Debug, Clone)]
pub struct WavesReport<'a> {
    /// Session id.
    pub session: &'a str,
    /// The requirement.
    pub requirement: &'a str,
    /// Time of writing, RFC 3339.
    pub time: &'a str,
    /// Jobs at once.
    pub concurrency: usize,
    /// Rows of explore.csv.
    pub explorations: &'a [ExploreRow],
    /// Rows of tasks.csv.
    pub tasks: &'a [TaskRow],
    /// Wave of each task.
    pub wave_of: &'a [u32],
    /// Tokens and cost of the session.
    pub usage: Usage,
    /// Which agent ran each row: id, agent, its own session id, tokens.
    pub runs: &'a [RunLine],
    /// Things that were said on the way and should not be lost.
    pub notes: &'a [String],
}

/// One row of the table of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLine {
    /// Row id.
    pub item: String,
    /// Run id.
    pub run: String,
    /// Agent.
    pub agent: String,
    /// Agent's own session.
    pub agent_session: String,
    /// Tokens and cost.
    pub usage: Usage,
    /// Seconds.
    pub duration_s: f64,
}

impl WavesReport<'_> {
    /// The counts.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::count(self.explorations, self.tasks, self.wave_of.iter().copied().max().unwrap_or(0))
    }

    /// The whole document.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        self.exploration_results(&mut out);
        self.task_results(&mut out);
        self.modified_files(&mut out);
        self.run_table(&mut out);
        self.said(&mut out);
        out
    }

    fn head(&self, out: &mut String) {
        let totals = self.totals();
        let _ = write!(
            out,
            "# Waves report\n\n**Session**: {}  \n**Requirement**: {}  \n**Time**: {}  \n**Waves**: {} | **Concurrency**: {}\n\n\
             ## Summary\n\n| Metric | Count |\n| --- | --- |\n| Angles explored | {} of {} |\n| Tasks | {} |\n\
             | Completed | {} |\n| Failed | {} |\n| Skipped | {} |\n| Waves | {} |\n| Tokens | {} |\n| Cost | {} |\n",
            md_text(self.session),
            md_text(self.requirement),
            self.time,
            totals.waves,
            self.concurrency,
            totals.explored,
            totals.angles,
            totals.tasks,
            totals.completed,
            totals.failed,
            totals.skipped,
            totals.waves,
            self.usage.total_tokens(),
            cost(&self.usage),
        );
    }

    fn exploration_results(&self, out: &mut String) {
        if self.explorations.is_empty() {
            return;
        }
        out.push_str("\n## Exploration Results\n");
        for row in self.explorations {
            let _ = write!(
                out,
                "\n### {}: {} ({})\n\n{}\n\nKey files: {}\n",
                md_text(&row.id),
                md_text(&row.angle),
                row.status,
                or_none(&md_text(if row.findings.is_empty() { &row.error } else { &row.findings })),
                or_none(&code_list(&row.key_files)),
            );
        }
    }

    fn task_results(&self, out: &mut String) {
        out.push_str("\n## Task Results\n");
        for (index, row) in self.tasks.iter().enumerate() {
            let wave = self.wave_of.get(index).copied().unwrap_or_default().to_string();
            let tests = row.tests_passed.map_or_else(|| "not reported".to_owned(), |passed| passed.to_string());
            let _ = write!(
                out,
                "\n### {}: {} ({})\n\n| Field | Value |\n| --- | --- |\n",
                md_text(&row.id),
                md_text(&row.title),
                row.status
            );
            for (field, value) in [
                ("Wave", wave.as_str()),
                ("Scope", &row.scope),
                ("Dependencies", &join_list(&row.deps)),
                ("Context from", &join_list(&row.context_from)),
                ("Tests passed", &tests),
                ("Acceptance met", &row.acceptance_met),
                ("Error", &row.error),
            ] {
                let _ = writeln!(out, "| {field} | {} |", or_none(&md_cell(value)));
            }
            for (title, value) in [
                ("Description", &row.description),
                ("Test cases", &row.test),
                ("Acceptance criteria", &row.acceptance_criteria),
                ("Hints", &row.hints),
                ("Execution directives", &row.execution_directives),
                ("Findings", &row.findings),
            ] {
                if !value.is_empty() {
                    let _ = write!(out, "\n**{title}**: {}\n", md_text(value));
                }
            }
            let _ = write!(out, "\n**Files modified**: {}\n", or_none(&code_list(&row.files_modified)));
        }
    }

    fn modified_files(&self, out: &mut String) {
        out.push_str("\n## All Modified Files\n\n");
        let files: std::collections::BTreeSet<&String> =
            self.tasks.iter().flat_map(|row| &row.files_modified).collect();
        if files.is_empty() {
            out.push_str("None\n");
        }
        for file in files {
            let _ = writeln!(out, "- {}", code_list(std::slice::from_ref(file)));
        }
    }

    fn run_table(&self, out: &mut String) {
        if self.runs.is_empty() {
            return;
        }
        out.push_str("\n## Runs\n\n| Row | Agent | Agent session | Tokens | Cost | Seconds | Run |\n| --- | --- | --- | --- | --- | --- | --- |\n");
        for run in self.runs {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {:.1} | {} |",
                md_cell(&run.item),
                md_cell(&run.agent),
                or_none(&md_cell(&run.agent_session)),
                run.usage.total_tokens(),
                cost(&run.usage),
                run.duration_s,
                md_cell(&run.run),
            );
        }
    }

    fn said(&self, out: &mut String) {
        if self.notes.is_empty() {
            return;
        }
        out.push_str("\n## Said on the way\n\n");
        for note in self.notes {
            let _ = writeln!(out, "- {}", md_text(note));
        }
    }
}

fn cost(usage: &Usage) -> String {
    usage.cost_usd.map_or_else(|| "not told".to_owned(), |usd| format!("${usd:.4}"))
}

fn or_none(text: &str) -> &str {
    if text.trim().is_empty() { "none" } else { text }
}

fn code_list(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| format!("`{}`", md_cell(path).replace('`', "'"))).collect();
    shown.join(", ")
}

/// Files that more than one completed angle names, with the ids of those angles; most named first.
#[must_use]
pub fn shared_files(explorations: &[ExploreRow]) -> Vec<(String, Vec<String>)> {
    let mut named: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in explorations.iter().filter(|row| row.status == RowStatus::Completed) {
        for file in &row.key_files {
            let ids = named.entry(file).or_default();
            if !ids.contains(&row.id) {
                ids.push(row.id.clone());
            }
        }
    }
    let mut shared: Vec<(String, Vec<String>)> =
        named.into_iter().filter(|(_, ids)| ids.len() > 1).map(|(file, ids)| (file.to_owned(), ids)).collect();
    shared.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    shared
}

/// What exploring came to, for the planning prompt.
#[must_use]
pub fn synthesis(explorations: &[ExploreRow]) -> Synthesis {
    let done: Vec<&ExploreRow> = explorations.iter().filter(|row| row.status == RowStatus::Completed).collect();
    let lines = |length: usize| -> String {
        let entries: Vec<String> = done
            .iter()
            .map(|row| {
                let files = if row.key_files.is_empty() { "none".to_owned() } else { join_list(&row.key_files) };
                format!("[{}: {}] {}\n  Key files: {files}", row.id, row.angle, truncate_chars(&row.findings, length))
            })
            .collect();
        entries.join("\n\n")
    };
    let shared: Vec<String> =
        shared_files(explorations).iter().map(|(file, ids)| format!("- {file} ({})", ids.join(", "))).collect();
    Synthesis {
        findings: lines(usize::MAX),
        digest: lines(200),
        shared: shared.join("\n"),
        ids: done.iter().map(|row| row.id.clone()).collect(),
    }
}
