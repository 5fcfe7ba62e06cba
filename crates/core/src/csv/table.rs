//! A table in memory: read, changed by cell, written.

use std::collections::BTreeMap;

use super::decode::{Decoded, decode};
use super::scan::{Record, Scan, dialect, scan};
use super::{CsvFault, Place};
use crate::suggest;
use crate::text;

/// So many faults are told one by one.
const MOST_FAULTS: usize = 100;

/// A CSV file in memory. Column order, unknown columns and every cell stay as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns, trimmed, each once.
    pub columns: Vec<String>,
    /// The rows; each has as many cells as there are columns.
    pub rows: Vec<Row>,
    /// Whether the file had a byte order mark, and will have one again.
    pub bom: bool,
}

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Line of the file where it starts, from 1; 0 for a row that was not read from a file.
    pub line: u64,
    /// Its cells.
    pub cells: Vec<String>,
    /// Where each cell starts; empty for a row that was not read from a file.
    places: Vec<Place>,
}

impl Row {
    /// A row that was not read from a file.
    #[must_use]
    pub fn new(cells: Vec<String>) -> Self {
        Self { line: 0, cells, places: Vec::new() }
    }
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(columns: Vec<String>) -> Self {
        Self { columns, rows: Vec::new(), bom: false }
    }

    /// Reads a file.
    ///
    /// Empty lines and lines of nothing but separators are left out, as are columns without a name and without content
    /// at the right end: spreadsheets leave both behind. In a file with CRLF line ends, newlines within cells become LF.
    ///
    /// # Errors
    /// Every fault that was found, in the order of the file: encoding, quotes, header, rows of the wrong width. Beyond
    /// 100, the last one says how many more there are.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<CsvFault>> {
        let Decoded { text, bom } = decode(bytes).map_err(|fault| vec![fault])?;
        let dialect = dialect(&text);
        let scan = scan(&dialect);
        let records = read_cells(dialect.text, dialect.separator, &scan);
        build(records, scan, bom)
    }

    /// Position of a column, by its exact name.
    #[must_use]
    pub fn index(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    /// A cell; `None` if there is no such row or column.
    #[must_use]
    pub fn cell(&self, row: usize, column: &str) -> Option<&str> {
        let index = self.index(column)?;
        self.rows.get(row)?.cells.get(index).map(String::as_str)
    }

    /// Line and column (in characters, from 1) where a cell stands in the file that was read.
    #[must_use]
    pub fn position(&self, row: usize, column: &str) -> Option<(u64, u64)> {
        let index = self.index(column)?;
        self.rows.get(row)?.places.get(index).map(|place| (place.line, place.column))
    }

    /// Changes a cell. A row or column that does not exist is left alone.
    pub fn set(&mut self, row: usize, column: &str, value: impl Into<String>) {
        let Some(index) = self.index(column) else { return };
        let width = self.columns.len();
        if let Some(row) = self.rows.get_mut(row) {
            row.cells.resize(width, String::new());
            if let Some(cell) = row.cells.get_mut(index) {
                *cell = value.into();
            }
        }
    }

    /// Adds a column at the right end, empty in every row; nothing happens if it exists.
    pub fn add_column(&mut self, column: &str) {
        if self.index(column).is_none() {
            self.columns.push(column.to_owned());
            let width = self.columns.len();
            self.rows.iter_mut().for_each(|row| row.cells.resize(width, String::new()));
        }
    }

    /// Adds a row. Missing cells are empty, cells beyond the last column are dropped.
    pub fn push(&mut self, mut cells: Vec<String>) {
        cells.resize(self.columns.len(), String::new());
        self.rows.push(Row::new(cells));
    }

    /// A fault for each column that is required and missing, with the nearest one that is there.
    #[must_use]
    pub fn require_columns(&self, required: &[&str]) -> Vec<CsvFault> {
        let missing = required.iter().filter(|name| self.index(name).is_none());
        missing
            .map(|name| {
                let others = self.columns.iter().map(String::as_str).filter(|column| !required.contains(column));
                let hint = match suggest::nearest(name, others) {
                    Some(near) => format!("rename `{}` to `{name}`", text::one_line(near)),
                    None => format!("add `{name}` to the first line"),
                };
                CsvFault::new(Place::START, format!("the column `{name}` is missing"), hint)
            })
            .collect()
    }

    /// The file's text: comma, LF, names bare where they can be, every cell quoted, a byte order mark if there was one.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        if self.bom {
            out.push('\u{feff}');
        }
        for (index, name) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            if name.is_empty() || name.contains([',', ';', '\t', '"', '\n', '\r', '\u{feff}']) {
                quote(&mut out, name);
            } else {
                out.push_str(name);
            }
        }
        out.push('\n');
        for row in &self.rows {
            for (index, _) in self.columns.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                quote(&mut out, row.cells.get(index).map_or("", String::as_str));
            }
            out.push('\n');
        }
        out
    }
}

