//! Slugs, and the names of sessions made of them.

use jiff::civil::Date;
use sha2::{Digest as _, Sha256};

use super::{SLUG_CHARS, check_id, folded, is_letter};

/// The slug of a text: lower-case NFC, every run of anything but letters and digits a `-`, at most `max_chars`
/// characters, no `-` at the ends. A text without letters gives `task-` and 8 hex digits of its hash.
#[must_use]
pub fn slug(text: &str, max_chars: usize) -> String {
    let folded = folded(text);
    let mut out = String::new();
    let mut last = None;
    for c in folded.chars() {
        let kept = is_letter(last, c);
        if kept {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        last = kept.then_some(c);
    }
    let cut = cut(&out, max_chars).trim_matches('-');
    if cut.is_empty() { format!("task-{}", hash8(text)) } else { cut.to_owned() }
}

/// The longest beginning of at most `max_chars` characters that tears no mark from its letter.
fn cut(text: &str, max_chars: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(max_chars) else { return text };
    let (head, _) = text.split_at(end);
    if next.is_alphanumeric() || next == '-' {
        return head;
    }
    let letter = head.char_indices().rev().find(|(_, c)| c.is_alphanumeric());
    letter.and_then(|(at, _)| head.get(..at)).unwrap_or_default()
}

/// 8 hex digits of the SHA-256 of a text.
pub(super) fn hash8(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(8).collect()
}

/// The SHA-256 of some bytes as 64 hex digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `wpp-YYYYMMDD-{slug}`.
#[must_use]
pub fn waves_session_id(requirement: &str, date: Date) -> String {
    format!("wpp-{}-{}", date.strftime("%Y%m%d"), slug(requirement, SLUG_CHARS))
}

/// `{stem}-YYYY-MM-DD`: the stem of the CSV as it is where it is a good id of at most 40 characters, else its slug.
#[must_use]
pub fn fanout_session_id(stem: &str, date: Date) -> String {
    let plain = check_id(stem).is_ok() && stem.chars().count() <= SLUG_CHARS;
    let name = if plain { stem.to_owned() } else { slug(stem, SLUG_CHARS) };
    format!("{name}-{}", date.strftime("%Y-%m-%d"))
}

/// `base`, or the first of `base-2`, `base-3`, … that does not exist.
#[must_use]
pub fn first_free(base: &str, exists: impl Fn(&str) -> bool) -> String {
    let mut name = base.to_owned();
    let mut number = 2_u64;
    while exists(&name) {
        name = format!("{base}-{number}");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;
    use unicode_normalization::is_nfc;

    use super::{fanout_session_id, first_free, slug, waves_session_id};
    use crate::id::check_id;

    #[test]
    fn slugs_keep_letters_of_every_script() {
        for (text, expected) in [
            ("Add user login!", "add-user-login"),
            ("  --Fix: the *bug* (v2)  ", "fix-the-bug-v2"),
            ("ログイン機能を追加", "ログイン機能を追加"),
            ("か\u{3099}き", "がき"),
            ("Добавить вход", "добавить-вход"),
            ("로그인 추가", "로그인-추가"),
            ("ÀÉ_x", "àé-x"),
            ("हिन्दी भाषा", "हिन्दी-भाषा"),
            ("a/../../etc", "a-etc"),
        ] {
            assert_eq!(slug(text, 40), expected);
        }
    }

    #[test]
    fn slugs_are_cut_and_never_empty() {
        assert_eq!(slug(&"ab ".repeat(40), 40), "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a");
        assert_eq!(slug("abc def", 4), "abc");
        assert_eq!(slug("abcde\u{323}\u{301}x", 5), "abcd");
        assert_eq!(slug("!!!", 40), format!("task-{}", super::hash8("!!!")));
        assert_ne!(slug("!!!", 40), slug("???", 40));
        assert_eq!(super::hash8("abc"), "ba7816bf");
    }

    #[test]
    fn sessions_are_named_as_the_spec_says() {
        let day = date(2026, 2, 28);
        assert_eq!(waves_session_id("Auth", day), "wpp-20260228-auth");
        assert_eq!(fanout_session_id("My_Jobs.v2", day), "My_Jobs.v2-2026-02-28");
        assert_eq!(fanout_session_id("my jobs", day), "my-jobs-2026-02-28");
    }

    #[test]
    fn taken_names_get_numbers() {
        assert_eq!(first_free("a", |_| false), "a");
        assert_eq!(first_free("a", |name| ["a", "a-2"].contains(&name)), "a-3");
    }

    proptest! {
        #[test]
        fn every_slug_is_a_good_id(text in any::<String>(), max in 1_usize..=50) {
            let slug = slug(&text, max);
            prop_assert_eq!(check_id(&slug), Ok(()));
            prop_assert!(is_nfc(&slug) && !slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
            prop_assert!(slug.chars().count() <= max || slug.starts_with("task-"));
            prop_assert!(slug.chars().all(|c| c == '-' || !c.is_ascii_punctuation()));
        }
    }
}
