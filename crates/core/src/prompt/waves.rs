//! Prompts of the waves workflow (spec 20): assess, explore, plan, execute, and the request to mend a plan.

use std::time::Duration;

use super::assemble::{Section, assemble};
use crate::rows::{Fault, TaskRow, hint_files, hint_tips};

/// What every prompt of a session shares.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Absolute path of the project's root, as the agent sees it.
    pub root: String,
    /// Digest of `project-tech.json`, possibly empty.
    pub tech: String,
    /// Digest of the board, possibly empty.
    pub board: String,
    /// The project's guidelines for this phase, possibly empty.
    pub guidelines: String,
    /// Files no agent may touch, as globs.
    pub protect: Vec<String>,
    /// Cap in bytes.
    pub cap: usize,
    /// Time limit of the job.
    pub limit: Duration,
}

/// A prompt in two parts: `report` alone is kept when a project replaces the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The whole prompt.
    pub text: String,
    /// Its last part: how to report.
    pub report: String,
}

const ANGLES: &str = "architecture, dependencies, integration-points, testing, patterns, security, performance, \
state-management, error-handling, edge-cases";

const DISCOVERIES: &str = "Share what other agents should know in `discoveries` of your report, as objects \
`{\"type\": …, \"data\": {…}}` (or with the tool `discovery_add`, if you have it), each once:\n\
- `code_pattern` {name, file, description}\n\
- `integration_point` {file, description, exports[]}\n\
- `convention` {naming, imports, formatting}\n\
- `blocker` {issue, severity, impact}\n\
- `tech_stack` {framework, version, config}\n\
- `test_command` {command, framework, scope}";

/// Asks for type, complexity and angles of a requirement.
#[must_use]
pub fn assess(requirement: &str, evidence: &str, around: &Surroundings) -> Prompt {
    let report = format!(
        "Answer with one JSON object and nothing else:\n\
         {{\"type\": \"feature|bugfix|refactor|security|performance\", \"complexity\": \"Low|Medium|High\", \
         \"angles\": [{{\"id\": \"E1\", \"angle\": \"…\", \"description\": \"…\", \"focus\": \"…\"}}]}}\n\n\
         {}",
        time_left(around)
    );
    let sections = vec![
        Section::fixed(
            "",
            format!(
                "Decide from which angles the codebase at {} should be explored before the requirement below is \
                 planned. Change no file.\n\n\
                 - Low complexity: 1 angle. Medium: 2 or 3. High: 3 or 4. The angles must differ.\n\
                 - Choose from: {ANGLES}.\n\
                 - For each say in `description` what to find out for this requirement, and in `focus` the key words, \
                 files or symbols to look at.",
                around.root
            ),
        ),
        Section::fixed("Requirement", requirement),
        Section::shrinking("Files that seem to matter, best first (found by text search)", 2, evidence),
        Section::shrinking("Project", 1, &around.tech),
        Section::fixed("Report", &report),
    ];
    Prompt { text: assemble(sections, around.cap), report }
}

/// One angle, as the explore prompt needs it.
#[derive(Debug, Clone, Copy)]
pub struct Angle<'a> {
    /// Row id.
    pub id: &'a str,
    /// Name.
    pub angle: &'a str,
    /// What to explore.
    pub description: &'a str,
    /// Key words.
    pub focus: &'a str,
}

