//! jest, vitest, mocha, and node's own runner (its TAP is in `others`).

use super::found::{Found, name};
use super::lines::{indent, number_before, without_duration};

/// Groups are files: `src/a.test.js › cart › adds up`.
pub(super) fn jest(lines: &[&str]) -> Option<Found> {
    let runs = lines.iter().filter(|line| line.starts_with("Test Suites: ")).count();
    let tests = lines.iter().rev().find(|line| runs > 0 && line.starts_with("Tests: "))?;
    let mut found = Found::new();
    found.runs = runs;
    let (mut file, mut red, mut again) = ("", false, Found::new());
    let mut summary = false;
    for line in lines {
        if let Some((outcome, next)) = suite(line) {
            (file, red) = (next, outcome == "FAIL");
            found.ran.insert(file.to_owned());
        } else if line.starts_with("Summary of all failing tests") {
            // All over again: only for what the first time was cut off.
            summary = true;
        } else if let Some(test) = line.strip_prefix("  ● ").filter(|test| red && *test != "Console") {
            match test {
                "Test suite failed to run" => {
                    found.ran.remove(file);
                    found.broken(file);
                }
                _ if summary => again.fail(file, test),
                _ => found.fail(file, test),
            }
        }
    }
    found.counted(number_before(tests, " failed"));
    // With `--bail`: `Test Suites: 1 failed, 1 of 3 total`.
    found.stopped |= lines.iter().any(|line| line.starts_with("Test Suites: ") && line.contains(" of "));
    found.failed.append(&mut again.failed);
    Some(found)
}

/// `FAIL src/a.test.js (5.2 s)`, of projects with spaces in front.
fn suite(line: &str) -> Option<(&str, &str)> {
    let (outcome, file) = line.trim_start().split_once(' ').filter(|_| indent(line) < 2)?;
    ["FAIL", "PASS"].contains(&outcome).then(|| (outcome, without_duration(file).trim()))
}

/// Groups are files: `src/a.test.ts › cart > adds up`.
pub(super) fn vitest(lines: &[&str]) -> Option<Found> {
    let runs = lines.iter().filter(|line| line.trim_start().starts_with("Test Files  ")).count();
    let mut found = Found::new();
    found.runs = runs;
    for line in lines.iter().map(|line| line.trim()) {
        if let Some(failed) = line.strip_prefix("FAIL ").map(str::trim) {
            match failed.split_once(" > ") {
                Some((file, test)) => found.fail(file, test),
                None => found.broken(failed.split(" [").next().unwrap_or(failed)),
            }
        } else if let Some((file, tests)) = line.trim_start_matches(['❯', '✓', ' ']).split_once(" (")
            && tests.split_once(" test").is_some_and(|(count, _)| count != "0" && count.parse::<usize>().is_ok())
        {
            found.ran.insert(file.to_owned());
        }
    }
    let tests = lines.iter().rev().find(|line| line.trim_start().starts_with("Tests  "));
    found.counted(tests.map_or(0, |line| number_before(line, " failed")));
    (runs > 0).then_some(found)
}

/// Names are the titles of the suites and the test, as the list at the end has them.
pub(super) fn mocha(lines: &[&str]) -> Option<Found> {
    let is_count = |line: &&&str, unit: &str| {
        let number = line.strip_prefix("  ").and_then(|line| line.split_once(unit)).map(|(number, _)| number);
        number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    let runs = lines.iter().filter(|line| is_count(line, " passing (")).count();
    let mut found = Found::new();
    found.runs = runs;
    let Some(at) = lines.iter().rposition(|line| is_count(&line, " failing")) else {
        return (runs > 0).then_some(found);
    };
    let (closing, list) = lines.get(at..)?.split_first()?;
    let mut title: Option<String> = None;
    for line in list {
        let start = line.strip_prefix("  ").and_then(|entry| entry.split_once(") "));
        let begun = start.filter(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        let text = match (begun, title.take()) {
            (Some((_, first)), _) => first.to_owned(),
            (None, Some(open)) => name(&open, line),
            (None, None) => continue,
        };
        match text.strip_suffix(':') {
            Some(whole) => found.fail("", whole),
            None => title = Some(text),
        }
    }
    found.counted(number_before(closing, " failing"));
    Some(found)
}

/// `node --test` with its `spec` reporter. Groups are files.
pub(super) fn spec(lines: &[&str]) -> Option<Found> {
    let closing = lines.iter().rev().find(|line| line.starts_with("ℹ fail "))?;
    let at = lines.iter().position(|line| *line == "✖ failing tests:").unwrap_or(lines.len());
    let mut found = Found::new();
    let mut file = "";
    for line in lines.get(at..)? {
        if let Some(place) = line.strip_prefix("test at ") {
            // The line and the column move with every edit.
            file = place.rsplitn(3, ':').last().unwrap_or(place);
        } else if let Some(test) = line.strip_prefix("✖ ").filter(|_| !file.is_empty()) {
            found.fail(file, without_duration(test));
        }
    }
    found.counted(closing.trim_start_matches("ℹ fail ").trim().parse().unwrap_or(0));
    Some(found)
}
