//! One glob without braces as an automaton over characters.

use super::braces::end_of_class;

/// What stands at one position of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// This character.
    Char(char),
    /// Any but `/`.
    Any,
    /// One of these ranges, or none of them; never `/`.
    Class { ranges: Vec<(char, char)>, negated: bool },
    /// Any number of any but `/`.
    Star,
    /// `**/`, before it has consumed anything; always followed by [`Part::Deep`].
    DeepStart,
    /// `**/`, inside of a folder's name.
    Deep,
    /// One or more of anything, up to the end.
    Rest,
    /// The end, or `/` and [`Part::Rest`], which follows.
    Below,
}

/// A compiled pattern. A position is an index into its parts; the one behind the last accepts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// What every path begins with.
    prefix: String,
}

impl Pattern {
    /// Every path.
    pub(super) fn all() -> Self {
        Self::new(vec![Part::Rest])
    }

    /// The path and all below it; every path if it is empty.
    pub(super) fn below(path: &str) -> Self {
        if path.is_empty() {
            return Self::all();
        }
        let mut parts: Vec<Part> = path.chars().map(Part::Char).collect();
        parts.extend([Part::Below, Part::Rest]);
        Self::new(parts)
    }

    /// A glob or a path, normalised. `tree`: it ended with `/`.
    pub(super) fn parse(path: &str, tree: bool) -> Result<Self, &'static str> {
        if !path.contains(['*', '?', '[']) {
            return Ok(Self::below(path));
        }
        let mut parts = Vec::new();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let last = names.peek().is_none();
            if name == "**" {
                if last {
                    parts.push(Part::Rest);
                } else if parts.last() != Some(&Part::Deep) {
                    parts.extend([Part::DeepStart, Part::Deep]);
                }
                continue;
            }
            name_parts(name, &mut parts)?;
            if !last {
                parts.push(Part::Char('/'));
            } else if tree {
                parts.extend([Part::Char('/'), Part::Rest]);
            }
        }
        Ok(Self::new(parts))
    }

    fn new(parts: Vec<Part>) -> Self {
        let literal = |part: &Part| if let Part::Char(c) = part { Some(*c) } else { None };
        let prefix = parts.iter().map_while(literal).collect();
        Self { parts, prefix }
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What every path of this pattern begins with.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether some path could begin as both patterns do. Cheap; says no only if they cannot meet.
    pub(super) fn may_meet(&self, other: &Self) -> bool {
        self.prefix.starts_with(&other.prefix) || other.prefix.starts_with(&self.prefix)
    }

    /// The positions before the first character.
    pub(super) fn start(&self, into: &mut Vec<usize>) {
        self.enter(0, into);
    }

    pub(super) fn accepts(&self, position: usize) -> bool {
        position == self.parts.len()
    }

    /// The positions behind `c`, added to `into` unless they are there.
    pub(super) fn step(&self, position: usize, c: char, into: &mut Vec<usize>) {
        let Some(part) = self.parts.get(position) else { return };
        match part {
            Part::Char(wanted) => {
                if *wanted == c {
                    self.enter(position + 1, into);
                }
            }
            Part::Any => {
                if c != '/' {
                    self.enter(position + 1, into);
                }
            }
            Part::Class { ranges, negated } => {
                let listed = ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
                if c != '/' && listed != *negated {
                    self.enter(position + 1, into);
                }
            }
            Part::Star => {
                if c != '/' {
                    self.enter(position, into);
                }
            }
            Part::Deep => {
                self.enter(position, into);
                if c == '/' {
                    self.enter(position + 1, into);
                }
            }
            Part::Rest => {
                self.enter(position, into);
                self.enter(position + 1, into);
            }
            Part::Below => {
                if c == '/' {
                    self.enter(position + 1, into);
                }
            }
            Part::DeepStart => {}
        }
    }

    /// Adds a position and all that are reached from it without a character.
    fn enter(&self, position: usize, into: &mut Vec<usize>) {
        if into.contains(&position) {
            return;
        }
        into.push(position);
        match self.parts.get(position) {
            Some(Part::Star) => self.enter(position + 1, into),
            Some(Part::DeepStart) => {
                self.enter(position + 1, into);
                self.enter(position + 2, into);
            }
            Some(Part::Below) => self.enter(self.parts.len(), into),
            Some(Part::Char(_) | Part::Any | Part::Class { .. } | Part::Deep | Part::Rest) | None => {}
        }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        if !path.starts_with(&self.prefix) {
            return false;
        }
        let mut here = Vec::new();
        let mut next = Vec::new();
        self.start(&mut here);
        for c in path.chars() {
            next.clear();
            for position in &here {
                self.step(*position, c, &mut next);
            }
            if next.is_empty() {
                return false;
            }
            std::mem::swap(&mut here, &mut next);
        }
        here.iter().any(|position| self.accepts(*position))
    }
}

fn name_parts(name: &str, parts: &mut Vec<Part>) -> Result<(), &'static str> {
    let mut skip_to = 0;
    for (at, c) in name.char_indices() {
        if at < skip_to {
            continue;
        }
        match c {
            '*' if parts.last() == Some(&Part::Star) => {}
            '*' => parts.push(Part::Star),
            '?' => parts.push(Part::Any),
            '[' => {
                let end = end_of_class(name, at).ok_or("a bracket is not closed")?;
                parts.push(class(&name[at + 1..end])?);
                skip_to = end + 1;
            }
            c => parts.push(Part::Char(c)),
        }
    }
    Ok(())
}

fn class(inside: &str) -> Result<Part, &'static str> {
    let body = inside.strip_prefix(['!', '^']).unwrap_or(inside);
    let chars: Vec<char> = body.chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&low) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(&high)) => {
                if high < low {
                    return Err("a range in brackets is backwards");
                }
                ranges.push((low, high));
                at += 3;
            }
            _ => {
                ranges.push((low, low));
                at += 1;
            }
        }
    }
    Ok(Part::Class { ranges, negated: body.len() != inside.len() })
}
