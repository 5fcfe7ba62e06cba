//! "Try again at 14:30": the time that an agent's error message names (spec 10, *Running*).

use std::sync::LazyLock;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use regex::{Captures, Regex};

use super::Zone;

/// How much of a message is read.
const MOST_BYTES: usize = 16 * 1024;
/// A time of day this little ago is "now", not tomorrow.
const JUST_PASSED: SignedDuration = SignedDuration::from_mins(5);
/// Farther off than this is no time to try again but a misreading.
const FARTHEST: SignedDuration = SignedDuration::from_hours(24 * 40);

/// When `text` says to try again: "try again in 1.5s", "retry after 5 minutes", "resets at 3pm (UTC)",
/// "try again at Feb 28th, 2026 9:30 AM", `Retry-After: 20`, `"retryDelay": "34s"`, RFC 3339, seconds since 1970.
///
/// A time of day is the next such time after `now`, or `now` if it passed within the last five minutes. `zone` must be
/// that of the machine on which the agent runs, since agents print local times; a zone that the text names counts only if
/// it is UTC or GMT (a table of zones would be I/O). Never earlier than `now`; `None` if nothing is named, or something
/// more than 40 days off.
#[must_use]
pub fn retry_hint(text: &str, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let text = text.get(..text.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
    let at = header(text, now)
        .or_else(|| relative(text, now))
        .or_else(|| absolute(text))
        .or_else(|| on_a_day(text, now, zone))
        .or_else(|| time_of_day(text, now, zone))?;
    let at = at.max(now);
    (at.duration_since(now) <= FARTHEST).then_some(at)
}

/// A pattern that is part of the program. One that does not compile never matches; a test compiles them all.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// What stands in front of a time: `try again`, `retry after`, `resets`, `available`, …
const LEAD: &str = r"(?i)\b(?:try(?:ing)?\s+(?:it\s+)?again|retry(?:ing)?|resets?|reset\s+time|be\s+reset|wait|available(?:\s+again)?|until|back)\b[^\n0-9]{0,24}?";

/// `Retry-After: 20`, `retry-after-ms: 1500`, `"retryDelay": "34s"`.
static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r#"(?i)\bretry[-_ ]?(?:after|delay)(?:[-_]?(ms))?["']?\s*[:=]\s*["']?([0-9]+(?:\.[0-9]+)?)\s*(ms|s)?\b"#)
});
/// "try again in 1h 5m", "wait 2 minutes and 10 seconds"; the parts are read by [`PART`].
static RELATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(&format!(
        r"(?:{LEAD}\b(?:in|after|for)|(?i)\bwait(?:\s+for)?)\s+(?:about\s+|~\s*)?((?:[0-9]+(?:\.[0-9]+)?\s*(?:{UNIT})\b?(?:\s*,?\s*(?:and\s+)?)?)+)"
    ))
});
/// One number with its unit.
static PART: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(&format!(r"(?i)([0-9]+(?:\.[0-9]+)?)\s*({UNIT})")));
/// Units of time, longest spelling first.
const UNIT: &str = "milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d";
/// RFC 3339, or nearly, behind a word of waiting: log lines begin with a time too.
static STAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:reset|until|again|retry|available)[^\n]{0,40}?\b([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)\s*(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})",
    )
});
/// Seconds since 1970, `limit reached|1772251200`.
static EPOCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r#"(?i)(?:reset[a-z_-]*|limit reached|until|retry[a-z_-]*)["']?\s*(?:at\s*)?[|:= ]\s*["']?([0-9]{10})\b"#)
});
/// `Retry-After: Sat, 28 Feb 2026 07:28:00 GMT`.
static HTTP_DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\bretry-after\W{1,4}[a-z]{3},\s+([0-9]{1,2})\s+([a-z]{3})[a-z]*\s+([0-9]{4})\s+([0-9]{1,2}):([0-9]{2}):([0-9]{2})\s+(?:GMT|UTC)",
    )
});
/// "try again at Feb 28th, 2026 9:30 AM", "resets Mar 6, 1pm".
static DAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(&format!(
        r"{LEAD}\b([a-z]{{3}})[a-z]*\.?\s+([0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+(?:([0-9]{{4}}),?\s+)?(?:at\s+)?([0-9]{{1,2}})(?::([0-9]{{2}}))?(?::[0-9]{{2}})?\s*(am|pm|a\.m\.|p\.m\.)?{ZONE}"
    ))
});
/// "try again at 14:30", "resets 3pm (UTC)".
static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(&format!(
        r"{LEAD}(?:\bat\s+|\bafter\s+|@\s*)?\b([0-9]{{1,2}})(?::([0-9]{{2}}))?(?::[0-9]{{2}})?\s*(am|pm|a\.m\.|p\.m\.)?{ZONE}"
    ))
});
/// The zones that are known without a table.
const ZONE: &str = r"(?:\s*\(?\b(UTC|GMT|Etc/UTC)\b)?";

