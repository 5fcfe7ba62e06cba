//! Lines of output, and numbers and durations in them.

use std::collections::BTreeMap;

/// The lines of each package, where a runner of many packages starts each line with its package (`packages/a test: …`
/// of pnpm, `web:test: …` of turbo). Lines without such a start are those of the package ``.
pub(super) fn streams(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut streams: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines().map(str::trim_end) {
        let (package, line) = package(line).unwrap_or(("", line));
        streams.entry(package).or_default().push(line);
    }
    streams
}

fn package(line: &str) -> Option<(&str, &str)> {
    let (start, rest) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|start| (start, "")))?;
    let (package, script) = start.split_once(' ').or_else(|| start.split_once(':'))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "@/._-".contains(c);
    let is_script = script.starts_with("test") && script.chars().all(|c| is_name(c) || c == ':');
    // `test foo: …` is no package.
    let is_package = !package.is_empty() && package != "test" && package.chars().all(is_name);
    (is_package && is_script).then_some((package, rest))
}

/// The number right before `unit` in a summary: 3 of `1 passed, 3 failed in 0.1s` and ` failed`; 0 if there is none.
pub(super) fn number_before(line: &str, unit: &str) -> usize {
    line.match_indices(unit).find_map(|(at, _)| last_number(line.get(..at)?)).unwrap_or(0)
}

fn last_number(text: &str) -> Option<usize> {
    let start = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text.get(start..)?.parse().ok()
}

/// The number right behind `label`: 3 of `Failures: 3, Errors: 1`; 0 if there is none.
pub(super) fn number_after(line: &str, label: &str) -> usize {
    let Some((_, rest)) = line.split_once(label) else { return 0 };
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The line without a duration in parentheses or brackets at its end: ` (12 ms)`, ` (0.00s)`, ` [< 1 s]`.
pub(super) fn without_duration(line: &str) -> &str {
    let line = line.trim_end();
    let inner = line.strip_suffix(')').and_then(|line| line.rsplit_once('('));
    let Some((before, inside)) = inner.or_else(|| line.strip_suffix(']').and_then(|line| line.rsplit_once('['))) else {
        return line;
    };
    let is_duration = inside.trim_start_matches(['<', ' ']).starts_with(|c: char| c.is_ascii_digit())
        && inside.ends_with(['s', 'm', 'h'])
        && inside.chars().all(|c| c.is_ascii_digit() || " .,<msµunh".contains(c));
    if is_duration { before.trim_end() } else { line }
}

/// How far the line is indented, in spaces.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
