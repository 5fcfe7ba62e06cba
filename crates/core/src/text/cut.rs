//! Texts below a limit, cut where no character is torn apart.

use unicode_normalization::char::is_combining_mark;

/// How far a cut moves back to keep a cluster of characters whole; longer clusters are torn.
const LONGEST_CLUSTER: usize = 16;

/// Cuts `text` to at most `max` characters, the `…` at its end included. Fitting texts come back as they are.
///
/// Combining marks, variation selectors and joined emoji stay with what they belong to, as far as that costs no more than
/// 16 characters.
#[must_use]
pub fn truncate_chars(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) if max == 0 => String::new(),
        Some((end, _)) => {
            let last = text.get(..end).unwrap_or_default().char_indices().next_back().map_or(0, |(at, _)| at);
            format!("{}…", head(text, last))
        }
    }
}

/// Cuts `text` to at most `max` bytes, the `…` (3 bytes) at its end included; below 3 bytes without it.
#[must_use]
pub fn truncate_bytes(text: &str, max: usize) -> String {
    const MARK: &str = "…";
    if text.len() <= max {
        text.to_owned()
    } else if max < MARK.len() {
        head(text, max).to_owned()
    } else {
        format!("{}{MARK}", head(text, max - MARK.len()))
    }
}

/// Keeps the end of `text` in at most `max` characters, the `…` at its beginning included.
#[must_use]
pub fn end_chars(text: &str, max: usize) -> String {
    match max.checked_sub(1).map(|last| text.char_indices().nth_back(last)) {
        None => String::new(),
        Some(None | Some((0, _))) => text.to_owned(),
        Some(Some((first, c))) => format!("…{}", text.get(first + c.len_utf8()..).unwrap_or_default()),
    }
}

/// Keeps beginning and end of `text` in at most `max` bytes, with a line in between that says how much is left out.
///
/// Two thirds go to the beginning. A `max` too small for that line gives [`truncate_bytes`].
#[must_use]
pub fn head_tail(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let widest = gap(text.len());
    let Some(room) = max.checked_sub(widest.len()).filter(|room| *room > 0) else {
        return truncate_bytes(text, max);
    };
    let first = head(text, room - room / 3);
    let last = tail(text, room / 3);
    format!("{first}{}{last}", gap(text.len() - first.len() - last.len()))
}

fn gap(bytes: usize) -> String {
    format!("\n[… {bytes} bytes left out …]\n")
}

/// The longest good beginning of at most `max` bytes.
fn head(text: &str, max: usize) -> &str {
    let end = text.floor_char_boundary(max);
    let (before, after) = text.split_at(end);
    let mut next = after.chars().next();
    for (at, c) in before.char_indices().rev().take(LONGEST_CLUSTER) {
        match next {
            Some(behind) if joined(c, behind) => next = Some(c),
            Some(_) | None => return text.get(..at + c.len_utf8()).unwrap_or(before),
        }
    }
    if before.chars().nth(LONGEST_CLUSTER).is_none() { "" } else { before }
}

/// The longest good end of at most `max` bytes.
fn tail(text: &str, max: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(max));
    let (before, after) = text.split_at(start);
    let mut last = before.chars().next_back();
    for (at, c) in after.char_indices().take(LONGEST_CLUSTER) {
        match last {
            Some(ahead) if joined(ahead, c) => last = Some(c),
            Some(_) | None => return after.get(at..).unwrap_or(after),
        }
    }
    if after.chars().nth(LONGEST_CLUSTER).is_none() { "" } else { after }
}

/// Whether `b`, standing behind `a`, belongs to the same visible character.
pub(super) fn joined(a: char, b: char) -> bool {
    let joins_to_left = is_combining_mark(b)
        || matches!(b, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}');
    joins_to_left || a == '\u{200d}' || (a == '\r' && b == '\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{end_chars, head_tail, truncate_bytes, truncate_chars};

    #[test]
    fn characters_are_counted_with_the_mark() {
        for (text, max, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
            ("日本語です", 3, "日本…"),
            ("ae\u{301}xyz", 3, "a…"),
            ("👨\u{200d}👩\u{200d}👧 family", 4, "…"),
        ] {
            assert_eq!(truncate_chars(text, max), expected, "{text} {max}");
        }
    }

    #[test]
    fn a_wall_of_marks_is_cut_all_the_same() {
        let wall = format!("a{}", "\u{301}".repeat(1000));
        assert_eq!(truncate_chars(&wall, 100).chars().count(), 100);
    }

    #[test]
    fn the_end_is_counted_with_the_mark() {
        for (text, max, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 3, "…ef"),
            ("日本語", 2, "…語"),
            ("ab", 1, "…"),
            ("ab", 0, ""),
            ("", 3, ""),
        ] {
            assert_eq!(end_chars(text, max), expected, "{text} {max}");
        }
    }

    #[test]
    fn the_gap_is_said() {
        let text = format!("{}{}", "a".repeat(500), "z".repeat(500));
        let cut = head_tail(&text, 200);
        assert!(cut.len() <= 200, "{}", cut.len());
        assert!(cut.starts_with("aaaa") && cut.ends_with("zzzz"), "{cut}");
        assert!(cut.contains("bytes left out"), "{cut}");
        assert_eq!(head_tail("short", 200), "short");
        assert_eq!(head_tail(&text, 10), "aaaaaaa…");
    }

    proptest! {
        #[test]
        fn limits_hold(text in any::<String>(), max in 0_usize..60) {
            prop_assert!(truncate_chars(&text, max).chars().count() <= max);
            prop_assert!(truncate_bytes(&text, max).len() <= max);
            prop_assert!(end_chars(&text, max).chars().count() <= max);
            prop_assert!(head_tail(&text, max).len() <= max);
        }

        #[test]
        fn what_fits_is_left_alone(text in any::<String>()) {
            prop_assert_eq!(truncate_chars(&text, text.chars().count()), text.clone());
            prop_assert_eq!(truncate_bytes(&text, text.len()), text.clone());
            prop_assert_eq!(head_tail(&text, text.len()), text);
        }

        #[test]
        fn what_is_kept_is_a_beginning(text in "\\PC{0,40}", max in 1_usize..20) {
            let cut = truncate_chars(&text, max);
            prop_assert!(text.starts_with(cut.strip_suffix('…').unwrap_or(&cut)));
        }
    }
}
