//! The offset of stored times (spec 00, *Time*).

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ZonedDateTime};

use crate::settings::ZoneSetting;

/// Offset of the seeds, in seconds east of UTC.
const SEED: i32 = 8 * 3600;
/// Farthest offset in use is 14 h; what lies beyond is a mistake.
const FARTHEST: i32 = 18 * 3600;

/// The zone in which times are written and dates of ids are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of a setting; `local` is the machine's, used for [`ZoneSetting::Local`] alone.
    ///
    /// Fixed offsets are rounded to minutes and kept within ±18 h, since RFC 3339 writes minutes.
    #[must_use]
    pub fn new(setting: &ZoneSetting, local: &TimeZone) -> Self {
        match setting {
            ZoneSetting::Seed => Self::fixed(SEED),
            ZoneSetting::Local => Self(local.clone()),
            ZoneSetting::Utc => Self(TimeZone::UTC),
            ZoneSetting::Fixed(seconds) => Self::fixed(*seconds),
        }
    }

    fn fixed(seconds: i32) -> Self {
        let minutes = seconds.clamp(-FARTHEST, FARTHEST) / 60 * 60;
        Self(Offset::from_seconds(minutes).map_or(TimeZone::UTC, TimeZone::fixed))
    }

    /// RFC 3339 with the true offset and whole seconds: `2026-02-28T10:00:00+08:00`.
    #[must_use]
    pub fn stamp(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// The day in this zone.
    #[must_use]
    pub fn date(&self, at: Timestamp) -> Date {
        self.zoned(at).date()
    }

    /// The day as `2026-02-28`.
    #[must_use]
    pub fn date_dashed(&self, at: Timestamp) -> String {
        self.date(at).strftime("%Y-%m-%d").to_string()
    }

    /// The day as `20260228`.
    #[must_use]
    pub fn date_compact(&self, at: Timestamp) -> String {
        self.date(at).strftime("%Y%m%d").to_string()
    }

    /// The time of day, for people: `14:30:05`.
    #[must_use]
    pub fn clock(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%H:%M:%S").to_string()
    }

    pub(super) fn zoned(&self, at: Timestamp) -> ZonedDateTime {
        at.to_zoned_datetime(self.0.clone())
    }

    pub(super) fn time_zone(&self) -> &TimeZone {
        &self.0
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::fixed(SEED)
    }
}

/// Reads the setting `timezone`: `local`, `utc`, `+HH:MM` (also `+HHMM`, `+HH`, `Z`). `None`: it is none of these.
#[must_use]
pub fn parse_zone(text: &str) -> Option<ZoneSetting> {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "local" => return Some(ZoneSetting::Local),
        "utc" | "z" => return Some(ZoneSetting::Utc),
        _ => {}
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match (rest.split_once(':'), rest.len()) {
        (Some((hours, minutes)), _) => (hours, minutes),
        (None, 4) => rest.split_at_checked(2)?,
        (None, _) => (rest, "00"),
    };
    if hours.len() > 2 || minutes.len() != 2 || !(hours.bytes().chain(minutes.bytes())).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = hours * 3600 + minutes * 60;
    (minutes < 60 && seconds <= FARTHEST).then_some(ZoneSetting::Fixed(sign * seconds))
}

#[cfg(test)]
mod tests {
    use jiff::tz::{TimeZone, offset};
    use proptest::prelude::*;

    use super::{Zone, parse_zone};
    use crate::settings::ZoneSetting;

    const AT: &str = "2026-02-28T02:00:00.75Z";

    #[test]
    fn stamps_carry_the_true_offset() {
        let local = TimeZone::fixed(offset(-5));
        for (setting, stamp, day) in [
            (ZoneSetting::Seed, "2026-02-28T10:00:00+08:00", "20260228"),
            (ZoneSetting::Utc, "2026-02-28T02:00:00+00:00", "20260228"),
            (ZoneSetting::Local, "2026-02-27T21:00:00-05:00", "20260227"),
            (ZoneSetting::Fixed(-34200), "2026-02-27T16:30:00-09:30", "20260227"),
            (ZoneSetting::Fixed(i32::MAX), "2026-02-28T20:00:00+18:00", "20260228"),
        ] {
            let zone = Zone::new(&setting, &local);
            let at = AT.parse().expect("a time");
            assert_eq!(zone.stamp(at), stamp);
            assert_eq!(zone.date_compact(at), day);
            assert_eq!(zone.date_dashed(at).replace('-', ""), day);
        }
    }

    #[test]
    fn the_setting_is_read() {
        for (text, expected) in [
            ("local", Some(ZoneSetting::Local)),
            ("UTC", Some(ZoneSetting::Utc)),
            ("+08:00", Some(ZoneSetting::Fixed(28800))),
            ("-0930", Some(ZoneSetting::Fixed(-34200))),
            ("+9", Some(ZoneSetting::Fixed(32400))),
            ("+25:00", None),
            ("+08:75", None),
            ("+8:0", None),
            ("Asia/Tokyo", None),
            ("", None),
            ("+", None),
            ("日本", None),
        ] {
            assert_eq!(parse_zone(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn stamps_read_back_to_the_second(seconds in -62_000_000_000_i64..250_000_000_000, offset in -50_000_i32..50_000) {
            let at = jiff::Timestamp::from_second(seconds).expect("in range");
            let zone = Zone::new(&ZoneSetting::Fixed(offset), &TimeZone::UTC);
            let stamp = zone.stamp(at);
            prop_assert_eq!(stamp.parse::<jiff::Timestamp>().ok(), Some(at), "{}", stamp);
        }

        #[test]
        fn no_text_upsets_the_reader(text in any::<String>()) {
            let _ = parse_zone(&text);
        }
    }
}
