//! "Did you mean …?": the nearest known word to one that is unknown.

use std::collections::BTreeMap;

/// Longest word that is compared, in characters; longer ones are no typing errors.
const LONGEST: usize = 64;

/// The candidate that `word` was most likely meant to be, if one is near enough.
///
/// Case does not count, nor does the choice between `_`, `-`, space and nothing. A word may be off by about a third of
/// its length (inserted, left out, changed or swapped neighbours). Among equals the first candidate wins.
#[must_use]
pub fn nearest<'a, I>(word: &str, candidates: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    let wanted = normal(word);
    if wanted.is_empty() || wanted.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let given = normal(candidate);
        let limit = threshold(wanted.len().max(given.len()));
        if given.is_empty() || given.len() > LONGEST || wanted.len().abs_diff(given.len()) > limit {
            continue;
        }
        let off = distance(&wanted, &given);
        if off <= limit && best.is_none_or(|(least, _)| off < least) {
            best = Some((off, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn normal(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// How many edits a word of `length` characters may be away.
fn threshold(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => length / 3,
    }
}

/// Damerau-Levenshtein distance (unrestricted): edits and swaps of neighbours, in `a.len() * b.len()` steps.
fn distance(a: &[char], b: &[char]) -> usize {
    let far = a.len() + b.len();
    let columns = b.len() + 2;
    let mut cells = vec![0_usize; (a.len() + 2) * columns];
    let at = |i: usize, j: usize| i * columns + j;
    if let Some(cell) = cells.get_mut(0) {
        *cell = far;
    }
    let put = |cells: &mut Vec<usize>, i: usize, j: usize, value: usize| {
        if let Some(cell) = cells.get_mut(at(i, j)) {
            *cell = value;
        }
    };
    for i in 0..=a.len() {
        put(&mut cells, i + 1, 0, far);
        put(&mut cells, i + 1, 1, i);
    }
    for j in 0..=b.len() {
        put(&mut cells, 0, j + 1, far);
        put(&mut cells, 1, j + 1, j);
    }
    let mut last_row: BTreeMap<char, usize> = BTreeMap::new();
    for (i, x) in a.iter().enumerate() {
        let mut last_match = 0;
        for (j, y) in b.iter().enumerate() {
            let row = last_row.get(y).copied().unwrap_or(0);
            let column = last_match;
            let cost = usize::from(x != y);
            if cost == 0 {
                last_match = j + 1;
            }
            let cell = |i: usize, j: usize| cells.get(at(i, j)).copied().unwrap_or(far);
            let edits = (cell(i + 1, j + 1) + cost).min(cell(i + 2, j + 1) + 1).min(cell(i + 1, j + 2) + 1);
            let swapped = cell(row, column) + (i - row) + 1 + (j - column);
            put(&mut cells, i + 2, j + 2, edits.min(swapped));
        }
        last_row.insert(*x, i + 1);
    }
    cells.last().copied().unwrap_or(far)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{distance, nearest};

    const COLUMNS: [&str; 6] = ["id", "title", "description", "acceptance_criteria", "deps", "context_from"];

    #[test]
    fn typing_errors_find_their_word() {
        for (word, expected) in [
            ("titel", Some("title")),
            ("Title", Some("title")),
            ("desciption", Some("description")),
            ("acceptanceCriteria", Some("acceptance_criteria")),
            ("context-from", Some("context_from")),
            ("dep", Some("deps")),
            ("ID", Some("id")),
            ("ix", None),
            ("wholly_else", None),
            ("", None),
            ("___", None),
        ] {
            assert_eq!(nearest(word, COLUMNS), expected, "{word}");
        }
    }

    #[test]
    fn the_first_of_equals_wins() {
        assert_eq!(nearest("colunn", ["column", "colunm"]), Some("column"));
        assert_eq!(nearest("タイトルの名", ["タイトル名", "説明"]), Some("タイトル名"));
    }

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn distances_are_those_of_the_textbook() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("ca", "abc", 2),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("abcd", "acbd", 1),
        ] {
            assert_eq!(distance(&chars(a), &chars(b)), expected, "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn distance_is_a_metric_with_known_bounds(a in "[a-d]{0,8}", b in "[a-d]{0,8}") {
            let (x, y) = (chars(&a), chars(&b));
            let off = distance(&x, &y);
            prop_assert_eq!(off, distance(&y, &x));
            prop_assert_eq!(off == 0, a == b);
            prop_assert!(off >= x.len().abs_diff(y.len()) && off <= x.len().max(y.len()));
        }

        #[test]
        fn a_word_is_nearest_to_itself(word in "[a-z]{1,20}", other in any::<String>()) {
            prop_assert_eq!(nearest(&word, [other.as_str(), word.as_str()]).map(str::to_lowercase).map(|w| w.replace(['_', '-', ' '], "")), Some(word));
        }
    }
}
