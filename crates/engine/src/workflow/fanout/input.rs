//! What a fanout is given, checked whole before anything starts.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::csv::Table;
use planex_core::id;
use planex_core::job::Mode;
use planex_core::schema::Checker;
use planex_core::suggest;
use planex_core::template::Template;
use planex_core::text::one_line;
use planex_sys::fs;
use serde_json::{Map, Value};

use crate::error::{EngineError, ErrorKind, Result};

/// What `planex fanout` is given.
#[derive(Debug, Clone, PartialEq)]
pub struct FanoutOptions {
    /// The jobs, absolute.
    pub input: Utf8PathBuf,
    /// The instruction: one template for all rows.
    pub instruction: Source,
    /// Column that holds the ids; `None`: `row-1`, `row-2`, ….
    pub id_column: Option<String>,
    /// Where the results go, absolute; `None`: `{stem}.results.csv` beside the input.
    pub output: Option<Utf8PathBuf>,
    /// JSON Schema of each result; `None`: the final text is the result, in the column `result`.
    pub schema: Option<Source>,
    /// What workers may do.
    pub mode: Mode,
    /// How often a row that failed is tried again.
    pub retries: u32,
}

/// A text with the name under which its faults are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// A file's path, or `--instruction`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where it was read from, absolute; `None`: from no file.
    pub path: Option<Utf8PathBuf>,
}

/// One row, checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobRow {
    pub(super) id: String,
    /// All cells by column.
    pub(super) item: Map<String, Value>,
    /// The instruction with its cells put in.
    pub(super) instruction: String,
}

/// Everything, checked.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) table: Table,
    pub(super) rows: Vec<JobRow>,
    pub(super) schema: Option<Value>,
    /// Columns of the results: the schema's properties, in its order.
    pub(super) properties: Vec<String>,
    pub(super) output: Utf8PathBuf,
}

/// The bytes of the input.
pub(super) fn read(options: &FanoutOptions) -> Result<Vec<u8>> {
    fs::read(&options.input).map_err(|error| {
        EngineError::new(ErrorKind::Input, error.to_string()).hint("give the path of a CSV file with a header line")
    })
}

/// Checks everything, `bytes` being the input; every fault is listed, nothing is started.
pub(super) fn prepare(options: &FanoutOptions, bytes: &[u8]) -> Result<Prepared> {
    let file = options.input.as_str();
    let output = output_path(options)?;
    let refuse = |faults: Vec<String>| EngineError::input(format!("{file} cannot be used"), faults);
    let table =
        Table::parse(bytes).map_err(|faults| refuse(faults.iter().map(|fault| format!("{file}:{fault}")).collect()))?;
    let mut faults = Vec::new();
    let ids = ids(&table, options, &mut faults);
    let template = template(&options.instruction, &table, &mut faults);
    let schema = options.schema.as_ref().and_then(|source| read_schema(source, &mut faults));
    let Some(template) = template.filter(|_| faults.is_empty()) else {
        return Err(EngineError::input(format!("nothing is started: {} fault(s)", faults.len()), faults));
    };
    let rows = ids.into_iter().enumerate().map(|(index, id)| job_row(&table, index, id, &template)).collect();
    let properties = schema.as_ref().map_or_else(|| vec!["result".to_owned()], properties);
    Ok(Prepared { table, rows, schema, properties, output })
}

fn output_path(options: &FanoutOptions) -> Result<Utf8PathBuf> {
    let default = || {
        let stem = options.input.file_stem().unwrap_or("jobs");
        options.input.with_file_name(format!("{stem}.results.csv"))
    };
    let output = options.output.clone().unwrap_or_else(default);
    let same = output == options.input
        || matches!((fs::canonicalize(&output), fs::canonicalize(&options.input)), (Ok(a), Ok(b)) if a == b);
    if same {
        return Err(EngineError::usage(format!("the output would replace the input {output}"))
            .hint("name another file with --output"));
    }
    if fs::is_dir(&output) {
        return Err(EngineError::usage(format!("the output {output} is a folder")).hint("name a file with --output"));
    }
    Ok(output)
}

