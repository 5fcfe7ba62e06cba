//! Durations: `90`, `90s`, `10m`, `1h30m` (spec 00, `--timeout`), and back for people.

use std::time::Duration;

/// Units, longest first, in milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no duration: {problem}; write for example 90, 90s, 10m or 1h30m", crate::text::one_line(.text))]
pub struct DurationError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Reads a duration: a number of seconds, or numbers with `d`, `h`, `m`, `s`, `ms`, longest unit first. Numbers may have
/// decimals (`1.5h`), spaces may stand between the parts; the result is exact to the millisecond.
///
/// # Errors
/// When it is anything else, or too long to count.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let fail = |problem: &str| DurationError { text: text.to_owned(), problem: problem.to_owned() };
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(fail("it is empty"));
    }
    let mut total: u64 = 0;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let (number, behind) = split_while(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, behind) = split_while(behind.trim_start(), char::is_alphabetic);
        if number.is_empty() {
            return Err(fail("a number is missing"));
        }
        let scale = match unit {
            "" if smallest == u64::MAX && behind.trim().is_empty() => 1000,
            "" => return Err(fail("a unit is missing (d, h, m, s, ms)")),
            _ => UNITS
                .iter()
                .find(|(name, _)| *name == unit.to_ascii_lowercase())
                .map(|(_, scale)| *scale)
                .ok_or_else(|| fail(&format!("`{}` is no unit (d, h, m, s, ms)", crate::text::one_line(unit))))?,
        };
        if scale >= smallest {
            return Err(fail("longer units come first, each once"));
        }
        smallest = scale;
        let part = scaled(number, scale).ok_or_else(|| fail("the number is not readable or too large"))?;
        total = total.checked_add(part).ok_or_else(|| fail("it is too long"))?;
        rest = behind.trim_start();
    }
    Ok(Duration::from_millis(total))
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

/// `number` (with decimals) times `scale`, rounded down; exact, since times are compared.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.parse().ok()?;
    let digits = decimals.get(..decimals.len().min(9))?;
    let part: u64 = digits.parse().ok()?;
    if !decimals.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let power = 10_u128.pow(u32::try_from(digits.len()).ok()?);
    let part = u64::try_from(u128::from(part) * u128::from(scale) / power).ok()?;
    whole.checked_mul(scale)?.checked_add(part)
}

/// A duration for people: `0.4s`, `12s`, `3m 05s`, `1h 02m`, `2d 3h`.
#[must_use]
pub fn human_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 if duration.is_zero() => "0s".to_owned(),
        0..10 => format!("{seconds}.{}s", duration.subsec_millis() / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{human_duration, parse_duration};

    #[test]
    fn durations_are_read() {
        for (text, millis) in [
            ("90", 90_000),
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            (" 1h 30m ", 5_400_000),
            ("1.5h", 5_400_000),
            ("0.25", 250),
            ("500ms", 500),
            ("1d2h3m4s5ms", 93_784_005),
            ("10M", 600_000),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn others_are_refused_with_the_reason() {
        for (text, word) in [
            ("", "empty"),
            ("m", "number is missing"),
            ("-5s", "number is missing"),
            ("10x", "`x` is no unit"),
            ("10 20", "unit is missing"),
            ("10m5", "unit is missing"),
            ("5s10m", "longer units come first"),
            ("1m1m", "longer units come first"),
            ("1..5s", "not readable"),
            (".s", "not readable"),
            ("99999999999999999999", "too large"),
            ("18446744073709551615d", "too large"),
            ("５s", "number is missing"),
        ] {
            let error = parse_duration(text).expect_err(text).to_string();
            assert!(error.contains(word) && error.contains("1h30m"), "{error}");
        }
    }

    #[test]
    fn people_read_durations() {
        for (millis, expected) in [
            (0, "0s"),
            (420, "0.4s"),
            (9_990, "9.9s"),
            (12_000, "12s"),
            (185_000, "3m 05s"),
            (3_720_000, "1h 02m"),
            (183_600_000, "2d 3h"),
        ] {
            assert_eq!(human_duration(Duration::from_millis(millis)), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>(), near in "[0-9.dhms ]{0,12}") {
            let _ = parse_duration(&text);
            let _ = parse_duration(&near);
        }

        #[test]
        fn parts_add_up(h in 0_u64..100, m in 0_u64..100, s in 0_u64..100) {
            prop_assert_eq!(parse_duration(&format!("{h}h{m}m{s}s")), Ok(Duration::from_secs(h * 3600 + m * 60 + s)));
        }
    }
}
