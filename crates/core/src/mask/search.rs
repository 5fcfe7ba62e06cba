//! Looking for many texts at once, fast where nothing is found.

use aho_corasick::{AhoCorasick, Input, MatchKind, Span, packed};

/// A search for any of some texts; of several that begin at one place, the longest.
#[derive(Debug)]
pub(super) enum Search {
    /// By vector instructions: several times faster, for a few dozen texts on a processor that has them.
    Packed(packed::Searcher),
    /// Everything else.
    Table(AhoCorasick),
}

/// A text that was found: which one, and where, as byte positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) which: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Search {
    /// `None` without texts, or with more (hundreds of megabytes) than a table can hold.
    pub(super) fn new<T: AsRef<[u8]>>(texts: &[T]) -> Option<Self> {
        if texts.is_empty() {
            return None;
        }
        let mut packed = packed::Config::new().match_kind(packed::MatchKind::LeftmostLongest).builder();
        if let Some(searcher) = packed.extend(texts).build() {
            return Some(Self::Packed(searcher));
        }
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok().map(Self::Table)
    }

    /// The first hit at or behind byte `from`.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Hit> {
        let span = Span { start: from.min(text.len()), end: text.len() };
        let hit = match self {
            Self::Packed(searcher) => searcher.find_in(text, span),
            Self::Table(table) => table.find(Input::new(text).span(span)),
        }?;
        Some(Hit { which: hit.pattern().as_usize(), start: hit.start(), end: hit.end() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Hit, Search};

    #[test]
    fn few_and_many_texts_are_found() {
        assert!(Search::new::<&str>(&[]).is_none());
        for count in [1_usize, 40, 200, 5000] {
            let texts: Vec<String> = (0..count).map(|n| format!("text-{n}-")).collect();
            let search = Search::new(&texts).unwrap();
            for (which, text) in texts.iter().enumerate().step_by(1 + count / 20) {
                let hay = format!("text text-{text}");
                let hit = search.find(hay.as_bytes(), 3);
                assert_eq!(hit, Some(Hit { which, start: 10, end: hay.len() }), "{count}");
                assert_eq!(search.find(hay.as_bytes(), 11), None);
                assert_eq!(search.find(hay.as_bytes(), 1000), None);
            }
        }
    }

    proptest! {
        #[test]
        fn both_ways_find_the_same(texts in proptest::collection::vec("[ab]{1,4}", 1..9), hay in "[abc]{0,80}", from in 0_usize..90) {
            let table = aho_corasick::AhoCorasick::builder()
                .match_kind(aho_corasick::MatchKind::LeftmostLongest)
                .build(&texts)
                .unwrap();
            let place = |hit: Hit| (hit.start, hit.end);
            let one = Search::new(&texts).unwrap().find(hay.as_bytes(), from).map(place);
            prop_assert_eq!(one, Search::Table(table).find(hay.as_bytes(), from).map(place));
        }
    }
}
