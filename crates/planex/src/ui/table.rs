//! Columns that line up, wide characters included.

use planex_core::text::{fit, one_line, pad, width};

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

    /// Adds a row; foreign text is made safe to show.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// The lines, each at most `columns` wide: what is too long loses its end.
    pub(crate) fn lines(&self, columns: usize) -> Vec<String> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..count)
            .map(|at| self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or(0))
            .collect();
        self.rows.iter().map(|row| fit(&line(row, &widths), columns)).collect()
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (at, cell) in row.iter().enumerate() {
        if at + 1 < row.len() {
            text.push_str(&pad(cell, widths.get(at).copied().unwrap_or(0) + 2));
        } else {
            text.push_str(cell);
        }
    }
    text.truncate(text.trim_end().len());
    text
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
    fn long_lines_lose_their_end_and_foreign_text_its_teeth() {
        let mut table = Table::new(&["title"]);
        table.row(["ログイン画面".into()]);
        table.row(["a\u{1b}[31m\nb".into()]);
        assert_eq!(table.lines(7), ["title", "ログイ…", "a b"]);
    }
}
