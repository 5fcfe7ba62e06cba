//! Maven (Surefire, Failsafe) and Gradle.

use super::found::Found;
use super::lines::{number_after, number_before};

/// Groups are modules where there are several; names are `demo.CartTest.addsUp`.
pub(super) fn surefire(lines: &[&str]) -> Option<Found> {
    let mut found = Found::new();
    let (mut module, mut class) = ("", "");
    let (mut counted, mut seen) = (0, false);
    for line in lines {
        let text =
            line.trim_start_matches("[ERROR]").trim_start_matches("[INFO]").trim_start_matches("[WARNING]").trim();
        if let Some(next) = text.strip_prefix("Building ") {
            // The version moves: only the name counts.
            module = next.rsplit_once(' ').map_or(next, |(name, _)| name);
            module = module
                .rsplit_once(' ')
                .filter(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
                .map_or(module, |(name, _)| name);
        } else if text.starts_with("Tests run: ") {
            seen = true;
            if text.contains("Time elapsed") {
                class = text.rsplit_once(" in ").map_or("", |(_, class)| class.trim());
            } else {
                counted += number_after(text, "Failures:") + number_after(text, "Errors:");
                found.ran.insert(module.to_owned());
            }
        } else if let Some(test) = failing(text) {
            found.fail(module, &with_class(class, test));
        } else if text.starts_with("COMPILATION ERROR") {
            found.broken(if module.is_empty() { "compilation" } else { module });
        }
        // `[INFO] web ........................... SKIPPED`
        found.stopped |= text.ends_with(" SKIPPED") && text.contains("...");
    }
    found.counted(counted);
    (seen || !found.failed.is_empty()).then_some(found)
}

/// The test of `demo.CartTest.addsUp -- Time elapsed: 0.005 s <<< FAILURE!`, of any version of Surefire.
fn failing(text: &str) -> Option<&str> {
    let head = text.strip_suffix("<<< FAILURE!").or_else(|| text.strip_suffix("<<< ERROR!"))?;
    let (test, _) = head.split_once("Time elapsed:")?;
    Some(test.trim_end().trim_end_matches("--").trim_end()).filter(|test| !test.is_empty())
}

fn with_class(class: &str, test: &str) -> String {
    match test.strip_suffix(')').and_then(|test| test.rsplit_once('(')) {
        // `addsUp(demo.CartTest)` of old
        Some((method, of)) if of.contains('.') && of == class => format!("{of}.{method}"),
        Some(_) | None if class.is_empty() || test.starts_with(class) => test.to_owned(),
        Some(_) | None => format!("{class}.{test}"),
    }
}

/// Groups are tasks: `:app:test › CartTest > addsUp()`. Without `--continue` Gradle runs no task after a red one, and
/// does not say which, so the list is never taken as whole.
pub(super) fn gradle(lines: &[&str]) -> Option<Found> {
    let counts = |line: &str| line.contains(" completed, ") && line.contains(" failed");
    lines.iter().find(|line| counts(line) || line.starts_with("BUILD SUCCESSFUL"))?;
    let mut found = Found::new();
    let mut task = "";
    let mut of_task = 0;
    for line in lines {
        if let Some(next) = line.strip_prefix("> Task ") {
            if !next.ends_with(" FAILED") || next.trim_end_matches(" FAILED") != task {
                of_task = 0;
            }
            task = next.split(' ').next().unwrap_or(next);
        } else if let Some(test) =
            line.strip_suffix(" FAILED").filter(|test| test.contains(" > ") && !test.starts_with(' '))
        {
            of_task += 1;
            found.fail(task, test);
        } else if counts(line) && number_before(line, " failed") == of_task && !task.is_empty() {
            found.ran.insert(task.to_owned());
        }
    }
    found.stopped = true;
    Some(found)
}
