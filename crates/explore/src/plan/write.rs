//! What a task says.

use planex_core::schema::results::PlannedTask;
use planex_core::text::{one_line, truncate_chars};

use super::place::Target;
use super::{Draft, Frame, Part, title};
use crate::assess::{Preset, subject};
use crate::tech::test_command_for;
use crate::text::Clues;

/// Longest requirement that is quoted whole. Characters.
const MAX_QUOTED: usize = 4_000;
/// Longest requirement that is repeated for one of its items. Characters.
const MAX_CONTEXT: usize = 1_200;

/// Whether a text asks for tests and nothing else.
pub(super) fn only_tests(text: &str, clues: &Clues) -> bool {
    let lower = text.to_lowercase();
    let starts = [
        "add test",
        "add unit test",
        "add more test",
        "write test",
        "write unit test",
        "test ",
        "tests ",
        "cover ",
        "add integration test",
        "テスト",
        "测试",
        "添加测试",
        "编写测试",
    ];
    clues.about_tests && starts.iter().any(|s| lower.trim_start().starts_with(s))
        || starts.iter().take(6).any(|s| lower.trim_start().starts_with(s))
}

/// Whether a text asks for documents and nothing else.
pub(super) fn only_docs(text: &str, clues: &Clues) -> bool {
    let lower = text.trim_start().to_lowercase();
    let starts = [
        "document ",
        "update the readme",
        "update readme",
        "update docs",
        "update the docs",
        "docs:",
        "readme",
        "fix typo in readme",
        "write documentation",
        "ドキュメント",
        "文档",
        "更新文档",
    ];
    (clues.about_docs || lower.starts_with("document ")) && starts.iter().any(|s| lower.starts_with(s))
}

/// Whether users notice the change, so that documents must speak of it.
pub(super) fn users_see(text: &str, preset: Preset) -> bool {
    let lower = text.to_lowercase();
    let words = [
        "flag",
        "option",
        "--",
        "command",
        "setting",
        "config",
        "api",
        "endpoint",
        "オプション",
        "コマンド",
        "設定",
        "选项",
        "命令",
        "配置",
    ];
    preset == Preset::Feature && words.iter().any(|w| lower.contains(w))
}

/// Writes a task out.
pub(super) fn task(frame: &Frame<'_>, number: usize, draft: &Draft<'_>) -> PlannedTask {
    let commands = match draft.part {
        Part::Docs => Vec::new(),
        Part::Whole | Part::Code | Part::Tests => test_command_for(frame.tech, &draft.place.paths()),
    };
    PlannedTask {
        id: format!("T{number}"),
        title: heading(draft),
        description: description(frame, draft),
        test: tests(frame, draft),
        acceptance_criteria: criteria(frame, draft, &commands),
        scope: draft.place.scope(),
        hints: hints(frame, draft),
        execution_directives: commands.iter().map(|(_, c)| format!("`{c}`")).collect::<Vec<_>>().join("\n"),
        deps: draft.deps.clone(),
        context_from: frame.rows.iter().map(|r| r.id.to_owned()).chain(draft.deps.iter().cloned()).collect(),
    }
}

fn heading(draft: &Draft<'_>) -> String {
    let subject = title(draft.item);
    match (draft.part, &draft.module) {
        (Part::Tests, _)
            if !subject.to_lowercase().contains("test") && !subject.contains("テスト") && !subject.contains("测试") =>
        {
            truncate_chars(&format!("Tests: {subject}"), 80)
        }
        (Part::Docs, _) if !subject.to_lowercase().contains("readme") && !subject.to_lowercase().contains("doc") => {
            truncate_chars(&format!("Docs: {subject}"), 80)
        }
        (_, Some(module)) => truncate_chars(&format!("{module}: {subject}"), 80),
        (Part::Whole | Part::Code | Part::Tests | Part::Docs, _) => subject,
    }
}

fn description(frame: &Frame<'_>, draft: &Draft<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let item = truncate_chars(draft.item.trim(), MAX_QUOTED);
    lines.push(match draft.part {
        Part::Whole => item,
        Part::Code => format!("{item}\n\nThis task makes the change itself; a later task adds its tests."),
        Part::Tests => format!("Write the tests for this requirement:\n{item}"),
        Part::Docs => format!("Bring the documents in line with this requirement:\n{item}"),
    });
    if let Some(module) = &draft.module {
        lines.push(format!("This task does the part of it that lies in {module}; other tasks do the other modules."));
    }
    if draft.item.trim() != frame.requirement.trim() {
        // "Both", "the same" and "it" of an item point at its neighbours.
        let whole = truncate_chars(frame.requirement.trim(), MAX_CONTEXT);
        lines.push(format!("It is one part of this requirement; other tasks do the others:\n{whole}"));
    }
    if !draft.place.files.is_empty() {
        let verb = if draft.part == Part::Tests { "The tests belong into" } else { "Where to work" };
        lines.push(format!("{verb}: {}.", draft.place.files.iter().map(located).collect::<Vec<_>>().join("; ")));
    } else if draft.part != Part::Docs {
        lines.push("No existing file stands out: put new files where the project's layout suggests it.".to_owned());
    }
    if draft.part != Part::Docs {
        lines.extend(
            statements(frame, |e| &e.integration_points, &draft.place.paths(), 4)
                .into_iter()
                .filter(|l| draft.place.files.iter().any(|f| l.ends_with(&format!(" of {}", f.path))))
                .take(2)
                .map(|l| format!("Connection: {l}.")),
        );
    }
    lines.join("\n")
}