/// Asks for the findings of one angle.
#[must_use]
pub fn explore(requirement: &str, angle: Angle<'_>, evidence: &str, around: &Surroundings) -> Prompt {
    let id = angle.id;
    let report = format!(
        "Report one JSON object, by the tool `report_agent_job_result` if you have it, else as your last words:\n\
         {{\"id\": \"{id}\", \"status\": \"completed\" or \"failed\", \"findings\": \"at most 800 characters: what you \
         found, concrete, with `file:line`\", \"key_files\": [\"path/from/project/root\"], \"error\": \"\", \
         \"discoveries\": []}}\n\n\
         {}",
        time_left(around)
    );
    let sections = vec![
        Section::fixed(
            "",
            format!(
                "Explore the codebase at {} from one angle, for a requirement that will be planned afterwards. Read, \
                 search, change no file. Cite only files that exist.",
                around.root
            ),
        ),
        Section::fixed(
            "Assignment",
            format!(
                "Exploration ID: {id}\nAngle: {}\nWhat to explore: {}\nFocus: {}",
                angle.angle, angle.description, angle.focus
            ),
        ),
        Section::fixed("Requirement", requirement),
        Section::fixed(
            "Look for",
            "- patterns and conventions to follow\n\
             - integration points and boundaries between modules\n\
             - dependencies and constraints\n\
             - test infrastructure, and the commands that run it\n\
             - risks and blockers",
        ),
        Section::shrinking("Start here (ranked by planex's own explorer)", 3, evidence),
    ];
    worker(sections, around, report)
}

/// What exploring came to, for planning.
#[derive(Debug, Clone, Default)]
pub struct Synthesis {
    /// Per completed angle: its id and name, findings and key files, ready to read.
    pub findings: String,
    /// The same, shorter.
    pub digest: String,
    /// Files that more than one angle names.
    pub shared: String,
    /// Ids that tasks may link to.
    pub ids: Vec<String>,
}

/// Asks for the tasks.
#[must_use]
pub fn plan(requirement: &str, synthesis: &Synthesis, around: &Surroundings) -> Prompt {
    let report = format!(
        "Answer with one JSON object and nothing else:\n\
         {{\"tasks\": [{{\"id\": \"T1\", \"title\": \"…\", \"description\": \"…\", \"test\": \"…\", \
         \"acceptance_criteria\": \"…\", \"scope\": \"src/auth/**\", \"hints\": \"tips || file1;file2\", \
         \"execution_directives\": \"`npm test`\", \"deps\": [], \"context_from\": [\"E1\"]}}]}}\n\n\
         {}",
        time_left(around)
    );
    let link = if synthesis.ids.is_empty() {
        "- `context_from`: ids of tasks whose findings it needs.".to_owned()
    } else {
        format!(
            "- `context_from`: ids of explorations ({}) and tasks whose findings it needs; at least one exploration.",
            synthesis.ids.join(", ")
        )
    };
    let rules = format!(
        "- 3 to 10 tasks, each worth 15 to 60 minutes, each verifiable by itself; fewer if the requirement is small.\n\
         - `description`: self-contained; whoever does the task sees only it and the context you link.\n\
         - `test`: the tests to write. `acceptance_criteria`: what can be measured or run.\n\
         - `scope`: where it may write, globs relative to the project root, several separated by `;`, `!` excludes. \
         Tasks that may run at the same time must not overlap.\n\
         - `hints`: `tips || file1;file2`, the files worth reading first.\n\
         - `execution_directives`: one entry a line; put commands that verify the task in backticks.\n\
         - `deps`: ids of tasks that must be done before; only true dependencies, no cycles.\n\
         {link}"
    );
    let sections = vec![
        Section::fixed(
            "",
            format!(
                "Plan the requirement below for the codebase at {} as tasks for coding agents. Change no file.",
                around.root
            ),
        ),
        Section::fixed("Requirement", requirement),
        Section::fixed("Rules", rules),
        Section::shrinking("What exploring found", 8, &synthesis.findings).or(&synthesis.digest),
        Section::shrinking("Files named from more than one angle", 6, &synthesis.shared),
        Section::shrinking("Known from other agents", 3, &around.board),
        Section::shrinking("Project", 4, &around.tech),
        Section::shrinking("Rules of this project", 9, &around.guidelines),
        protected(around),
        Section::fixed("Report", &report),
    ];
    Prompt { text: assemble(sections, around.cap), report }
}

/// Asks once more for a plan that has faults.
#[must_use]
pub fn mend_plan(first: &Prompt, rejected: &str, faults: &[Fault], cap: usize) -> Prompt {
    let listed: Vec<String> = faults.iter().map(|fault| format!("- {}", fault.message)).collect();
    let sections = vec![
        Section::fixed("", &first.text),
        Section::shrinking("Your last answer", 5, rejected),
        Section::fixed(
            "It can't be used",
            format!("{}\n\nAnswer again with the whole mended plan, in the same form.", listed.join("\n")),
        ),
    ];
    Prompt { text: assemble(sections, cap), report: first.report.clone() }
}

