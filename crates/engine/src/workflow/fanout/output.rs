//! The output CSV: whole at any moment, in input order.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use planex_core::csv::{Table, clean_cell, join_list};
use planex_core::job::{CauseKind, JobOutcome, JobStatus};
use planex_core::rows::RowStatus;
use planex_core::text::truncate_chars;
use planex_sys::fs;
use serde_json::Value;

use super::input::Prepared;
use crate::error::Result;

/// planex's own columns, behind the input's and the schema's.
const OWN: [&str; 5] = ["status", "error", "attempts", "duration_s", "run"];

/// Shortest time between two writes while rows come in.
const PACE: Duration = Duration::from_millis(500);

/// A write may take at most this part of the time.
const SHARE: u32 = 10;

/// Longest `error` cell, in characters.
const ERROR_CHARS: usize = 1000;

/// Longest result of a worker without a schema, in characters.
const TEXT_CHARS: usize = 32_000;

/// A row as it ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    pub(super) status: RowStatus,
    /// Empty, or the cause and what happened.
    pub(super) error: String,
}

/// A row that the user skipped, or ended while it ran.
pub(super) fn skipped(outcome: &JobOutcome) -> Verdict {
    let said = if outcome.duration_s > 0.0 { "cancelled by the user" } else { "skipped by the user" };
    Verdict { status: RowStatus::Skipped, error: said.to_owned() }
}

/// Whether `bytes` can be an output of ours: a table with planex's own columns.
pub(super) fn looks_written(bytes: &[u8]) -> bool {
    let has =
        |table: &Table, name: &str| table.columns.iter().any(|column| column.trim_start_matches("result_") == name);
    Table::parse(bytes).is_ok_and(|table| OWN.iter().all(|name| has(&table, name)))
}

/// What a row's outcome comes to: the status that was reported, not that of the run.
pub(super) fn verdict(outcome: &JobOutcome) -> Verdict {
    let failed = |error: String| Verdict { status: RowStatus::Failed, error: tidy(&error) };
    match outcome.status {
        JobStatus::Completed => {}
        JobStatus::Failed | JobStatus::Timeout | JobStatus::Cancelled => {
            let (kind, message) = match &outcome.cause {
                Some(cause) => (cause.kind, cause.message.as_str()),
                None if outcome.status == JobStatus::Timeout => (CauseKind::Timeout, "the time limit ended it"),
                None => (CauseKind::Failed, "it failed"),
            };
            return failed(format!("{}: {message}", word(kind)));
        }
    }
    let result = outcome.result.as_ref();
    let field = |name: &str| result.and_then(|result| result.get(name));
    let said = |fallback: &str| {
        field("error").and_then(Value::as_str).filter(|e| !e.trim().is_empty()).unwrap_or(fallback).to_owned()
    };
    if field("status").and_then(Value::as_str).is_some_and(|status| status.eq_ignore_ascii_case("failed")) {
        return failed(format!("failed: {}", said("the worker reported a failure")));
    }
    if field("tests_passed") == Some(&Value::Bool(false)) {
        return failed(format!("failed: {}", said("its tests did not pass")));
    }
    Verdict { status: RowStatus::Completed, error: String::new() }
}

/// The first word of an `error` cell: one of the six of the interface.
fn word(kind: CauseKind) -> &'static str {
    match kind {
        CauseKind::Failed | CauseKind::Cancelled | CauseKind::Budget => "failed",
        CauseKind::Timeout | CauseKind::Idle => "timeout",
        CauseKind::NoResult => "no result",
        CauseKind::InvalidResult => "invalid result",
        CauseKind::AgentNotUsable | CauseKind::Auth => "agent not usable",
        CauseKind::RateLimited | CauseKind::Quota => "rate limited",
    }
}

fn tidy(text: &str) -> String {
    truncate_chars(clean_cell(text).trim(), ERROR_CHARS)
}

/// The output in memory and on disk.
#[derive(Debug)]
pub(super) struct Output {
    path: Utf8PathBuf,
    table: Table,
    properties: Vec<(String, String)>,
    own: BTreeMap<&'static str, String>,
    written: Option<Instant>,
    cost: Duration,
    dirty: bool,
}