fn located(target: &Target) -> String {
    if target.places.is_empty() {
        target.path.clone()
    } else {
        format!("{} ({})", target.path, target.places.join(", "))
    }
}

/// Lines of a text field of the explorations that speak of one of the paths; any line where none does.
fn statements<'a>(
    frame: &Frame<'a>,
    field: impl Fn(&'a planex_core::exploration::Exploration) -> &'a serde_json::Value,
    paths: &[String],
    count: usize,
) -> Vec<&'a str> {
    let all =
        frame.rows.iter().filter_map(|r| r.exploration).flat_map(|e| field(e).as_str().unwrap_or_default().lines());
    let mut found: Vec<&str> = Vec::new();
    for line in all.map(|l| l.trim().trim_end_matches('.')).filter(|l| !l.is_empty() && l.chars().count() <= 240) {
        if found.len() < count && !found.contains(&line) && paths.iter().any(|p| line.contains(p.as_str())) {
            found.push(line);
        }
    }
    found
}

fn tests(frame: &Frame<'_>, draft: &Draft<'_>) -> String {
    if draft.part == Part::Docs {
        return "Every command and option that the text names exists and is spelt as in the code.".to_owned();
    }
    let own: Vec<&str> = if draft.part == Part::Tests {
        draft.place.files.iter().map(|f| f.path.as_str()).collect()
    } else {
        draft.place.tests.iter().map(String::as_str).collect()
    };
    let place = if own.is_empty() {
        "in new tests beside the existing ones".to_owned()
    } else {
        format!("in {}", own.join(", "))
    };
    let cases = match frame.preset {
        Preset::Bugfix => {
            "the reported case, which fails before the change; its neighbours (empty, largest, malformed input)"
        }
        Preset::Security => "a permitted and a refused access; malformed and hostile input",
        Preset::Performance => "the same results as before; a measurement of the slow case before and after",
        Preset::Architecture => "all existing tests, unchanged; the new borders by one test each",
        Preset::Feature => "the wished behaviour; the behaviour without it, unchanged; invalid and empty input",
    };
    match draft.part {
        Part::Code => format!("Existing tests keep passing. The next task covers: {cases}."),
        Part::Whole | Part::Tests | Part::Docs => format!("Cover {place}: {cases}."),
    }
}

fn criteria(frame: &Frame<'_>, draft: &Draft<'_>, commands: &[(String, String)]) -> String {
    let what = subject(draft.item);
    let mut lines: Vec<String> = Vec::new();
    match (draft.part, frame.preset) {
        (Part::Docs, _) => {
            let files: Vec<&str> = draft.place.files.iter().map(|f| f.path.as_str()).collect();
            let place = if files.is_empty() { "The documentation".to_owned() } else { files.join(", ") };
            lines.push(format!("{place} describes the result of \"{what}\" with an example."));
        }
        (Part::Tests, _) => lines.push(format!("New tests cover \"{what}\" and fail when the change is taken back.")),
        (_, Preset::Bugfix) => {
            lines.push(format!("The failure in \"{what}\" no longer occurs; a test that reproduces it passes."));
        }
        (_, Preset::Architecture) => {
            lines.push("All existing tests pass without changes to what they expect.".to_owned());
        }
        (_, Preset::Performance) => lines.push(format!(
            "\"{what}\": the figures before and after are in the report, and the later ones are better."
        )),
        (_, Preset::Security | Preset::Feature) => {
            lines.push(format!("\"{what}\" works as described, shown by a test."));
        }
    }
    for line in statements(frame, |e| &e.constraints, &draft.place.paths(), 2) {
        // Conditions that a check can decide; advice belongs to the hints.
        if line.contains(" files import ") {
            lines.push(format!("{line}."));
        }
    }
    for (_, command) in commands {
        lines.push(format!("`{command}` passes."));
    }
    lines.iter().map(|l| format!("- {l}")).collect::<Vec<_>>().join("\n")
}

fn hints(frame: &Frame<'_>, draft: &Draft<'_>) -> String {
    let mut tips: Vec<String> = Vec::new();
    if draft.part != Part::Docs {
        tips.extend(statements(frame, |e| &e.patterns, &draft.place.paths(), 2).into_iter().map(str::to_owned));
    }
    if tips.is_empty() && draft.part != Part::Docs && !draft.place.read.is_empty() {
        tips.push("Follow the conventions of the reference files".to_owned());
    }
    let tips = one_line(&tips.join("; ").replace("||", "|"));
    let files: Vec<&str> = draft.place.read.iter().map(String::as_str).filter(|f| !f.contains(';')).collect();
    if files.is_empty() { tips } else { format!("{tips} || {}", files.join(";")).trim().to_owned() }
}
