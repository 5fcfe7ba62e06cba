//! Foreign text without teeth.
//!
//! What an agent, a repository or a CSV says may hold sequences that move the cursor, rename the window, reorder what is
//! read, or hide words from people while models read them. Sequences and control characters go; characters that are
//! invisible or change the direction are shown by their number, `<U+202E>`, because hiding them would hide the attack.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

use unicode_normalization::char::is_combining_mark;

/// Makes foreign text safe to print: terminal sequences and control characters other than newline and tab are removed,
/// CRLF and a lone CR become a newline, bidirectional and invisible characters are shown as `<U+202E>`.
///
/// Joiners and variation selectors stay where they shape a visible character (emoji, Persian, Japanese names).
#[must_use]
pub fn safe(text: &str) -> String {
    let plain = strip_controls(text);
    let mut out = String::with_capacity(plain.len());
    let mut last: Option<char> = None;
    let mut rest = plain.chars().peekable();
    while let Some(c) = rest.next() {
        let shown = match c {
            '\u{200c}' | '\u{200d}' => shapes(last) && shapes(rest.peek().copied()),
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                last.is_some_and(|l| !l.is_whitespace() && !is_selector(l))
            }
            _ => !is_hidden(c),
        };
        match c {
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            _ if shown => out.push(c),
            // Writing to a String does not fail.
            _ => drop(write!(out, "<U+{:04X}>", u32::from(c))),
        }
        last = Some(c);
    }
    out
}

/// [`safe`] on one line: every run of white space is one space, none at the ends.
#[must_use]
pub fn one_line(text: &str) -> String {
    let safe = safe(text);
    let mut out = String::with_capacity(safe.len());
    for word in safe.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Removes terminal sequences and control characters other than newline and tab; CRLF and a lone CR become a newline.
#[must_use]
pub fn strip_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => escape(&mut rest),
            '\u{9b}' => control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => string_sequence(&mut rest),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            _ if c.is_control() => {}
            _ => out.push(c),
        }
    }
    out
}

fn escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek().copied() {
        Some('[') => {
            rest.next();
            control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            string_sequence(rest);
        }
        Some(' '..='/') => {
            while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            rest.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            rest.next();
        }
        Some(_) | None => {}
    }
}

/// The rest of `ESC [ … final`. A sequence that is no sequence ends where it stops to be one.
fn control_sequence(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| matches!(c, '0'..='?')).is_some() {}
    while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// The rest of `ESC ] … BEL` and its kin. One that is not ended before the next control character is no sequence: its
/// text stays, or a single escape could hide all that follows.
fn string_sequence(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    while ahead.next_if(|c| !c.is_control()).is_some() {}
    let ended = match ahead.next() {
        Some('\u{7}' | '\u{9c}') => true,
        Some('\u{1b}') => ahead.next() == Some('\\'),
        Some(_) | None => false,
    };
    if ended {
        *rest = ahead;
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a joiner beside `c` can change how it looks.
fn shapes(c: Option<char>) -> bool {
    c.is_some_and(|c| {
        !c.is_ascii()
            && !is_hidden(c)
            && (c.is_alphanumeric() || is_combining_mark(c) || is_selector(c) || is_pictograph(c))
    })
}

fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Characters that print nothing, or that reorder what is around them.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_hidden, one_line, safe, strip_controls};

    #[test]
    fn terminal_sequences_go() {
        for (text, expected) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://e\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}2Jx\u{9d}t\u{9c}y", "xy"),
            ("\u{1b}(Bx\u{1b}cy\u{1b}", "xy"),
            ("\u{1b}Pq#0\u{1b}\\x", "x"),
            ("\u{1b}]never ended\nnext", "never ended\nnext"),
            ("\u{1b}[38;5", ""),
            ("a\u{8}b\u{7}c\u{0}", "abc"),
            ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ] {
            assert_eq!(strip_controls(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hidden_characters_are_shown() {
        for (text, expected) in [
            ("a\u{202e}b", "a<U+202E>b"),
            ("\u{feff}x\u{200b}y", "<U+FEFF>x<U+200B>y"),
            ("tag\u{e0041}", "tag<U+E0041>"),
            ("a\u{200d}b", "a<U+200D>b"),
            ("👨\u{200d}👩", "👨\u{200d}👩"),
            ("葛\u{e0100}城", "葛\u{e0100}城"),
            ("葛\u{e0100}\u{e0101}", "葛\u{e0100}<U+E0101>"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("1\u{fe0f}\u{20e3} ❤\u{fe0f}", "1\u{fe0f}\u{20e3} ❤\u{fe0f}"),
            ("x\u{2028}y", "x\ny"),
        ] {
            assert_eq!(safe(text), expected, "{text:?}");
        }
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  a\n\n b\t\u{3000}c\u{2028}d \r\n"), "a b c d");
        assert_eq!(one_line(" \n"), "");
    }

    #[test]
    fn endless_openings_cost_linear_time() {
        let text = "\u{1b}]a".repeat(200_000);
        assert_eq!(strip_controls(&text).len(), 200_000);
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left(text in any::<String>(), hostile in "[\u{1b}\u{9b}\u{9d}\\[\\];0-9m\u{202e}\u{200b}\u{7}a]{0,40}") {
            for text in [text, hostile] {
                let out = safe(&text);
                prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
                let hidden = out.chars().find(|c| is_hidden(*c) && !matches!(c, '\u{200c}' | '\u{200d}'));
                prop_assert_eq!(hidden, None);
                prop_assert_eq!(safe(&out), out.clone());
                prop_assert!(!one_line(&text).contains('\n'));
            }
        }

        #[test]
        fn plain_text_is_left_alone(text in "[ -~\n\tぁ-んァ-ヶ一-龥а-я]{0,60}") {
            prop_assert_eq!(safe(&text), text);
        }
    }
}
