//! `bun test` and `deno test`.

use super::found::Found;
use super::lines::{number_before, without_duration};

/// Groups are files: `src/a.test.ts › cart > adds up`.
pub(super) fn bun(lines: &[&str]) -> Option<Found> {
    let runs = lines.iter().filter(|line| line.starts_with("Ran ") && line.contains(" across ")).count();
    let closing = lines.iter().rev().find(|line| line.starts_with(' ') && line.ends_with(" fail"))?;
    let mut found = Found::new();
    found.runs = runs;
    let mut file = "";
    for line in lines {
        if let Some(test) = line.strip_prefix("(fail) ") {
            found.fail(file, without_duration(test));
        } else if let Some(next) = line.strip_suffix(':').filter(|next| is_file(next)) {
            file = next;
        }
        found.stopped |= line.starts_with("Bailed out after ") || line.starts_with("# Unhandled error between tests");
    }
    found.counted(number_before(closing, " fail"));
    (runs > 0).then_some(found)
}

fn is_file(text: &str) -> bool {
    !text.contains(' ')
        && [".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"].iter().any(|end| text.ends_with(end))
}

/// Groups are files: `./a_test.ts › steps ... one`.
pub(super) fn deno(lines: &[&str]) -> Option<Found> {
    let is_closing = |line: &&&str| {
        (line.starts_with("FAILED | ") || line.starts_with("ok | "))
            && line.contains(" passed")
            && line.contains(" failed")
    };
    let closing = lines.iter().rev().find(is_closing)?;
    let mut found = Found::new();
    found.runs = lines.iter().filter(is_closing).count();
    let at = lines.iter().rposition(|line| line.trim() == "FAILURES").unwrap_or(lines.len());
    let mut listed = 0;
    for line in lines.get(at..).unwrap_or_default() {
        if let Some((test, place)) = line.split_once(" => ") {
            let file = place.rsplitn(3, ':').last().unwrap_or(place);
            found.fail(file, test);
            listed += 1;
        } else if let Some(file) = line.strip_suffix(" (uncaught error)") {
            found.broken(file);
        }
    }
    // Of a test whose steps failed only the steps are listed, at least one.
    found.stopped |= listed < number_before(closing, " failed");
    Some(found)
}
