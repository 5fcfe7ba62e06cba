//! A question's lines, none wider than the terminal, never more than fit on it.

use planex_core::text::{fit, width, wrap};

use super::state::{Line, Menu};

/// One line of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Its text, without colours.
    pub(super) text: String,
    /// What it is.
    pub(super) kind: Kind,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of the item at the cursor.
    Chosen,
    /// Of another item, or typed text.
    Plain,
    /// How to use it.
    Help,
}

const MENU_HELP: &str = "arrow keys, digits or first letters, then Enter; Ctrl-C stops, the state is kept";
const LINE_HELP: &str = "Enter takes it; Ctrl-C stops, the state is kept";

fn row(text: String, kind: Kind) -> Row {
    Row { text, kind }
}

/// The items, each wrapped below its label; where that is too high, one line each, and of those as many as fit around
/// the cursor.
pub(super) fn menu(menu: &Menu, columns: usize, rows: usize) -> Vec<Row> {
    let help = helped(MENU_HELP, columns, rows);
    let room = rows.saturating_sub(help.len()).max(1);
    let mut lines: Vec<Row> = (0..menu.items.len()).flat_map(|at| item(menu, at, columns)).collect();
    if lines.len() > room {
        lines = (0..menu.items.len()).map(|at| short(menu, at, columns)).collect();
    }
    if lines.len() > room {
        let first = menu.at.saturating_sub(room / 2).min(lines.len() - room);
        lines = lines.into_iter().skip(first).take(room).collect();
    }
    lines.extend(help);
    lines
}

fn item(menu: &Menu, at: usize, columns: usize) -> Vec<Row> {
    let Some(item) = menu.items.get(at) else { return Vec::new() };
    let text = match item.detail.is_empty() {
        true => item.label.clone(),
        false => format!("{} - {}", item.label, item.detail),
    };
    let (mark, kind) = marked(menu, at);
    wrap(&text, columns.saturating_sub(4).max(2))
        .iter()
        .enumerate()
        .map(|(nth, text)| row(if nth == 0 { format!("{mark} {text}") } else { format!("    {text}") }, kind))
        .collect()
}

fn short(menu: &Menu, at: usize, columns: usize) -> Row {
    let (mark, kind) = marked(menu, at);
    row(fit(&format!("{mark} {}", menu.label(at)), columns), kind)
}

fn marked(menu: &Menu, at: usize) -> (char, Kind) {
    if at == menu.at { ('>', Kind::Chosen) } else { (' ', Kind::Plain) }
}

/// How to use it, where there is room for that.
fn helped(help: &str, columns: usize, rows: usize) -> Vec<Row> {
    let lines = wrap(help, columns.max(2));
    if lines.len() * 3 > rows { Vec::new() } else { lines.into_iter().map(|line| row(line, Kind::Help)).collect() }
}

/// The typed text, its end where it is too long, and the place of the cursor: line, column.
pub(super) fn line(line: &Line, columns: usize, rows: usize) -> (Vec<Row>, (usize, usize)) {
    let help = helped(LINE_HELP, columns, rows);
    let room = rows.saturating_sub(help.len()).max(1);
    // One column stays free for the cursor.
    let mut lines = wrap(&format!("> {}", line.text), columns.saturating_sub(1).max(2));
    // A blank at the end was typed and is to be seen.
    let blanks = line.text.len() - line.text.trim_end_matches(' ').len();
    if let Some(last) = lines.last_mut() {
        let blanks = if line.text.is_empty() { 1 } else { blanks };
        let free = columns.saturating_sub(width(last) + 1);
        last.push_str(&" ".repeat(blanks.min(free)));
    }
    let skip = lines.len().saturating_sub(room);
    let mut shown: Vec<Row> = lines.into_iter().skip(skip).map(|line| row(line, Kind::Plain)).collect();
    let cursor = (shown.len() - 1, shown.last().map_or(0, |row| width(&row.text)));
    shown.extend(help);
    (shown, cursor)
}

#[cfg(test)]
mod tests {
    use super::super::Item;
    use super::*;

    fn gate() -> Menu {
        let items = vec![
            Item::new("Approve", "explore from these angles"),
            Item::new("修正", "explore.csv を編集してから再開します"),
            Item::new("Cancel", ""),
        ];
        Menu::new(items, 1)
    }

    fn texts(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| row.text.as_str()).collect()
    }

    #[test]
    fn a_wide_terminal_has_one_line_for_each() {
        let rows = menu(&gate(), 100, 40);
        assert_eq!(
            texts(&rows),
            [
                "  Approve - explore from these angles",
                "> 修正 - explore.csv を編集してから再開します",
                "  Cancel",
                MENU_HELP
            ]
        );
        assert_eq!(rows.iter().filter(|row| row.kind == Kind::Chosen).count(), 1);
    }

    #[test]
    fn nothing_is_wider_or_higher_than_the_terminal() {
        for columns in [8, 20, 40, 80] {
            for rows in [1, 2, 3, 5, 24] {
                let lines = menu(&gate(), columns, rows);
                assert!(lines.len() <= rows, "{columns}x{rows}: {lines:?}");
                assert!(lines.iter().all(|line| width(&line.text) <= columns), "{columns}x{rows}: {lines:?}");
                assert!(lines.iter().any(|line| line.text.starts_with('>')), "{columns}x{rows}: {lines:?}");
            }
        }
    }

    #[test]
    fn long_lists_follow_the_cursor() {
        let items: Vec<Item> = (1..=100).map(|n| Item::new(&format!("Option {n}"), "")).collect();
        for at in [0, 50, 99] {
            let lines = menu(&Menu::new(items.clone(), at), 40, 10);
            assert!(lines.len() <= 10 && lines.iter().any(|line| line.text == format!("> Option {}", at + 1)));
        }
    }

    #[test]
    fn the_cursor_stands_behind_what_is_typed() {
        for (text, columns, expected, cursor) in [
            ("", 40, vec!["> "], (0, 2)),
            ("日本 ", 40, vec!["> 日本 "], (0, 7)),
            ("one two", 8, vec!["> one", "two"], (1, 3)),
        ] {
            let (rows, at) = line(&Line { text: text.into() }, columns, 3);
            let typed: Vec<&str> = rows.iter().filter(|r| r.kind == Kind::Plain).map(|r| r.text.as_str()).collect();
            assert_eq!((typed, at), (expected, cursor), "{text}");
        }
        let (rows, at) = line(&Line { text: "x".repeat(1000) }, 20, 4);
        assert!(rows.len() <= 4 && at.1 < 20, "{rows:?}");
    }
}