fn found<'t>(pattern: &LazyLock<Option<Regex>>, text: &'t str) -> Option<Captures<'t>> {
    LazyLock::force(pattern).as_ref()?.captures(text)
}

fn group<'t>(captures: &Captures<'t>, index: usize) -> Option<&'t str> {
    captures.get(index).map(|part| part.as_str())
}

fn later(now: Timestamp, seconds: f64) -> Option<Timestamp> {
    now.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
}

fn header(text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Some(date) = found(&HTTP_DATE, text) {
        return http_date(&date);
    }
    let captures = found(&HEADER, text)?;
    let number: f64 = group(&captures, 2)?.parse().ok()?;
    let millis =
        group(&captures, 1).is_some() || group(&captures, 3).is_some_and(|unit| unit.eq_ignore_ascii_case("ms"));
    later(now, if millis { number / 1000.0 } else { number })
}

fn http_date(captures: &Captures<'_>) -> Option<Timestamp> {
    let number = |index| group(captures, index)?.parse::<i8>().ok();
    let date = Date::new(group(captures, 3)?.parse().ok()?, month(group(captures, 2)?)?, number(1)?).ok()?;
    let time = Time::new(number(4)?, number(5)?, number(6)?, 0).ok()?;
    TimeZone::UTC.to_timestamp(date.to_datetime(time)).ok()
}

fn relative(text: &str, now: Timestamp) -> Option<Timestamp> {
    let captures = found(&RELATIVE, text)?;
    let parts = LazyLock::force(&PART).as_ref()?;
    let mut seconds = 0.0;
    for part in parts.captures_iter(group(&captures, 1)?) {
        let number: f64 = group(&part, 1)?.parse().ok()?;
        seconds += number * unit_seconds(group(&part, 2)?);
    }
    later(now, seconds)
}

fn unit_seconds(unit: &str) -> f64 {
    let unit = unit.to_ascii_lowercase();
    match (unit.as_str(), unit.chars().next()) {
        ("ms", _) => 0.001,
        (long, _) if long.starts_with("milli") => 0.001,
        (_, Some('d')) => 86_400.0,
        (_, Some('h')) => 3600.0,
        (_, Some('m')) => 60.0,
        _ => 1.0,
    }
}

/// RFC 3339 and seconds since 1970.
fn absolute(text: &str) -> Option<Timestamp> {
    if let Some(captures) = found(&STAMP, text) {
        let (date, time, offset) = (group(&captures, 1)?, group(&captures, 2)?, group(&captures, 3)?);
        let offset = if offset.starts_with(['+', '-']) { offset } else { "Z" };
        return format!("{date}T{time}{offset}").parse().ok();
    }
    Timestamp::from_second(group(&found(&EPOCH, text)?, 1)?.parse().ok()?).ok()
}

fn month(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let at = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month))?;
    i8::try_from(at + 1).ok()
}

/// A day with a time; without a year the next such day.
fn on_a_day(text: &str, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let captures = found(&DAY, text)?;
    let (month, day) = (month(group(&captures, 1)?)?, group(&captures, 2)?.parse().ok()?);
    let (minutes, half) = (group(&captures, 5), group(&captures, 6));
    if minutes.is_none() && half.is_none() {
        return None;
    }
    let time = clock(group(&captures, 4)?, minutes, half)?;
    let named = named_zone(&captures, 7, zone);
    let of_year = |year| named.to_timestamp(Date::new(year, month, day).ok()?.to_datetime(time)).ok();
    if let Some(year) = group(&captures, 3) {
        return of_year(year.parse().ok()?);
    }
    let this_year = now.to_zoned_datetime(named.clone()).year();
    let at = of_year(this_year)?;
    if at.checked_add(JUST_PASSED).ok()? >= now { Some(at) } else { of_year(this_year.checked_add(1)?) }
}

fn time_of_day(text: &str, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let captures = found(&CLOCK, text)?;
    let (minutes, half) = (group(&captures, 2), group(&captures, 3));
    if minutes.is_none() && half.is_none() {
        return None;
    }
    let time = clock(group(&captures, 1)?, minutes, half)?;
    let named = named_zone(&captures, 4, zone);
    let today = now.to_zoned_datetime(named.clone()).date();
    let at = named.to_timestamp(today.to_datetime(time)).ok()?;
    if at.checked_add(JUST_PASSED).ok()? >= now {
        return Some(at);
    }
    named.to_timestamp(today.checked_add(1.day()).ok()?.to_datetime(time)).ok()
}

fn named_zone(captures: &Captures<'_>, index: usize, zone: &Zone) -> TimeZone {
    if group(captures, index).is_some() { TimeZone::UTC } else { zone.time_zone().clone() }
}

