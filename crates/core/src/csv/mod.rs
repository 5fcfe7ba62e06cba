//! CSV as people and spreadsheets write it (spec 10, *CSV everywhere*).
//!
//! Reading happens in three steps, each in its own file: bytes to text (`decode`), a quote-aware scan that knows line
//! and column of every cell and finds what is wrong (`scan`), and the `csv` crate for the cells themselves
//! (`table`). The scan stands in front because the crate reports neither an unclosed quote nor a column. Writing knows
//! one form only: comma, LF, header bare, cells quoted.
//!
//! Nothing here knows a file name: whoever shows a [`CsvFault`] puts `FILE:` in front.

mod cells;
mod decode;
mod scan;
mod table;

use std::fmt;

pub use cells::{clean_cell, join_list, parse_bool, split_list};
pub use table::{Row, Table};

/// Something wrong in a CSV file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvFault {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub hint: String,
}

impl CsvFault {
    pub(crate) fn new(place: Place, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line: place.line, column: place.column, message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for CsvFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, " — {}", self.hint) }
    }
}

impl std::error::Error for CsvFault {}

/// A place in a file: line and column in characters, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}
