//! Writing out `{a,b}`.

use super::ScopeFault;

/// Most alternatives of one entry.
const MOST: usize = 256;

pub(super) enum BraceFault {
    Unclosed,
    TooMany,
}

impl BraceFault {
    pub(super) fn of(self, entry: &str) -> ScopeFault {
        match self {
            Self::Unclosed => ScopeFault::Malformed(entry.to_owned(), "a brace is not closed"),
            Self::TooMany => ScopeFault::TooComplex(entry.to_owned()),
        }
    }
}

/// Every alternative, in order. Braces in `[…]` are characters.
pub(super) fn expand(text: &str) -> Result<Vec<String>, BraceFault> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(next) = open.pop() {
        match first_group(&next)? {
            None => done.push(next),
            Some(group) => {
                let (before, after) = (&next[..group.start], &next[group.end + 1..]);
                // Last in, first out: reversed to keep the order.
                for part in group.parts.iter().rev() {
                    open.push(format!("{before}{part}{after}"));
                }
            }
        }
        if open.len() + done.len() > MOST {
            return Err(BraceFault::TooMany);
        }
    }
    Ok(done)
}

struct Group<'a> {
    start: usize,
    end: usize,
    parts: Vec<&'a str>,
}

fn first_group(text: &str) -> Result<Option<Group<'_>>, BraceFault> {
    let mut depth = 0usize;
    let mut start = 0;
    let mut part_start = 0;
    let mut parts = Vec::new();
    let mut class_end = 0;
    for (at, c) in text.char_indices() {
        if at < class_end {
            continue;
        }
        match c {
            '[' => class_end = end_of_class(text, at).unwrap_or(at),
            '{' => {
                depth += 1;
                if depth == 1 {
                    (start, part_start) = (at, at + 1);
                }
            }
            ',' if depth == 1 => {
                parts.push(&text[part_start..at]);
                part_start = at + 1;
            }
            '}' if depth == 0 => return Err(BraceFault::Unclosed),
            '}' => {
                depth -= 1;
                if depth == 0 {
                    parts.push(&text[part_start..at]);
                    return Ok(Some(Group { start, end: at, parts }));
                }
            }
            _ => {}
        }
    }
    if depth > 0 { Err(BraceFault::Unclosed) } else { Ok(None) }
}

/// Where the class that opens at `at` closes. A `]` right at its beginning is a member.
pub(super) fn end_of_class(text: &str, at: usize) -> Option<usize> {
    let inside = &text[at + 1..];
    let body = inside.strip_prefix(['!', '^']).unwrap_or(inside);
    let skip = inside.len() - body.len() + usize::from(body.starts_with(']'));
    inside[skip..].find(']').map(|end| at + 1 + skip + end)
}