/// One task, as the execute prompt needs it.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    /// The row.
    pub row: &'a TaskRow,
    /// What earlier rows found ([`crate::report::prev_context`]).
    pub context: &'a str,
    /// What went wrong last time, for a retry.
    pub earlier_error: Option<&'a str>,
    /// A note that the user left.
    pub note: Option<&'a str>,
    /// Whether it runs in a checkout of its own.
    pub isolated: bool,
}

/// Asks for one task to be done.
#[must_use]
pub fn execute(task: Assignment<'_>, around: &Surroundings) -> Prompt {
    let row = task.row;
    let id = &row.id;
    let report = format!(
        "Report one JSON object, by the tool `report_agent_job_result` if you have it, else as your last words:\n\
         {{\"id\": \"{id}\", \"status\": \"completed\" or \"failed\", \"findings\": \"at most 500 characters: what you \
         did and what the next task must know\", \"files_modified\": [\"path\"], \"tests_passed\": true or false, \
         \"acceptance_met\": \"which criteria are met and which are not\", \"error\": \"\", \"discoveries\": []}}\n\n\
         Say `completed` only if all tests pass and all acceptance criteria are met; otherwise `failed`, with the \
         reason in `error`. planex looks at the files itself.\n\n\
         {}",
        time_left(around)
    );
    let where_to = if row.scope.trim().is_empty() {
        "Change only what the task needs.".to_owned()
    } else {
        format!("Create and change files only within: {}", row.scope)
    };
    let others = if task.isolated {
        ""
    } else {
        " Other agents may be working beside you in the same folder: leave their files alone."
    };
    let sections = vec![
        Section::fixed(
            "",
            format!(
                "Do one task in the codebase at {}. {where_to}.{others} Don't commit, don't switch branches, don't push.",
                around.root
            )
            .replace("..", "."),
        ),
        Section::fixed("Task", format!("Task ID: {id}\nTitle: {}\n\n{}", row.title, row.description)),
        Section::fixed("Tests to write and pass", &row.test),
        Section::fixed("Acceptance criteria", &row.acceptance_criteria),
        Section::fixed("Tips", hint_tips(&row.hints)),
        Section::fixed("Read first", bullets(&hint_files(&row.hints))),
        Section::fixed("Run before you report", &row.execution_directives),
        Section::fixed("The last try failed", task.earlier_error.unwrap_or_default()),
        Section::fixed("Note of the user", task.note.unwrap_or_default()),
        Section::shrinking("What earlier work found", 8, task.context),
    ];
    worker(sections, around, report)
}

/// A worker's prompt: what is its own, then what every worker is told.
fn worker(mut sections: Vec<Section>, around: &Surroundings, report: String) -> Prompt {
    sections.extend([
        Section::shrinking("Known from other agents", 2, &around.board),
        Section::shrinking("Project", 1, &around.tech),
        Section::shrinking("Rules of this project", 9, &around.guidelines),
        protected(around),
        Section::fixed("Sharing", DISCOVERIES),
        Section::fixed("Report", &report),
    ]);
    Prompt { text: assemble(sections, around.cap), report }
}

fn bullets(entries: &[String]) -> String {
    entries.iter().map(|entry| format!("- {entry}\n")).collect()
}

fn protected(around: &Surroundings) -> Section {
    let body = if around.protect.is_empty() {
        String::new()
    } else {
        format!("Neither read nor write: {}", around.protect.join(", "))
    };
    Section::fixed("Protected files", body)
}

fn time_left(around: &Surroundings) -> String {
    let seconds = around.limit.as_secs();
    if seconds >= 120 {
        format!("You have {} minutes; report before they are over.", seconds / 60)
    } else {
        format!("You have {seconds} seconds; report before they are over.")
    }
}
