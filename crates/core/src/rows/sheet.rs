//! A table with typed rows over it.

use std::fmt;

use crate::csv::Table;
use crate::id;

/// Status of a row. In the CSVs only these four appear (spec 00, *Status*).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RowStatus {
    /// Not run yet, or to be run again.
    #[default]
    Pending,
    /// Done, as reported and checked.
    Completed,
    /// Ran and did not succeed.
    Failed,
    /// Not run, because a dependency did not complete or the user said so.
    Skipped,
}

impl RowStatus {
    /// The word in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Reads a cell: any case, empty means pending, words of a running task mean pending too (it will run again).
    #[must_use]
    pub fn parse(cell: &str) -> Option<Self> {
        match cell.trim().to_lowercase().as_str() {
            "" | "pending" | "in_progress" | "active" => Some(Self::Pending),
            "completed" => Some(Self::Completed),
            "failed" => Some(Self::Failed),
            "skipped" | "blocked" => Some(Self::Skipped),
            _ => None,
        }
    }
}

impl fmt::Display for RowStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something wrong in a file that people edit; shown as `FILE:LINE:COLUMN: message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1; 0 when it is about the whole file.
    pub line: u64,
    /// Column in characters, from 1; 0 when it is about the whole line.
    pub column: u64,
    /// What is wrong and what was expected.
    pub message: String,
    /// How to mend it.
    pub hint: String,
}

impl Fault {
    /// A fault of one cell of a row, named by its column.
    #[must_use]
    pub fn at(line: u64, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line, column: 0, message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "{line}:1: ")?,
            (line, column) => write!(f, "{line}:{column}: ")?,
        }
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, " — {}", self.hint)?;
        }
        Ok(())
    }
}

/// What the state columns of one row become at a merge. `None` leaves a cell alone.
pub type State<'a> = &'a [(&'a str, String)];

/// A table and its typed rows, in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet<R> {
    table: Table,
    /// The typed rows.
    pub rows: Vec<R>,
}

impl<R> Sheet<R> {
    /// A sheet from a table and what was read from its rows.
    ///
    /// `rows` must have one entry a row of `table`, in its order.
    #[must_use]
    pub fn new(table: Table, rows: Vec<R>) -> Self {
        debug_assert_eq!(table.rows.len(), rows.len(), "one typed row a table row");
        Self { table, rows }
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Line in the file where row `index` starts.
    #[must_use]
    pub fn line(&self, index: usize) -> u64 {
        self.table.rows.get(index).map_or(0, |row| row.line)
    }

    /// A fault of one cell.
    #[must_use]
    pub fn fault_in(&self, index: usize, column: &str, said: &dyn fmt::Display) -> Fault {
        let (line, column) = self.table.position(index, column).unwrap_or((self.line(index), 0));
        Fault { line, column, message: said.to_string(), hint: String::new() }
    }

    /// Writes state cells of row `index`; missing columns are added at the end.
    pub fn write(&mut self, index: usize, state: State<'_>) {
        for (column, value) in state {
            if self.table.index(column).is_none() {
                self.table.add_column(column);
            }
            self.table.set(index, column, value);
        }
    }

    /// The file's new text.
    #[must_use]
    pub fn to_csv(&self) -> String {
        self.table.to_csv()
    }

    /// All cells of row `index` as a JSON object, by column.
    #[must_use]
    pub fn item(&self, index: usize) -> serde_json::Map<String, serde_json::Value> {
        let cells = self.table.rows.get(index).map(|row| row.cells.as_slice()).unwrap_or_default();
        self.table
            .columns
            .iter()
            .zip(cells)
            .map(|(column, cell)| (column.clone(), serde_json::Value::String(cell.clone())))
            .collect()
    }
}

/// A typed row that has an id.
pub trait Row {
    /// Its id.
    fn id(&self) -> &str;
}

impl<R: Row> Sheet<R> {
    /// A fault of the row `id`: of the last one that carries it, since a duplicate is at fault and not the first.
    #[must_use]
    pub fn fault_of(&self, id: &str, said: &dyn fmt::Display) -> Fault {
        match self.rows.iter().rposition(|row| row.id() == id) {
            Some(index) => self.fault_in(index, "id", said),
            None => Fault { line: 0, column: 0, message: said.to_string(), hint: String::new() },
        }
    }
}

/// Names that the phases' own runs have beside the rows'.
const PHASES: [&str; 3] = ["assess", "plan", "plan-mended"];

/// Reads cells of one row by column name and collects faults on the way.
pub(super) struct Cells<'t> {
    table: &'t Table,
    row: usize,
    faults: Vec<Fault>,
}

impl<'t> Cells<'t> {
    pub(super) fn new(table: &'t Table, row: usize) -> Self {
        Self { table, row, faults: Vec::new() }
    }

    pub(super) fn line(&self) -> u64 {
        self.table.rows.get(self.row).map_or(0, |row| row.line)
    }

    pub(super) fn text(&self, column: &str) -> String {
        self.table.cell(self.row, column).unwrap_or_default().trim().to_owned()
    }

    pub(super) fn list(&self, column: &str) -> Vec<String> {
        crate::csv::split_list(self.table.cell(self.row, column).unwrap_or_default())
    }

    pub(super) fn fault(&mut self, column: &str, message: String, hint: &str) {
        let (line, column) = self.table.position(self.row, column).unwrap_or((self.line(), 0));
        self.faults.push(Fault { line, column, message, hint: hint.to_owned() });
    }

    pub(super) fn id(&mut self) -> String {
        let text = self.text("id");
        if text.is_empty() {
            self.fault("id", "the id is empty".to_owned(), "give every row an id of its own, such as T1");
        } else if PHASES.contains(&text.to_lowercase().as_str()) {
            let shown = crate::text::one_line(&text);
            self.fault("id", format!("`{shown}` is the name of a phase"), "choose another id, such as T1");
        } else if let Err(error) = id::check_id(&text) {
            self.fault(
                "id",
                format!("`{}` is not an id: {error}", crate::text::one_line(&text)),
                "use letters, digits, `.`, `_`, `-`",
            );
        }
        text
    }

    pub(super) fn status(&mut self) -> RowStatus {
        let text = self.text("status");
        RowStatus::parse(&text).unwrap_or_else(|| {
            self.fault(
                "status",
                format!("`{}` is not a status", crate::text::one_line(&text)),
                "use pending, completed, failed or skipped",
            );
            RowStatus::Pending
        })
    }

    pub(super) fn faults(self) -> Vec<Fault> {
        self.faults
    }
}

/// Reads a whole table with `read_row`, or says everything that is wrong with it.
pub(super) fn read_sheet<R>(
    bytes: &[u8],
    required: &[&str],
    read_row: impl Fn(&mut Cells<'_>) -> R,
) -> Result<Sheet<R>, Vec<Fault>> {
    let table = Table::parse(bytes).map_err(csv_faults)?;
    let missing = table.require_columns(required);
    if !missing.is_empty() {
        return Err(csv_faults(missing));
    }
    let mut faults = Vec::new();
    let mut rows = Vec::with_capacity(table.rows.len());
    for index in 0..table.rows.len() {
        let mut cells = Cells::new(&table, index);
        rows.push(read_row(&mut cells));
        faults.extend(cells.faults());
    }
    if faults.is_empty() { Ok(Sheet::new(table, rows)) } else { Err(faults) }
}

fn csv_faults(faults: Vec<crate::csv::CsvFault>) -> Vec<Fault> {
    faults.into_iter().map(|f| Fault { line: f.line, column: f.column, message: f.message, hint: f.hint }).collect()
}
