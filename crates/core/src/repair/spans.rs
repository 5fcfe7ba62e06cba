//! Finding the JSON values of a text.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fence;
use super::fix::fix;
use super::lex::{Token, is_space, token};

/// How much was needed to read a value; lower is better.
pub type Level = u8;

/// One JSON value found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The value.
    pub value: Value,
    /// 0: the whole text; 1: a whole fenced block; 2: a balanced `{…}` or `[…]`; 3: one of these after repairs.
    pub level: Level,
    /// What was mended, one phrase each; empty below level 3.
    pub repairs: Vec<String>,
    /// Byte range in the text.
    pub span: (usize, usize),
}

/// Everything that was found in a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    /// The values, by level and then by place.
    pub candidates: Vec<Candidate>,
    /// Where something begins that looks like JSON and never ends.
    pub cut_off: Option<usize>,
    /// Why the last thing that looks like JSON could not be read, with line and column in the text.
    pub fault: Option<String>,
}

/// The JSON values of `text`, by level and then by place.
#[must_use]
pub fn candidates(text: &str) -> Vec<Candidate> {
    scan(text).candidates
}

/// The JSON values of `text`, and whether it was cut off.
#[must_use]
pub fn scan(text: &str) -> Scan {
    if let Ok(value) = serde_json::from_str(text) {
        let whole = Candidate { value, level: 0, repairs: Vec::new(), span: (0, text.len()) };
        return Scan { candidates: vec![whole], ..Scan::default() };
    }
    let mut found: Vec<Candidate> = Vec::new();
    for (start, end) in fence::blocks(text) {
        let span = trim(text, start, end);
        if let Ok(value) = serde_json::from_str(&text[span.0..span.1]) {
            found.push(Candidate { value, level: 1, repairs: Vec::new(), span });
        }
    }
    let fenced: BTreeSet<(usize, usize)> = found.iter().map(|c| c.span).collect();
    let (spans, cut_off) = spans(text);
    let mut fault = None;
    for span in spans {
        if fenced.contains(&span) {
            continue;
        }
        let part = &text[span.0..span.1];
        match serde_json::from_str(part) {
            Ok(value) => found.push(Candidate { value, level: 2, repairs: Vec::new(), span }),
            Err(error) => match fix(part) {
                Some((value, repairs)) => found.push(Candidate { value, level: 3, repairs, span }),
                None => fault = Some(place(text, span.0, &error)),
            },
        }
    }
    found.sort_by_key(|c| (c.level, c.span));
    Scan { candidates: found, cut_off, fault }
}

fn place(text: &str, start: usize, error: &serde_json::Error) -> String {
    let line = text[..start].matches('\n').count() + error.line();
    format!("not valid JSON at line {line} of the answer: {error}")
}

fn trim(text: &str, start: usize, end: usize) -> (usize, usize) {
    let part = &text[start..end];
    let left = part.len() - part.trim_start().len();
    let length = part.trim().len();
    (start + left, start + left + length)
}

/// How many bytes may be looked at, per byte of text, before the search gives up: keeps hostile texts linear.
const EFFORT: usize = 8;

/// Byte ranges of the balanced top-level values, and where the last one begins that is cut off.
fn spans(text: &str) -> (Vec<(usize, usize)>, Option<usize>) {
    let mut found = Vec::new();
    let mut cut_off = None;
    let mut inside_broken = false;
    let mut budget = text.len().saturating_mul(EFFORT).saturating_add(4096);
    let mut at = 0;
    while let Some(offset) = text[at..].find(['{', '[']) {
        let start = at + offset;
        at = start + 1;
        // Inside of something broken, a part of it could be taken for the whole: a value that follows `[`, `,` or `:`
        // belongs to what stands around it.
        if !looks_like_json(text, start) || (inside_broken && is_nested(text, start)) {
            continue;
        }
        match balance(text, start) {
            Balance::Closed(end) => {
                budget = budget.saturating_sub(end - start);
                found.push((start, end));
                at = end;
            }
            Balance::Broken(end) => {
                budget = budget.saturating_sub(end - start);
                inside_broken = true;
            }
            Balance::Unended => {
                budget = budget.saturating_sub(text.len() - start);
                cut_off = Some(start);
                inside_broken = true;
            }
        }
        if budget == 0 {
            break;
        }
    }
    (found, cut_off)
}

enum Balance {
    Closed(usize),
    Broken(usize),
    Unended,
}

/// Where the bracket at `start` closes, aware of strings and comments.
fn balance(text: &str, start: usize) -> Balance {
    let mut open: Vec<u8> = Vec::new();
    let mut at = start;
    loop {
        match token(text, at) {
            Token::Open(byte) => {
                open.push(byte);
                at += 1;
            }
            Token::Close(byte) => {
                let expected = if byte == b'}' { b'{' } else { b'[' };
                if open.pop() != Some(expected) {
                    return Balance::Broken(at);
                }
                at += 1;
                if open.is_empty() {
                    return Balance::Closed(at);
                }
            }
            Token::Text { next, .. } => at = next,
            Token::Comment(next) | Token::Space(next) | Token::Word(next) => at = next,
            Token::Mark(_) => at += 1,
            Token::Unended | Token::End => return Balance::Unended,
        }
    }
}

/// Whether what follows the bracket could be JSON; prose in braces could not.
fn looks_like_json(text: &str, start: usize) -> bool {
    let next = text[start + 1..].chars().take(4096).find(|c| !is_space(*c));
    let object = text.as_bytes().get(start) == Some(&b'{');
    match next {
        None | Some('"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '/') => true,
        Some('}') => object,
        Some('{' | '[' | ']' | '-' | 't' | 'f' | 'n' | 'T' | 'F' | 'N') => !object,
        Some(c) => !object && c.is_ascii_digit(),
    }
}

/// Whether the bracket at `start` follows what only a value inside of JSON follows.
fn is_nested(text: &str, start: usize) -> bool {
    let before = &text[..start];
    let solid = before.trim_end_matches(is_space);
    let gap = &before[solid.len()..];
    match solid.chars().next_back() {
        Some('[' | ',') => true,
        // No writer of JSON breaks the line after a colon, but prose does.
        Some(':') => !gap.contains('\n'),
        _ => false,
    }
}
