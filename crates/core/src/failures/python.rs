//! `pytest` and `unittest` (Django's too).

use super::found::Found;
use super::lines::{number_after, number_before};

/// Names are node ids, `tests/test_a.py::TestCart::test_total[x]`. Told only in the short summary, which `-rN` removes.
pub(super) fn pytest(lines: &[&str]) -> Option<Found> {
    let closings = || lines.iter().map(|line| line.trim_matches(['=', ' '])).filter(|line| is_closing(line));
    let closing = closings().next_back()?;
    let mut found = Found::new();
    found.runs = closings().count();
    let summary = lines.iter().position(|line| line.contains(" short test summary info ")).unwrap_or(lines.len());
    for line in lines.get(summary..).unwrap_or_default() {
        if let Some(test) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            found.fail("", node_id(test));
        } else if let Some((which, test)) = line.strip_prefix("SUBFAILED").and_then(|rest| rest.split_once(' ')) {
            found.fail("", &format!("{} {which}", node_id(test)));
        }
        // `!!! stopping after 1 failures !!!`, `!!! Interrupted: 1 error during collection !!!`
        found.stopped |= line.starts_with("!!!");
    }
    found.counted(number_before(closing, " failed") + number_before(closing, " error"));
    Some(found)
}

/// `4 failed, 1 passed, 1 error in 0.05s`
fn is_closing(line: &str) -> bool {
    line.split_once(" in ").is_some_and(|(counts, time)| {
        time.starts_with(|c: char| c.is_ascii_digit())
            && counts.split(", ").all(|part| {
                let (number, word) = part.split_once(' ').unwrap_or_default();
                let known = [
                    "failed",
                    "passed",
                    "skipped",
                    "deselected",
                    "xfailed",
                    "xpassed",
                    "warning",
                    "warnings",
                    "error",
                    "errors",
                    "rerun",
                    "subtests passed",
                    "subtests failed",
                ];
                number.parse::<usize>().is_ok() && known.contains(&word)
            })
    })
}

/// The id before ` - message`; parameters in brackets may hold ` - ` themselves.
fn node_id(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && text.get(at..).is_some_and(|rest| rest.starts_with(" - ")) => {
                return text.get(..at).unwrap_or(text);
            }
            _ => {}
        }
    }
    // A bracket in a parameter without its partner.
    text.find("] - ").and_then(|at| text.get(..=at)).unwrap_or(text)
}

/// Names are as printed: `test_one (test_u.T.test_one)`.
pub(super) fn unittest(lines: &[&str]) -> Option<Found> {
    lines.iter().find(|line| line.starts_with("Ran ") && line.contains(" test"))?;
    let closing = lines.iter().rev().find(|line| line.starts_with("FAILED (") || line.starts_with("OK"))?;
    let mut found = Found::new();
    found.runs = lines.iter().filter(|line| line.starts_with("Ran ") && line.contains(" test")).count();
    for pair in lines.windows(2) {
        let [line, test] = pair else { continue };
        let is_rule = line.len() >= 70 && line.bytes().all(|byte| byte == b'=');
        let test = ["FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: "].iter().find_map(|mark| test.strip_prefix(mark));
        if let Some(test) = test.filter(|_| is_rule) {
            found.fail("", test);
        }
    }
    let counts = ["failures=", "errors=", "unexpected successes="];
    found.counted(counts.iter().map(|count| number_after(closing, count)).sum());
    Some(found)
}
