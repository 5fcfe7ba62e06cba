//! Ids, slugs and names of sessions and runs (spec 00, *Ids, slugs, paths*; spec 10, *Registry of runs*).
//!
//! Every id that becomes part of a path comes from here or passes [`check_id`] or [`check_run_id`] first.

mod find;
mod run;
mod slug;

pub use find::{find, matches};
pub use run::{RUN_ID_BYTES, check_run_id, retry_of, run_id};
pub use slug::{fanout_session_id, first_free, sha256_hex, slug, waves_session_id};

use unicode_normalization::char::is_combining_mark;

/// Longest id from outside, in characters.
pub const ID_CHARS: usize = 64;
/// Longest slug of a session, in characters.
pub const SLUG_CHARS: usize = 40;
/// Longest slug of a flow session, in characters.
pub const FLOW_SLUG_CHARS: usize = 50;

/// Why a text is no id. Fits behind "… is not an id: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing there.
    #[error("it is empty")]
    Empty,
    /// It would be a hidden file, or `.` or `..`.
    #[error("it begins with a dot")]
    LeadingDot,
    /// Too long.
    #[error("it has {length} {unit}, {max} are allowed")]
    TooLong {
        /// How long it is.
        length: usize,
        /// How long it may be.
        max: usize,
        /// `characters` or `bytes`.
        unit: &'static str,
    },
    /// It ends as the ids of retried runs do, so two runs could share a folder.
    #[error("it ends with `-retry`, which planex adds itself")]
    EndsAsRetry,
    /// A character that ids do not have.
    #[error("{} is not allowed (letters, digits, `.`, `_`, `-` are)", shown(*.found))]
    Character {
        /// The character.
        found: char,
    },
}

fn shown(c: char) -> String {
    match c {
        ' ' => "a space".to_owned(),
        '`' => "a backtick".to_owned(),
        '!'..='~' => format!("`{c}`"),
        _ if c.is_alphanumeric() => format!("`{c}`"),
        _ => format!("U+{:04X}", u32::from(c)),
    }
}

/// Checks an id that comes from a plan, a CSV or an agent, before it touches the file system.
///
/// Letters and digits of every script (with the marks that belong to a letter), `.`, `_`, `-`; no leading dot; 1 to 64
/// characters.
///
/// # Errors
/// Says the first thing that is wrong.
pub fn check_id(id: &str) -> Result<(), IdError> {
    let length = id.chars().count();
    if length > ID_CHARS {
        return Err(IdError::TooLong { length, max: ID_CHARS, unit: "characters" });
    }
    if run::ends_as_retry(id) {
        return Err(IdError::EndsAsRetry);
    }
    check_characters(id)
}

fn check_characters(id: &str) -> Result<(), IdError> {
    let mut last = None;
    for c in id.chars() {
        match (last, c) {
            (None, '.') => return Err(IdError::LeadingDot),
            (_, '.' | '_' | '-') => {}
            _ if is_letter(last, c) => {}
            _ => return Err(IdError::Character { found: c }),
        }
        last = Some(c);
    }
    if last.is_none() { Err(IdError::Empty) } else { Ok(()) }
}

/// Whether `c` is a letter or digit, or a mark of the letter `before` it (Devanagari, Thai and others need them).
fn is_letter(before: Option<char>, c: char) -> bool {
    c.is_alphanumeric() || (is_combining_mark(c) && before.is_some_and(|b| b.is_alphanumeric() || is_combining_mark(b)))
}

/// Lower-case in NFC, as slugs and comparisons need it.
fn folded(text: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    text.nfc().collect::<String>().to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{IdError, check_id};

    #[test]
    fn ids_of_every_script_are_taken() {
        for id in ["T1", "IMPL-001.3", "row_1", "タスク1", "задача", "작업-1", "मेरा", "a..b", &"x".repeat(64)]
        {
            assert_eq!(check_id(id), Ok(()), "{id}");
        }
    }

    #[test]
    fn what_could_leave_its_folder_is_refused() {
        let too_long = "x".repeat(65);
        for id in [
            "",
            ".",
            "..",
            ".hidden",
            "a/b",
            "a\\b",
            "a b",
            "a\nb",
            "a:b",
            "a\0",
            "-rf\u{202e}",
            "~",
            "$(x)",
            "\u{301}a",
            &too_long,
        ] {
            assert!(check_id(id).is_err(), "{id:?}");
        }
        assert_eq!(
            check_id("a/b").map_err(|e| e.to_string()),
            Err("`/` is not allowed (letters, digits, `.`, `_`, `-` are)".to_owned())
        );
        assert_eq!(check_id("a\u{202e}"), Err(IdError::Character { found: '\u{202e}' }));
    }

    proptest! {
        #[test]
        fn a_good_id_is_one_plain_name(id in any::<String>()) {
            if check_id(&id).is_ok() {
                prop_assert!(!id.contains(['/', '\\', '\0', ':']) && !id.starts_with('.'));
                prop_assert!(!id.chars().any(|c| c.is_control() || c.is_whitespace()));
            }
        }
    }
}
