//! Foreign text inside Markdown that planex writes: it stays text, and a table cell stays a cell.

use super::safe::safe;

/// Text for one cell of a Markdown table: safe, on one line (newlines become `<br>`), nothing in it is markup.
#[must_use]
pub fn md_cell(text: &str) -> String {
    let safe = safe(text);
    let lines: Vec<String> = safe.trim().lines().map(|line| block_escaped(line.trim())).collect();
    lines.join("<br>")
}

/// Text for a paragraph: safe, lines kept as lines, nothing in it is markup, be it in a line or at its start.
#[must_use]
pub fn md_text(text: &str) -> String {
    let safe = safe(text);
    let mut out = String::with_capacity(safe.len());
    let mut lines = safe.trim().lines().peekable();
    while let Some(line) = lines.next() {
        // White space at the start would make a code block, at the end it is planex's own hard break.
        let line = line.trim();
        out.push_str(&block_escaped(line));
        match lines.peek() {
            Some(next) if !line.is_empty() && !next.trim().is_empty() => out.push_str("  \n"),
            Some(_) => out.push('\n'),
            None => {}
        }
    }
    out
}

/// Escapes a line, the marks of blocks at its start included.
fn block_escaped(line: &str) -> String {
    let inline = inline_escaped(line);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line.as_bytes().get(digits) {
        Some(b'-' | b'+' | b'#' | b'=' | b':') if digits == 0 => format!("\\{inline}"),
        Some(b'.' | b')') if digits > 0 => {
            let (number, rest) = inline.split_at(digits);
            format!("{number}\\{rest}")
        }
        Some(_) | None => inline,
    }
}

fn inline_escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut before: Option<char> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            // Within a word (snake_case) it is no markup, and reads better bare.
            '_' if !(before.is_some_and(char::is_alphanumeric) && rest.peek().is_some_and(|n| n.is_alphanumeric())) => {
                out.push_str("\\_");
            }
            _ => out.push(c),
        }
        before = Some(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{md_cell, md_text};

    #[test]
    fn cells_stay_cells() {
        for (text, expected) in [
            ("a | b", "a \\| b"),
            ("one\ntwo\r\n\nthree", "one<br>two<br><br>three"),
            ("`rm` <script>alert(1)</script> &amp;", "\\`rm\\` &lt;script&gt;alert(1)&lt;/script&gt; &amp;amp;"),
            ("- item", "\\- item"),
            ("# head\n1. first\n2) second", "\\# head<br>1\\. first<br>2\\) second"),
            ("[x](javascript:1) ![y](z)", "\\[x\\](javascript:1) !\\[y\\](z)"),
            ("snake_case _em_ src/**", "snake_case \\_em\\_ src/\\*\\*"),
            ("back\\|slash", "back\\\\\\|slash"),
            ("日本語 \u{202e}", "日本語 <U+202E>".replace('<', "&lt;").replace('>', "&gt;").as_str()),
        ] {
            assert_eq!(md_cell(text), expected, "{text}");
        }
    }

    #[test]
    fn paragraphs_keep_their_lines() {
        assert_eq!(
            md_text("one\n    code?\n\n---\n> quote\n```sh"),
            "one  \ncode?\n\n\\---  \n&gt; quote  \n\\`\\`\\`sh"
        );
    }

    proptest! {
        #[test]
        fn no_cell_escapes(text in any::<String>(), marks in "[|`<>\\\\\\n*_#a-]{0,30}") {
            for text in [text, marks] {
                let cell = md_cell(&text);
                prop_assert!(!cell.contains('\n'));
                let bare = cell.replace("<br>", "").replace("\\\\", "");
                prop_assert!(!bare.contains('<') && !bare.contains('>'));
                prop_assert_eq!(bare.matches('|').count(), bare.matches("\\|").count());
                prop_assert_eq!(bare.matches('`').count(), bare.matches("\\`").count());
            }
        }
    }
}
