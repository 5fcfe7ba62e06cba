//! TAP (node, prove, …), `dotnet test`, RSpec, PHPUnit.

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

/// Groups are files: `./spec/cart_spec.rb › Cart adds up`.
pub(super) fn rspec(lines: &[&str]) -> Option<Found> {
    let closing = lines.iter().rev().find(|line| line.contains(" example") && line.contains(" failure"))?;
    let mut found = Found::new();
    found.runs = lines.iter().filter(|line| line.contains(" example") && line.contains(" failure")).count();
    for line in lines {
        if let Some((place, title)) = line.strip_prefix("rspec ").and_then(|entry| entry.split_once(" # ")) {
            let place = place.trim_matches('\'');
            found.fail(place.split(['[', ':']).next().unwrap_or(place), title);
        } else if let Some(file) = line.strip_prefix("An error occurred while loading ") {
            found.broken(file.trim_end_matches('.'));
        }
    }
    found.counted(number_before(closing, " failure"));
    found.stopped |= closing.contains("outside of examples");
    Some(found)
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
