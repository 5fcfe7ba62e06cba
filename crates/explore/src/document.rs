//! What is known of one file.

use std::collections::HashMap;

use crate::classify::{FileClass, by_content, by_path};
use crate::symbols::{Symbol, language_of, outline};
use crate::tokens::{TermKind, each_term};

/// How often a term occurs, by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// In code and strings (in prose: anywhere).
    pub(crate) body: u16,
    /// In names of definitions.
    pub(crate) symbol: u16,
    /// In comments.
    pub(crate) comment: u16,
}

/// One file, its terms as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) class: FileClass,
    pub(crate) lines: u32,
    pub(crate) terms: Vec<(Box<str>, Counts)>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) imports: Vec<String>,
}

/// Most distinct terms kept of one file: what lies beyond is data, not words.
const MAX_TERMS: usize = 30_000;

impl Document {
    /// A file whose content is not read.
    pub(crate) fn unread(class: FileClass) -> Self {
        Self { class, lines: 0, terms: Vec::new(), symbols: Vec::new(), imports: Vec::new() }
    }

    /// Reads a file; `None` for binary content.
    pub(crate) fn analyse(path: &str, bytes: &[u8]) -> Option<Self> {
        if bytes.iter().take(8_192).any(|b| *b == 0) {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        let class = by_content(path, &text);
        let lines = u32::try_from(
            bytes.iter().filter(|b| **b == b'\n').count() + usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n")),
        );
        let lines = lines.unwrap_or(u32::MAX);
        if class == FileClass::Minified {
            return Some(Self { lines, ..Self::unread(class) });
        }
        let (name, language) = language_of(path);
        let known_code = name.is_some() && by_path(path) != FileClass::Data;
        let found = if known_code { outline(language, &text) } else { crate::symbols::Outline::default() };
        let mut bag = Bag::default();
        let mut at = 0;
        for (from, to) in &found.comments {
            bag.add(text.get(at..*from).unwrap_or_default(), |c| &mut c.body);
            bag.add(text.get(*from..*to).unwrap_or_default(), |c| &mut c.comment);
            at = *to;
        }
        bag.add(text.get(at..).unwrap_or_default(), |c| &mut c.body);
        for symbol in &found.symbols {
            bag.add(&symbol.name, |c| &mut c.symbol);
        }
        Some(Self { class, lines, terms: bag.finish(), symbols: found.symbols, imports: found.imports })
    }
}

#[derive(Default)]
struct Bag(HashMap<Box<str>, Counts>);

impl Bag {
    fn add(&mut self, text: &str, field: impl Fn(&mut Counts) -> &mut u16) {
        each_term(text, &mut |kind: TermKind, term, _| {
            let _ = kind;
            if let Some(counts) = self.0.get_mut(term) {
                let count = field(counts);
                *count = count.saturating_add(1);
            } else if self.0.len() < MAX_TERMS {
                *field(self.0.entry(term.into()).or_default()) = 1;
            }
        });
    }

    fn finish(self) -> Vec<(Box<str>, Counts)> {
        let mut terms: Vec<_> = self.0.into_iter().collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        terms
    }
}
