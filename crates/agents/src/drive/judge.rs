//! Which of all that an agent left is its result (spec 10, *The result*).

use planex_core::job::{JobSpec, ResultSource};
use planex_core::mask::Masker;
use planex_core::repair::{Picked, pick};
use planex_core::schema::{Checker, Fault, Fitted};
use planex_core::text::{strip_controls, truncate_bytes};
use planex_sys::fs;
use serde_json::Value;

use crate::adapter::{Ending, RunFiles, Sources};

/// Bytes of reports and of a result file that are read.
const MAX_READ: u64 = 4 * 1024 * 1024;

/// What the outcome's notes say when a worker asked to stop the rest; see [`asked_to_stop`].
pub const STOP_NOTE: &str = "the agent asked to stop the rest";

/// Whether the worker asked to stop the rest of its fanout (`stop: true` in its report).
#[must_use]
pub fn asked_to_stop(outcome: &planex_core::job::JobOutcome) -> bool {
    outcome.notes.iter().any(|note| note == STOP_NOTE)
}

/// How the fault of a result with another id begins.
const FOREIGN: &str = "it carries the id";

/// A result that counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Accepted {
    pub(crate) result: Value,
    pub(crate) source: ResultSource,
}

/// What judging came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// A valid result.
    Accepted(Accepted),
    /// Nothing was reported.
    Nothing,
    /// Something was reported, nothing that fits: what is wrong with it, for the agent.
    Unfit(String),
    /// Only results of another id were reported, which count as none.
    Foreign(String),
}

/// Checks results of one job.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    /// What is judged is masked first: complaints quote it, cut.
    masker: &'a Masker,
    checker: Option<Checker>,
    expected_id: Option<&'a str>,
    /// Whether the schema knows a property `id`, to be filled in where a result has none.
    has_id: bool,
    /// Whether `stop` is the schema's own word.
    has_stop: bool,
}

impl<'a> Judge<'a> {
    /// A judge for `spec`.
    ///
    /// # Errors
    /// The schema itself is wrong.
    pub(crate) fn new(spec: &'a JobSpec, masker: &'a Masker) -> Result<Self, planex_core::schema::SchemaError> {
        let checker = spec.schema.as_ref().map(Checker::compile).transpose()?;
        let has = |name: &str| {
            let properties = spec.schema.as_ref().and_then(|schema| schema.get("properties"));
            properties.is_some_and(|properties| properties.get(name).is_some())
        };
        Ok(Self { masker, checker, expected_id: spec.expected_id.as_deref(), has_id: has("id"), has_stop: has("stop") })
    }

    /// The value as the schema takes it, or what is wrong with it.
    fn fit(&self, value: &Value) -> Result<Fitted, Vec<Fault>> {
        let mut value = value.clone();
        if let (Some(expected), Some(map)) = (self.expected_id, value.as_object_mut()) {
            match map.get("id") {
                None | Some(Value::Null) if self.has_id => {
                    map.insert("id".to_owned(), Value::from(expected));
                }
                None | Some(Value::Null) => {}
                Some(id) if same_id(id, expected) => {}
                Some(id) => {
                    let message = format!("{FOREIGN} {id}, but this job's id is \"{expected}\"");
                    return Err(vec![Fault { pointer: "/id".to_owned(), message }]);
                }
            }
        }
        match &self.checker {
            Some(checker) => checker.accept(&value),
            None => Ok(Fitted { value, notes: Vec::new() }),
        }
    }

    fn whole(&self, value: &Value) -> Picked {
        match self.fit(value) {
            Ok(fitted) => Picked::Found { fitted, level: 0, repairs: Vec::new() },
            Err(faults) => Picked::Unfit(faults),
        }
    }

    /// The first valid report that came by MCP.
    pub(crate) fn reports(&self, files: &RunFiles, notes: &mut Vec<String>) -> Verdict {
        let mut accepted: Option<Accepted> = None;
        let mut complaint = None;
        let Ok(bytes) = fs::read_head(&files.reports, MAX_READ) else { return Verdict::Nothing };
        for line in String::from_utf8_lossy(&bytes).lines() {
            let Ok(mut report) = serde_json::from_str::<Value>(line) else { continue };
            self.masker.mask_json(&mut report);
            let Some(result) = report.get("result") else { continue };
            if accepted.is_some() {
                notes.push("a later report was ignored: the first valid one counts".to_owned());
                continue;
            }
            match self.take(self.whole(result), ResultSource::Mcp, notes) {
                Verdict::Accepted(found) => {
                    if report.get("stop").and_then(Value::as_bool) == Some(true) {
                        stop(notes);
                    }
                    accepted = Some(found);
                }
                bad @ (Verdict::Unfit(_) | Verdict::Foreign(_)) => complaint = Some(bad),
                Verdict::Nothing => {}
            }
        }
        accepted.map(Verdict::Accepted).or(complaint).unwrap_or(Verdict::Nothing)
    }

