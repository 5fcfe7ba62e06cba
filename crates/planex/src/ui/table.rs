//! Columns that line up, wide characters included.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Rows of cells, set in columns two spaces apart; the last column is not padded.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading.
    pub(crate) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The lines, each at most `width` columns wide: what is too long loses its end.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|at| self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max().unwrap_or(0))
            .collect();
        self.rows.iter().map(|row| fit(&line(row, &widths), width)).collect()
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (at, cell) in row.iter().enumerate() {
        text.push_str(cell);
        if at + 1 < row.len() {
            let pad = widths.get(at).copied().unwrap_or(0).saturating_sub(cell.width()) + 2;
            text.extend(std::iter::repeat_n(' ', pad));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// `text` cut to `width` columns with `…` at the end; never in the middle of a character.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width || width == 0 {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        kept.push(c);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_line_up() {
        let mut table = Table::new(&["id", "title", "status"]);
        table.row(["T1".into(), "ログイン".into(), "ok".into()]);
        table.row(["T10".into(), "login".into(), String::new()]);
        assert_eq!(table.lines(80), ["id   title     status", "T1   ログイン  ok", "T10  login"]);
    }

    #[test]
    fn long_lines_lose_their_end() {
        assert_eq!(fit("ログイン画面", 7), "ログイ…");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
        assert_eq!(fit("abcd", 0), "abcd");
    }
}