/// Ids of the rows of a table that was checked before.
pub(super) fn row_ids(table: &Table, id_column: Option<&str>) -> Vec<String> {
    match id_column {
        Some(column) => {
            let id = |row| table.cell(row, column).unwrap_or_default().trim().to_owned();
            (0..table.rows.len()).map(id).collect()
        }
        None => (1..=table.rows.len()).map(|n| format!("row-{n}")).collect(),
    }
}

fn ids(table: &Table, options: &FanoutOptions, faults: &mut Vec<String>) -> Vec<String> {
    let Some(column) = &options.id_column else {
        return row_ids(table, None);
    };
    let file = &options.input;
    if table.index(column).is_none() {
        let near = suggest::nearest(column, table.columns.iter().map(String::as_str));
        let hint = near.map(|near| format!("; did you mean `{}`?", one_line(near))).unwrap_or_default();
        faults.push(format!("{file}:1:1: there is no column `{}` for the ids{hint}", one_line(column)));
        return Vec::new();
    }
    let mut seen: HashMap<String, u64> = HashMap::new();
    let ids = row_ids(table, Some(column));
    for (row, id) in ids.iter().enumerate() {
        let (line, at) = table.position(row, column).unwrap_or((0, 1));
        if let Err(error) = id::check_id(id) {
            let shown = if id.is_empty() { "the id".to_owned() } else { format!("`{}` is not an id", one_line(id)) };
            faults.push(match id.is_empty() {
                true => format!("{file}:{line}:{at}: {shown} is empty; every row needs one"),
                false => format!("{file}:{line}:{at}: {shown}: {error}"),
            });
        // Folders of file systems that fold case must not collide either.
        } else if let Some(first) = seen.insert(id.to_lowercase(), line) {
            faults.push(format!("{file}:{line}:{at}: the id `{id}` stands on line {first} too; ids must be unique"));
        }
    }
    ids
}

fn template(source: &Source, table: &Table, faults: &mut Vec<String>) -> Option<Template> {
    let name = &source.name;
    match Template::parse(&source.text) {
        Err(error) => {
            faults.push(format!("{name}:{error}"));
            None
        }
        Ok(template) => {
            if let Err(unknown) = template.check(&table.columns) {
                faults.extend(unknown.iter().map(|fault| format!("{name}:{fault}")));
            }
            Some(template)
        }
    }
}

fn read_schema(source: &Source, faults: &mut Vec<String>) -> Option<Value> {
    let name = &source.name;
    let schema: Value = match serde_json::from_str(&source.text) {
        Ok(schema) => schema,
        Err(error) => {
            faults.push(format!("{name}:{}:{}: {error}", error.line(), error.column()));
            return None;
        }
    };
    if !schema.is_object() {
        faults.push(format!("{name}:1:1: a JSON Schema for results is an object"));
        return None;
    }
    if let Err(error) = Checker::compile(&schema) {
        faults.push(format!("{name}: {error}"));
        return None;
    }
    Some(schema)
}

/// The schema's properties, in its order, those of `allOf` and a local `$ref` included.
fn properties(schema: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    collect(schema, schema, 0, &mut names);
    names
}

/// Deepest nesting of `$ref` and `allOf` that is followed.
const DEPTH: usize = 8;

fn collect(root: &Value, schema: &Value, depth: usize, names: &mut Vec<String>) {
    if depth > DEPTH {
        return;
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
    if let Some(found) = target.and_then(|pointer| root.pointer(pointer)) {
        collect(root, found, depth + 1, names);
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        collect(root, part, depth + 1, names);
    }
    for name in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
}

fn job_row(table: &Table, index: usize, id: String, template: &Template) -> JobRow {
    let cells = table.rows.get(index).map(|row| row.cells.as_slice()).unwrap_or_default();
    let value = |name: &str| {
        let column = table.index(name)?;
        cells.get(column).map(String::as_str)
    };
    let item =
        table.columns.iter().zip(cells).map(|(name, cell)| (name.clone(), Value::String(cell.clone()))).collect();
    JobRow { id, instruction: template.render(value), item }
}

/// The stem of a path for a session's id.
pub(super) fn stem(path: &Utf8Path) -> &str {
    path.file_stem().unwrap_or("jobs")
}