    /// The result file.
    pub(crate) fn file(&self, files: &RunFiles, notes: &mut Vec<String>) -> Verdict {
        let Ok(bytes) = fs::read_head(&files.result, MAX_READ) else { return Verdict::Nothing };
        self.text(&String::from_utf8_lossy(&bytes), ResultSource::File, notes)
    }

    /// A text: its last JSON value that fits; without a schema the text itself.
    pub(crate) fn text(&self, text: &str, source: ResultSource, notes: &mut Vec<String>) -> Verdict {
        let text = &*self.masker.mask_record(text);
        if text.trim().is_empty() && (self.checker.is_some() || source == ResultSource::File) {
            return Verdict::Nothing;
        }
        if self.checker.is_none() {
            let result = match source {
                ResultSource::File => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
                _ => Value::from(text),
            };
            return Verdict::Accepted(Accepted { result, source });
        }
        // The `[` of a colour would look like the beginning of a list.
        let plain = text.contains(['\u{1b}', '\u{9b}']).then(|| strip_controls(text));
        let picked = pick(plain.as_deref().unwrap_or(text), |value| self.fit(value));
        self.take(picked, source, notes)
    }

    /// A result that is a value already.
    pub(crate) fn value(&self, value: &Value, source: ResultSource, notes: &mut Vec<String>) -> Verdict {
        let mut value = value.clone();
        self.masker.mask_json(&mut value);
        self.take(self.whole(&value), source, notes)
    }

    /// Everything that counts, in order. `well`: the agent's end condition was met; else only a report counts, and of
    /// an agent whose `report_beats_exit` the result file.
    pub(crate) fn all(&self, ending: &Ending, files: &RunFiles, rules: Rules, notes: &mut Vec<String>) -> Verdict {
        let mut complaint = None;
        let mut settle = |verdict: Verdict| match verdict {
            Verdict::Accepted(accepted) => Some(Verdict::Accepted(accepted)),
            bad @ (Verdict::Unfit(_) | Verdict::Foreign(_)) => {
                complaint.get_or_insert(bad);
                None
            }
            Verdict::Nothing => None,
        };
        if let Some(done) = settle(self.reports(files, notes)) {
            return done;
        }
        if let (true, Sources::All, Some(value)) = (ending.well, rules.sources, &ending.structured)
            && let Some(done) = settle(self.value(value, ResultSource::Native, notes))
        {
            return done;
        }
        let file_counts = rules.sources != Sources::Text && (ending.well || rules.report_beats_exit);
        if file_counts && let Some(done) = settle(self.file(files, notes)) {
            return done;
        }
        if rules.sources != Sources::File
            && ending.well
            && let Some(done) = settle(self.text(&ending.text, ResultSource::Text, notes))
        {
            return done;
        }
        complaint.unwrap_or(Verdict::Nothing)
    }

    fn take(&self, picked: Picked, source: ResultSource, notes: &mut Vec<String>) -> Verdict {
        match picked {
            Picked::Found { fitted, repairs, .. } => {
                notes.extend(repairs.into_iter().chain(fitted.notes).map(|note| format!("repaired: {note}")));
                if !self.has_stop && fitted.value.get("stop").and_then(Value::as_bool) == Some(true) {
                    stop(notes);
                }
                Verdict::Accepted(Accepted { result: fitted.value, source })
            }
            Picked::Nothing => Verdict::Nothing,
            other @ (Picked::Unfit(_) | Picked::CutOff | Picked::Broken(_)) => {
                let foreign =
                    matches!(&other, Picked::Unfit(faults) if faults.iter().any(|f| f.message.starts_with(FOREIGN)));
                let complaint = truncate_bytes(&other.complaint().unwrap_or_default(), 2000);
                notes.push(format!("a result from the {} was not taken: {complaint}", name(source)));
                if foreign { Verdict::Foreign(complaint) } else { Verdict::Unfit(complaint) }
            }
        }
    }
}

/// What counts for an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) sources: Sources,
    pub(crate) report_beats_exit: bool,
}

fn stop(notes: &mut Vec<String>) {
    if !notes.iter().any(|note| note == STOP_NOTE) {
        notes.push(STOP_NOTE.to_owned());
    }
}

fn name(source: ResultSource) -> &'static str {
    match source {
        ResultSource::Mcp => "MCP tool",
        ResultSource::Native => "structured output",
        ResultSource::File => "result file",
        ResultSource::Text => "text",
        ResultSource::InProcess => "agent",
    }
}

fn same_id(id: &Value, expected: &str) -> bool {
    match id {
        Value::String(text) => text.trim() == expected.trim(),
        Value::Number(number) => number.to_string() == expected.trim(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
