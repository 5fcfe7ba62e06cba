//! RSpec and Minitest (Rails).

use super::found::Found;
use super::lines::number_before;

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

/// Names are `CartTest#test_adds_up`.
pub(super) fn minitest(lines: &[&str]) -> Option<Found> {
    // `4 runs, 1 assertions, 1 failures, 1 errors, 1 skips`
    let is_closing =
        |line: &&&str| line.contains(" runs, ") && line.contains(" failures, ") && line.contains(" errors");
    let closing = lines.iter().rev().find(is_closing)?;
    let mut found = Found::new();
    found.runs = lines.iter().filter(is_closing).count();
    for pair in lines.windows(2) {
        let [mark, test] = pair else { continue };
        // `  1) Failure:`; Rails prints `Failure:` alone, as soon as it happens.
        let mark = mark.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(") ");
        if mark == "Failure:" || mark == "Error:" {
            let test = test.split(" [").next().unwrap_or(test);
            found.fail("", test.trim_end_matches(':'));
        }
    }
    found.counted(number_before(closing, " failures") + number_before(closing, " errors"));
    Some(found)
}
