//! Ids of runs: `{session}-{group or task}`, retries `…-retry`, `…-retry-2`.

use super::slug::hash8;
use super::{IdError, check_characters, is_letter};

/// Longest run id in bytes: a folder name may have 255, and retries and temporary names need room.
pub const RUN_ID_BYTES: usize = 200;
/// Room for `-retry-4294967295`.
const RETRY_BYTES: usize = 17;

/// The id of a run. Sessions of any form are accepted when read, so characters that ids do not have become `-`; where
/// that, or the cut to [`RUN_ID_BYTES`], loses something, 8 hex digits of a hash keep ids apart.
#[must_use]
pub fn run_id(session: &str, item: &str) -> String {
    let whole = format!("{session}-{item}");
    let mut out = String::with_capacity(whole.len());
    let mut last = None;
    for c in whole.chars() {
        let good = is_letter(last, c) || matches!((last, c), (_, '_' | '-') | (Some(_), '.'));
        out.push(if good { c } else { '-' });
        last = out.chars().next_back();
    }
    let longest = RUN_ID_BYTES - RETRY_BYTES;
    if out == whole && out.len() <= longest {
        return out;
    }
    out.truncate(out.floor_char_boundary(longest - 9));
    format!("{out}-{}", hash8(&whole))
}

/// The id of the `n`th retry of the run `base`; 0 is `base` itself.
#[must_use]
pub fn retry_of(base: &str, n: u32) -> String {
    match n {
        0 => base.to_owned(),
        1 => format!("{base}-retry"),
        _ => format!("{base}-retry-{n}"),
    }
}

/// Whether an id ends as [`retry_of`] lets ids end, in any case.
pub(super) fn ends_as_retry(id: &str) -> bool {
    let id = id.to_lowercase();
    let base = id.rsplit_once('-').filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    base.map_or(id.as_str(), |(base, _)| base).ends_with("-retry")
}

/// Checks an id of a run that comes from outside (`agent run --id`, `--resume`), before it touches the file system.
///
/// # Errors
/// As [`super::check_id`], but up to [`RUN_ID_BYTES`] bytes.
pub fn check_run_id(id: &str) -> Result<(), IdError> {
    if id.len() > RUN_ID_BYTES {
        return Err(IdError::TooLong { length: id.len(), max: RUN_ID_BYTES, unit: "bytes" });
    }
    check_characters(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{RUN_ID_BYTES, check_run_id, retry_of, run_id};

    #[test]
    fn runs_are_named_after_session_and_item() {
        assert_eq!(run_id("wpp-20260228-auth", "T1"), "wpp-20260228-auth-T1");
        assert_eq!(retry_of("s-T1", 0), "s-T1");
        assert_eq!(retry_of("s-T1", 1), "s-T1-retry");
        assert_eq!(retry_of("s-T1", 3), "s-T1-retry-3");
    }

    #[test]
    fn odd_sessions_give_good_and_different_runs() {
        let spaced = run_id("my session", "T1");
        assert_eq!(spaced, format!("my-session-T1-{}", super::hash8("my session-T1")));
        assert_ne!(spaced, run_id("my/session", "T1"));
        assert_eq!(check_run_id(&run_id(".hidden", "T1")), Ok(()));
        let long = "認".repeat(40);
        assert_ne!(run_id(&long, &"項".repeat(64)), run_id(&long, &"項".repeat(63)));
        assert!(check_run_id("../x").is_err() && check_run_id(&"x".repeat(201)).is_err());
    }

    proptest! {
        #[test]
        fn every_run_and_retry_is_a_good_id(session in any::<String>(), item in "\\PC{0,80}", n in any::<u32>()) {
            let id = retry_of(&run_id(&session, &item), n);
            prop_assert_eq!(check_run_id(&id), Ok(()));
            prop_assert!(id.len() <= RUN_ID_BYTES);
        }
    }
}
