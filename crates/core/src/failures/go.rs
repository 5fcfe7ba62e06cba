//! `go test`.

use super::found::Found;
use super::lines::without_duration;

/// Groups are packages. A failing subtest is named beside the test that it belongs to.
pub(super) fn go(lines: &[&str]) -> Option<Found> {
    let mut found = Found::new();
    let mut tests: Vec<&str> = Vec::new();
    let (mut packages, mut died) = (0, false);
    for line in lines {
        if let Some(test) = line.trim_start().strip_prefix("--- FAIL: ") {
            tests.push(without_duration(test));
        } else if line.starts_with("panic: ") || line.starts_with("fatal error: ") {
            died = true;
        } else if let Some(package) = line.strip_prefix("FAIL\t") {
            packages += 1;
            let package = package.split('\t').next().unwrap_or(package);
            match package.split_once(" [") {
                Some((package, _)) => found.broken(package),
                None => {
                    if tests.is_empty() {
                        found.fail(package, "died before its end");
                    }
                    tests.iter().for_each(|test| found.fail(package, test));
                    // What would have come after a panic did not run.
                    found.stopped |= died || tests.is_empty();
                    if !died {
                        found.ran.insert(package.to_owned());
                    }
                }
            }
            (tests, died) = (Vec::new(), false);
        } else if let Some(package) = line.strip_prefix("ok  \t") {
            found.ran.insert(package.split('\t').next().unwrap_or(package).to_owned());
            tests.clear();
        }
    }
    (packages > 0 || !found.ran.is_empty()).then_some(found)
}
