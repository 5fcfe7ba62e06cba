//! `cargo test` and `cargo nextest`.

use super::found::{Found, name};
use super::lines::number_before;

/// Groups are the test programs: `demo src/lib.rs`, `it tests/it.rs`, `doc demo`; without `Running` lines (`-q`) none.
pub(super) fn cargo(lines: &[&str]) -> Option<Found> {
    let mut found = Found::new();
    let (mut group, mut listed): (String, Vec<&str>) = (String::new(), Vec::new());
    let (mut results, mut red, mut errors, mut compiled, mut last_word) = (0, 0, 0, 0, false);
    // Whether the current program has told its result.
    let mut told = false;
    for line in lines {
        if let Some(next) = program(line) {
            (group, told) = (next, false);
        } else if line.trim_start().starts_with("Finished `test` profile") {
            compiled += 1;
        } else if *line == "failures:" {
            listed.clear();
        } else if let Some(test) = line.strip_prefix("    ") {
            listed.push(test);
        } else if let Some(result) = line.strip_prefix("test result: ") {
            (results, told) = (results + 1, true);
            if !group.is_empty() {
                found.ran.insert(group.clone());
            }
            if result.starts_with("FAILED") {
                red += 1;
                found.stopped |= listed.len() != number_before(result, " failed");
                listed.iter().for_each(|test| found.fail(&group, test));
            }
        } else if let Some(what) = line.strip_prefix("error: could not compile ") {
            found.broken(what.split(" due to ").next().unwrap_or(what));
        } else if line.starts_with("error: test failed, to rerun")
            || line.starts_with("error: doctest failed, to rerun")
        {
            errors += 1;
            if !told {
                // The program died: which of its tests did it, it could not say.
                found.fail(&group, "died before its end");
                found.stopped = true;
                red += 1;
            }
        } else if line.starts_with("error: ")
            && (line.ends_with(" targets failed:") || line.ends_with(" target failed:"))
        {
            last_word = true;
        }
    }
    found.runs = compiled;
    // Without `--no-fail-fast` the first red program is the last one that runs.
    found.stopped |= errors != red || (errors > 0 && !last_word);
    (results > 0 || errors > 0 || !found.failed.is_empty()).then_some(found)
}

/// `Running unittests src/lib.rs (target/debug/deps/demo-8348ca7a80742723)` or `Doc-tests demo`.
fn program(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(of) = line.strip_prefix("Doc-tests ") {
        return Some(format!("doc {of}"));
    }
    let (source, path) = line.strip_prefix("Running ")?.strip_suffix(')')?.rsplit_once(" (")?;
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let program = file.rsplit_once('-').map_or(file, |(program, _)| program);
    Some(format!("{program} {}", source.strip_prefix("unittests ").unwrap_or(source)))
}

/// Groups are the test programs as nextest names them: `demo`, `demo::it`.
pub(super) fn nextest(lines: &[&str]) -> Option<Found> {
    let at = lines.iter().rposition(|line| line.trim_start().starts_with("Summary [") && line.contains(" run: "))?;
    let mut found = Found::new();
    let (before, after) = lines.split_at(at);
    for line in before {
        if let Some(("PASS", test)) = outcome(line) {
            found.ran.insert(test);
        }
    }
    for (word, test) in after.iter().filter_map(|line| outcome(line)) {
        // A test that passed in the end is listed too, as flaky.
        if word != "PASS" {
            found.fail("", &test);
        }
    }
    let summary = after.first()?;
    let unit = [" failed", " timed out", " exec failed"];
    found.counted(unit.iter().map(|unit| number_before(summary, unit)).sum());
    found.stopped |= after.iter().any(|line| line.contains("were not run due to"));
    Some(found)
}

/// `        FAIL [   0.006s] (1/6) demo tests::calm` as its word and name.
fn outcome<'l>(line: &&'l str) -> Option<(&'l str, String)> {
    let (word, rest) = line.trim_start().split_once(" [")?;
    let word = word.trim_end();
    let known =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "- ".contains(c));
    let (time, rest) = rest.split_once(']')?;
    if !known || !time.ends_with('s') {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((count, rest)) if count.contains('/') => rest,
        Some(_) | None => rest,
    };
    let (program, test) = rest.trim().split_once(' ')?;
    Some((word, name(program, test)))
}