fn quote(out: &mut String, cell: &str) {
    out.push('"');
    for (index, part) in cell.split('"').enumerate() {
        if index > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
}

/// Reads the cells with the `csv` crate. Its records are those of the scan, one by one.
fn read_cells(text: &str, separator: u8, scan: &Scan) -> Vec<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(text.as_bytes());
    let mut records = Vec::with_capacity(scan.records.len());
    let mut record = csv::StringRecord::new();
    // The text is UTF-8 and the reader flexible, so the only errors it has cannot occur; it ends at one nevertheless.
    while reader.read_record(&mut record).unwrap_or(false) {
        records.push(record.iter().map(|cell| newlines(cell, scan.crlf)).collect());
    }
    records
}

fn newlines(cell: &str, crlf: bool) -> String {
    if crlf && cell.contains('\r') { cell.replace("\r\n", "\n") } else { cell.to_owned() }
}

fn build(records: Vec<Vec<String>>, scan: Scan, bom: bool) -> Result<Table, Vec<CsvFault>> {
    let mut faults = scan.faults;
    let mut lines = records.into_iter().zip(scan.records).filter(|(_, record)| !record.blank);
    let Some((names, header)) = lines.next() else {
        let hint = "the first line names the columns, for example `id,title,description`";
        faults.push(CsvFault::new(Place::START, "the file is empty", hint));
        return Err(faults);
    };
    let mut columns: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    let named = columns.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    columns.truncate(named);
    if !header.faulty {
        header_faults(&columns, &header, &mut faults);
    }
    let mut rows = Vec::new();
    for (mut cells, record) in lines {
        let used = cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last + 1);
        if !record.faulty && !header.faulty {
            width_fault(&columns, cells.len(), used, &record, &mut faults);
        }
        cells.truncate(columns.len());
        let line = record.cells.first().map_or(0, |place| place.line);
        let mut places = record.cells;
        places.truncate(columns.len());
        rows.push(Row { line, cells, places });
    }
    if faults.is_empty() {
        return Ok(Table { columns, rows, bom });
    }
    faults.sort_by_key(|fault| (fault.line, fault.column));
    let more = faults.len().saturating_sub(MOST_FAULTS);
    if let (true, Some(first)) = (more > 1, faults.get_mut(MOST_FAULTS)) {
        first.message = format!("{more} more faults from here on");
        first.hint = "mend those above first".to_owned();
        faults.truncate(MOST_FAULTS + 1);
    }
    Err(faults)
}

fn header_faults(columns: &[String], header: &Record, faults: &mut Vec<CsvFault>) {
    let mut seen: BTreeMap<&str, Place> = BTreeMap::new();
    for (name, place) in columns.iter().zip(&header.cells) {
        if name.is_empty() {
            faults.push(CsvFault::new(*place, "a column has no name", "name every column in the first line"));
        } else if let Some(first) = seen.get(name.as_str()) {
            let shown = text::one_line(name);
            let message = format!("the column `{shown}` is there twice, first at {}:{}", first.line, first.column);
            faults.push(CsvFault::new(*place, message, "rename or remove one of them"));
        } else {
            seen.insert(name, *place);
        }
    }
}

fn width_fault(columns: &[String], cells: usize, used: usize, record: &Record, faults: &mut Vec<CsvFault>) {
    let first = record.cells.first().copied().unwrap_or(Place::START);
    let hint = "put cells that hold the separator, a quote or a newline in quotes";
    if used > columns.len() {
        let place = record.cells.get(columns.len()).copied().unwrap_or(first);
        let message = format!("the row has {used} cells, the header {}: this one has no column", columns.len());
        faults.push(CsvFault::new(place, message, hint));
    } else if cells < columns.len() {
        let missing = columns.get(cells).map_or("", String::as_str);
        let shown = text::one_line(missing);
        let message =
            format!("the row has {cells} cells, the header {}: `{shown}` and what follows is missing", columns.len());
        faults.push(CsvFault::new(first, message, hint));
    }
}

#[cfg(test)]
mod tests;