impl Output {
    /// All rows pending, in memory: nothing is written before [`Self::begin`].
    pub(super) fn new(prepared: &Prepared) -> Self {
        let mut table = prepared.table.clone();
        let mut take = |wished: &str| {
            let mut name = wished.to_owned();
            while table.index(&name).is_some() {
                name = format!("result_{name}");
            }
            table.add_column(&name);
            name
        };
        let properties = prepared.properties.iter().map(|name| (name.clone(), take(name))).collect();
        let own = OWN.iter().map(|name| (*name, take(name))).collect();
        let mut output = Self {
            path: prepared.output.clone(),
            table,
            properties,
            own,
            written: None,
            cost: Duration::ZERO,
            dirty: true,
        };
        for row in 0..output.table.rows.len() {
            output.set_own(row, "status", RowStatus::Pending.as_str());
        }
        output
    }

    /// Writes it for the first time, once it holds what earlier planexes did: nobody sees those rows pending.
    pub(super) fn begin(&mut self) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        self.write(false)
    }

    fn set_own(&mut self, row: usize, name: &str, value: impl Into<String>) {
        if let Some(column) = self.own.get(name) {
            self.table.set(row, column, value);
        }
    }

    /// Puts in what became of one row; written when it is time.
    pub(super) fn put(&mut self, row: usize, outcome: &JobOutcome, verdict: &Verdict, attempts: u32) -> Result<()> {
        for (property, column) in &self.properties {
            let value = match (&outcome.result, property.as_str()) {
                (Some(result), _) => result.get(property).map_or_else(String::new, cell),
                (None, _) => String::new(),
            };
            self.table.set(row, column, value);
        }
        // Without a schema there is one column: the whole result, or the final text.
        if let [(name, column)] = self.properties.as_slice()
            && name == "result"
            && outcome.status == JobStatus::Completed
        {
            let whole = outcome.result.as_ref().and_then(|result| result.get("result").or(Some(result)));
            let text = whole.map_or_else(|| truncate_chars(&clean_cell(&outcome.text), TEXT_CHARS), cell);
            self.table.set(row, column, text.trim());
        }
        self.set_own(row, "status", verdict.status.as_str());
        self.set_own(row, "error", verdict.error.clone());
        self.set_own(row, "attempts", attempts.to_string());
        self.set_own(row, "duration_s", format!("{:.1}", outcome.duration_s));
        let run = if attempts == 0 { String::new() } else { outcome.run_id.clone() };
        self.set_own(row, "run", run);
        self.dirty = true;
        let pause = PACE.max(self.cost.saturating_mul(SHARE));
        if self.written.is_some_and(|at| at.elapsed() >= pause) { self.write(false) } else { Ok(()) }
    }

    /// Writes what is not written yet, flushed to the disk; nothing if it was never begun.
    pub(super) fn finish(&mut self) -> Result<()> {
        if self.written.is_none() {
            return Ok(());
        }
        self.dirty = true;
        self.write(true)
    }

    fn write(&mut self, flush: bool) -> Result<()> {
        if !self.dirty {
            return Ok(());
        }
        let begun = Instant::now();
        let text = self.table.to_csv();
        if flush {
            fs::write_atomic(&self.path, text.as_bytes())?;
        } else {
            fs::write_atomic_nosync(&self.path, text.as_bytes())?;
        }
        self.cost = begun.elapsed();
        (self.written, self.dirty) = (Some(Instant::now()), false);
        Ok(())
    }
}

/// A value as a cell: text as it is, lists of plain values with `;`, everything else as JSON.
fn cell(value: &Value) -> String {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(clean_cell(text)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Value::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(plain).collect();
            match texts {
                Some(texts) if texts.iter().all(|text| !text.contains(';')) => join_list(&texts),
                _ => value.to_string(),
            }
        }
        other => plain(other).unwrap_or_else(|| other.to_string()),
    }
}