fn clock(hours: &str, minutes: Option<&str>, half: Option<&str>) -> Option<Time> {
    let hours: i8 = hours.parse().ok()?;
    let minutes: i8 = minutes.unwrap_or("0").parse().ok()?;
    let hours = match half.map(|half| half.starts_with(['p', 'P'])) {
        None => hours,
        Some(_) if !(1..=12).contains(&hours) => return None,
        Some(afternoon) => hours % 12 + if afternoon { 12 } else { 0 },
    };
    Time::new(hours, minutes, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::{CLOCK, DAY, EPOCH, HEADER, HTTP_DATE, PART, RELATIVE, STAMP, Zone, retry_hint};
    use crate::settings::ZoneSetting;

    /// 10:00 in `+08:00`.
    fn now() -> Timestamp {
        "2026-02-28T02:00:00Z".parse().expect("a time")
    }

    fn zone() -> Zone {
        Zone::new(&ZoneSetting::Seed, &TimeZone::UTC)
    }

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&HEADER, &RELATIVE, &PART, &STAMP, &EPOCH, &HTTP_DATE, &DAY, &CLOCK] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn messages_of_agents_are_understood() {
        for (text, expected) in [
            ("Rate limit reached. Please try again in 1.5s.", "2026-02-28T02:00:01.5Z"),
            ("please try again in 250ms", "2026-02-28T02:00:00.25Z"),
            ("try again in 5 minutes", "2026-02-28T02:05:00Z"),
            ("You've hit your usage limit. Try again in 3 days 2 hours 5 minutes.", "2026-03-03T04:05:00Z"),
            ("Your quota will reset after 2h15m30s.", "2026-02-28T04:15:30Z"),
            ("Please retry in 34.5s", "2026-02-28T02:00:34.5Z"),
            ("Retrying after 20 seconds", "2026-02-28T02:00:20Z"),
            ("please wait 2 minutes and 10 seconds", "2026-02-28T02:02:10Z"),
            ("HTTP 429\nRetry-After: 20\n", "2026-02-28T02:00:20Z"),
            ("{\"retryDelay\": \"34s\"}", "2026-02-28T02:00:34Z"),
            ("retry-after-ms: 1500", "2026-02-28T02:00:01.5Z"),
            ("Retry-After: Sat, 28 Feb 2026 07:28:00 GMT", "2026-02-28T07:28:00Z"),
            ("try again at 14:30", "2026-02-28T06:30:00Z"),
            ("You've hit your usage limit. Upgrade to Pro or try again at 2:30 PM.", "2026-02-28T06:30:00Z"),
            ("try again at Mar 1st, 2026 9:30 AM.", "2026-03-01T01:30:00Z"),
            ("Weekly limit reached ∙ resets Mar 6, 1pm", "2026-03-06T05:00:00Z"),
            ("5-hour limit reached ∙ resets 3pm", "2026-02-28T07:00:00Z"),
            ("You've hit your limit · resets 3pm (UTC)", "2026-02-28T15:00:00Z"),
            ("Your limit will reset at 12am", "2026-02-28T16:00:00Z"),
            ("try again at 09:00", "2026-03-01T01:00:00Z"),
            ("try again at 09:58", "2026-02-28T02:00:00Z"),
            ("Claude AI usage limit reached|1772251200", "2026-02-28T04:00:00Z"),
            ("quota resets at 2026-02-28T12:00:00+08:00", "2026-02-28T04:00:00Z"),
            ("reset: 2026-02-28 04:00 UTC", "2026-02-28T04:00:00Z"),
        ] {
            let expected: Timestamp = expected.parse().expect("a time");
            assert_eq!(retry_hint(text, now(), &zone()), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_messages_name_no_time() {
        for text in [
            "",
            "please try again later",
            "rate limit of 40 requests per 5 minutes reached",
            "error 500, try again",
            "exceeded retry limit, last status: 429",
            "try again at 25:61",
            "retry after 3 failures",
            "resets in 4000 days",
            "resets Feb 3 at 9am",
            "2026-02-28T01:59:59Z ERROR 429, try again later",
            "Date: Sat, 28 Feb 2026 02:00:00 GMT",
            "try again: Mar 3, 2 attempts left",
            "2026-02-28 something at 14:30 failed",
        ] {
            assert_eq!(retry_hint(text, now(), &zone()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_hint_is_never_in_the_past(text in any::<String>(), tail in "[0-9:. apmsh-]{0,20}", seconds in 0_i64..4_000_000_000) {
            let now = Timestamp::from_second(seconds).expect("in range");
            for text in [text, format!("try again at {tail}"), format!("try again in {tail}"), format!("Retry-After: {tail}")] {
                if let Some(at) = retry_hint(&text, now, &zone()) {
                    prop_assert!(at >= now, "{text}");
                }
            }
        }
    }
}
