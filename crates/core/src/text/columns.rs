//! What a text takes on a terminal, in columns: wide characters count two, combining ones none.

use unicode_width::UnicodeWidthStr as _;

use super::cut::joined;

/// Columns that `text` takes. For one line of text that is [`super::safe`].
#[must_use]
pub fn width(text: &str) -> usize {
    clusters(text).map(str::width).sum()
}

/// `text` and as many spaces as it takes to fill `columns`; longer texts stay as they are.
#[must_use]
pub fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// Cuts `text` to at most `columns` columns, with `…` at its end where something is left out.
#[must_use]
pub fn fit(text: &str, columns: usize) -> String {
    let mut used = 0;
    let mut bytes = 0;
    let mut cut = 0;
    for cluster in clusters(text) {
        used += cluster.width();
        bytes += cluster.len();
        if used < columns {
            cut = bytes;
        }
        if used > columns {
            let head = text.get(..cut).unwrap_or_default();
            return if columns == 0 { String::new() } else { format!("{head}…") };
        }
    }
    text.to_owned()
}

/// One line of text as lines of at most `columns` columns, broken at spaces where there are any, else between visible
/// characters. Always at least one line; a character wider than `columns` stands alone.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches(' ');
        if used > 0 && used + width(bare) > columns && width(bare) <= columns {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        for cluster in clusters(word) {
            if used > 0 && cluster != " " && used + cluster.width() > columns {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push_str(cluster);
            used += cluster.width();
        }
    }
    lines.push(line);
    for line in &mut lines {
        line.truncate(line.trim_end_matches(' ').len());
    }
    lines
}

/// Visible characters with what belongs to them.
fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices();
        let (_, mut last) = chars.next()?;
        let end = chars
            .find(|(_, c)| {
                let together = joined(last, *c);
                last = *c;
                !together
            })
            .map_or(rest.len(), |(at, _)| at);
        let (cluster, behind) = rest.split_at(end);
        rest = behind;
        Some(cluster)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{clusters, fit, pad, width, wrap};

    #[test]
    fn wide_characters_count_two() {
        for (text, expected) in
            [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("👨\u{200d}👩\u{200d}👧", 2), ("ｱ", 1), ("", 0)]
        {
            assert_eq!(width(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_are_padded_and_fitted_by_columns() {
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(pad("long", 2), "long");
        for (text, columns, expected) in [
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
            ("", 0, ""),
        ] {
            assert_eq!(fit(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn texts_are_broken_at_spaces_or_between_characters() {
        for (text, columns, expected) in [
            ("approve the plan", 8, &["approve", "the plan"][..]),
            ("日本語の題名", 5, &["日本", "語の", "題名"]),
            ("a-long-word here", 6, &["a-long", "-word", "here"]),
            ("", 8, &[""]),
            ("日", 1, &["日"]),
            ("0\u{d82}\u{11937}x", 2, &["0\u{d82}\u{11937}", "x"]),
        ] {
            assert_eq!(wrap(text, columns), expected, "{text} {columns}");
        }
    }

    proptest! {
        #[test]
        fn wrapped_texts_fit_and_lose_nothing(text in "\\PC{0,60}", columns in 2_usize..30) {
            let lines = wrap(&text, columns);
            // A visible character of several signs may be wider than the line; it stands alone then.
            let fits = |line: &String| width(line) <= columns || clusters(line).count() == 1;
            prop_assert!(lines.iter().all(fits), "{lines:?}");
            let bare = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
        }

        #[test]
        fn fitted_texts_fit(text in "\\PC{0,40}", columns in 0_usize..30) {
            let fitted = fit(&text, columns);
            prop_assert!(width(&fitted) <= columns, "{fitted:?} takes {}", width(&fitted));
            prop_assert!(width(&pad(&fitted, columns)) >= columns.min(width(&text)));
        }
    }
}
