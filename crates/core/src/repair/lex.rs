//! Where the tokens of almost-JSON end. Shared by the span finder and the fixer, so that both agree.

/// What stands at a place outside of any string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// `{` or `[`.
    Open(u8),
    /// `}` or `]`.
    Close(u8),
    /// A string: the range of its content, and where it ends with its delimiter. `smart`: not delimited by `"`.
    Text { start: usize, end: usize, next: usize, smart: bool },
    /// `//…` up to the newline, or `/*…*/`.
    Comment(usize),
    /// `,` or `:`.
    Mark(u8),
    /// White space of any kind, up to here.
    Space(usize),
    /// A run of other characters, up to here.
    Word(usize),
    /// A string or comment that begins here and does not end.
    Unended,
    /// Nothing is left.
    End,
}

const SMART_OPEN: [char; 3] = ['\u{201c}', '\u{201d}', '\u{201e}'];
const SMART_CLOSE: [char; 2] = ['\u{201c}', '\u{201d}'];

/// The token at byte `at` of `text`, which is a character boundary.
pub(super) fn token(text: &str, at: usize) -> Token {
    let bytes = text.as_bytes();
    let Some(&byte) = bytes.get(at) else { return Token::End };
    match byte {
        b'{' | b'[' => Token::Open(byte),
        b'}' | b']' => Token::Close(byte),
        b',' | b':' => Token::Mark(byte),
        b'"' => straight(bytes, at),
        b'/' if matches!(bytes.get(at + 1), Some(b'/')) => {
            let end = memchr(bytes, at, b'\n');
            Token::Comment(end.unwrap_or(bytes.len()))
        }
        b'/' if matches!(bytes.get(at + 1), Some(b'*')) => match text[at + 2..].find("*/") {
            Some(end) => Token::Comment(at + 2 + end + 2),
            None => Token::Unended,
        },
        _ => other(text, at),
    }
}

fn other(text: &str, at: usize) -> Token {
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else { return Token::End };
    if SMART_OPEN.contains(&first) {
        return smart(text, at, first.len_utf8());
    }
    if is_space(first) {
        let length = rest.find(|c| !is_space(c)).unwrap_or(rest.len());
        return Token::Space(at + length);
    }
    let length = rest.find(|c| ends_word(c) || is_space(c)).unwrap_or(rest.len());
    Token::Word(at + length.max(first.len_utf8()))
}

fn ends_word(c: char) -> bool {
    matches!(c, '{' | '}' | '[' | ']' | ',' | ':' | '"' | '/') || SMART_OPEN.contains(&c)
}

/// White space, and what editors and models put in its place.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\u{2060}')
}

fn memchr(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes.get(from..)?.iter().position(|b| *b == wanted).map(|p| from + p)
}

fn straight(bytes: &[u8], at: usize) -> Token {
    let mut i = at + 1;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'\\' => i += 2,
            b'"' => return Token::Text { start: at + 1, end: i, next: i + 1, smart: false },
            _ => i += 1,
        }
    }
    Token::Unended
}

/// A string in smart quotes ends at the first quote of any kind that JSON could go on after.
fn smart(text: &str, at: usize, width: usize) -> Token {
    let start = at + width;
    let mut escaped = false;
    for (offset, c) in text[start..].char_indices() {
        let here = start + offset;
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if SMART_CLOSE.contains(&c) || c == '"' {
            let next = here + c.len_utf8();
            if json_goes_on(&text[next..]) {
                return Token::Text { start, end: here, next, smart: true };
            }
        }
    }
    Token::Unended
}

fn json_goes_on(rest: &str) -> bool {
    // A bounded look ahead keeps the scan linear.
    rest.chars().take(256).find(|c| !is_space(*c)).is_none_or(|c| matches!(c, ',' | ':' | '}' | ']' | '/'))
}
