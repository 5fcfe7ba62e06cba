//! TAP (node, prove, …), `dotnet test`, PHPUnit, ExUnit.

use super::found::{Found, name};
use super::lines::{indent, number_after, number_before, without_duration};

/// Names are the titles of the subtests around a test and its own.
pub(super) fn tap(lines: &[&str]) -> Option<Found> {
    lines.iter().find(|line| {
        line.starts_with("TAP version ") || line.strip_prefix("1..").is_some_and(|n| n.parse::<usize>().is_ok())
    })?;
    let mut found = Found::new();
    let mut path: Vec<&str> = Vec::new();
    for line in lines {
        let (depth, text) = (indent(line) / 4, line.trim_start());
        if let Some(title) = text.strip_prefix("# Subtest: ") {
            path.truncate(depth);
            path.push(title);
        } else if let Some(rest) = text.strip_prefix("not ok ") {
            let test = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().trim_start_matches("- ");
            let allowed = test.to_ascii_lowercase();
            if !allowed.contains("# todo") && !allowed.contains("# skip") {
                let around = path.get(..depth).unwrap_or_default().join(" > ");
                found.fail("", &name(&around, without_duration(test)));
            }
        } else if text.starts_with("Bail out!") || text.strip_prefix("# cancelled ").is_some_and(|n| n != "0") {
            found.stopped = true;
        }
    }
    Some(found)
}

/// VSTest and the newer testing platform, in English. Names are fully qualified.
pub(super) fn dotnet(lines: &[&str]) -> Option<Found> {
    let mut found = Found::new();
    let (mut counted, mut seen) = (0, false);
    for line in lines {
        if let Some(test) = line.strip_prefix("  Failed ").filter(|test| test.ends_with(']')) {
            found.fail("", without_duration(test));
        } else if let Some(test) = line.strip_prefix("failed ").filter(|test| test.ends_with(')')) {
            found.fail("", without_duration(test));
        } else if line.contains("!  - Failed:") {
            (counted, seen) = (counted + number_after(line, "!  - Failed:"), true);
        } else if line.starts_with("Test summary: total:") || line.starts_with("Test run summary:") {
            seen = true;
        } else if line.starts_with("Build FAILED") || line.contains(": error CS") || line.contains(": error FS") {
            let project = line.rsplit_once('[').and_then(|(_, project)| project.strip_suffix(']'));
            let file = project.map(|project| project.rsplit(['/', '\\']).next().unwrap_or(project));
            found.broken(file.unwrap_or("dotnet"));
            seen = true;
        }
    }
    if counted > 0 {
        found.counted(counted);
    }
    seen.then_some(found)
}

/// Names are `CartTest::testAddsUp`, with their data set.
pub(super) fn phpunit(lines: &[&str]) -> Option<Found> {
    let is_closing = |line: &&&str| {
        line.starts_with("Tests: ") && line.contains(", Assertions: ")
            || line.starts_with("OK (") && line.contains(" assertion")
    };
    let closing = lines.iter().rev().find(is_closing)?;
    let mut found = Found::new();
    found.runs = lines.iter().filter(is_closing).count();
    let mut counts = false;
    for line in lines {
        if line.starts_with("There was ") || line.starts_with("There were ") {
            counts = ["failure:", "failures:", "error:", "errors:"].iter().any(|end| line.ends_with(end));
        } else if let Some((number, test)) = line.split_once(") ")
            && counts
            && number.parse::<usize>().is_ok()
            && test.contains("::")
        {
            found.fail("", test);
        }
    }
    found.counted(number_after(closing, "Errors:") + number_after(closing, "Failures:"));
    Some(found)
}

/// Names are `test adds up (CartTest)`.
pub(super) fn exunit(lines: &[&str]) -> Option<Found> {
    // `2 doctests, 12 tests, 1 failure`
    let is_closing = |line: &&&str| {
        let starts = line.starts_with(|c: char| c.is_ascii_digit());
        starts && (line.contains(" test, ") || line.contains(" tests, ")) && line.contains(" failure")
    };
    let mut found = Found::new();
    found.runs = lines.iter().filter(is_closing).count();
    for line in lines {
        let entry = line.strip_prefix("  ").and_then(|entry| entry.trim_start().split_once(") "));
        if let Some((number, test)) = entry
            && number.parse::<usize>().is_ok()
            && test.ends_with(')')
        {
            found.fail("", test);
        } else if line.starts_with("== Compilation error in file ") {
            found.broken(line.trim_matches(['=', ' ']).trim_start_matches("Compilation error in file "));
        }
        found.stopped |= line.contains("--max-failures reached");
    }
    // An umbrella has one such line for each of its projects.
    found.counted(lines.iter().filter(is_closing).map(|line| number_before(line, " failure")).sum());
    let seen = found.runs > 0 || lines.iter().any(|line| line.starts_with("== Compilation error in file "));
    seen.then_some(found)
}
