//! What is inside a cell: truth values, lists, and text that agents report.

use crate::text;

/// Reads a truth value.
///
/// True: `true`, `1`, `yes`, `y`, in any case (Excel and LibreOffice write `TRUE`). False: `false`, `0`, `no`, `n`.
/// Anything else, also an empty cell, is neither: `None`.
#[must_use]
pub fn parse_bool(cell: &str) -> Option<bool> {
    match cell.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "y" => Some(true),
        "false" | "0" | "no" | "n" => Some(false),
        _ => None,
    }
}

/// Splits a list at `;`; entries are trimmed, empty ones dropped.
#[must_use]
pub fn split_list(cell: &str) -> Vec<String> {
    cell.split(';').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

/// Joins a list with `;`; entries are trimmed, empty ones dropped. An entry that holds a `;` comes back as two.
#[must_use]
pub fn join_list<S: AsRef<str>>(entries: &[S]) -> String {
    let kept: Vec<&str> = entries.iter().map(|e| e.as_ref().trim()).filter(|e| !e.is_empty()).collect();
    kept.join(";")
}

/// Removes control characters other than newline and tab from what an agent reports, and whole terminal sequences with
/// them; CRLF and a lone CR become a newline. Everything else stays.
#[must_use]
pub fn clean_cell(cell: &str) -> String {
    text::strip_controls(cell)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{clean_cell, join_list, parse_bool, split_list};

    #[test]
    fn truth_is_read_as_spreadsheets_write_it() {
        for cell in ["TRUE", "true", "1", " True ", "yes"] {
            assert_eq!(parse_bool(cell), Some(true), "{cell}");
        }
        for cell in ["FALSE", "false", "0", "No"] {
            assert_eq!(parse_bool(cell), Some(false), "{cell}");
        }
        for cell in ["", " ", "maybe", "2", "真"] {
            assert_eq!(parse_bool(cell), None, "{cell}");
        }
    }

    #[test]
    fn lists_lose_only_blanks() {
        assert_eq!(split_list(" T1 ;; T2;"), ["T1", "T2"]);
        assert_eq!(split_list(" ; "), Vec::<String>::new());
        assert_eq!(join_list(&["a", " b ", ""]), "a;b");
        assert_eq!(join_list(&Vec::<String>::new()), "");
    }

    #[test]
    fn reports_lose_controls_and_keep_words() {
        assert_eq!(clean_cell("a\r\nb\rc\td\u{0}\u{7}\u{9b}31me"), "a\nb\nc\tde");
        assert_eq!(clean_cell("\u{1b}[31mred\u{1b}[0m 日本語 👨‍👩‍👧"), "red 日本語 👨‍👩‍👧");
    }

    proptest! {
        #[test]
        fn lists_come_back(entries in prop::collection::vec("[^;\\s][^;]{0,8}[^;\\s]", 0..6)) {
            let joined = join_list(&entries);
            prop_assert_eq!(split_list(&joined), entries);
        }

        #[test]
        fn clean_cells_stay_clean(cell in any::<String>()) {
            let once = clean_cell(&cell);
            prop_assert!(!once.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            prop_assert_eq!(clean_cell(&once), once.clone());
        }
    }
}
