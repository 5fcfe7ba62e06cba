//! Checking values.

use std::fmt;

use serde_json::Value;

use super::resolve::Resolver;
use crate::repair;

/// Most faults that are reported for one value.
const MOST_FAULTS: usize = 20;
/// Longest message of one fault, in characters.
const LONGEST_MESSAGE: usize = 200;

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a usable JSON Schema at `{pointer}`: {message}")]
pub struct SchemaError {
    /// Where in the schema.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

/// One way in which a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer into the value; empty for the whole.
    pub pointer: String,
    /// What is wrong there, at most 200 characters.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{at}: {}", self.message)
    }
}

/// A value that passed, and what had to be bent for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fitted {
    /// The value.
    pub value: Value,
    /// What was changed, one phrase each.
    pub notes: Vec<String>,
}

/// A compiled schema.
pub struct Checker {
    schema: Value,
    validator: jsonschema::Validator,
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Checker {
    /// Compiles a schema (any draft it names; 2020-12 by default).
    ///
    /// # Errors
    /// It is not a JSON Schema, or refers to something outside of itself.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        match jsonschema::options().build(schema) {
            Ok(validator) => Ok(Self { schema: schema.clone(), validator }),
            Err(error) => {
                Err(SchemaError { pointer: error.instance_path().to_string(), message: short(&error.to_string()) })
            }
        }
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Every fault of the value as it is, at most 20; none: it fits.
    #[must_use]
    pub fn check(&self, value: &Value) -> Vec<Fault> {
        let errors = self.validator.iter_errors(value).take(MOST_FAULTS);
        errors.map(|e| Fault { pointer: e.instance_path().to_string(), message: short(&e.to_string()) }).collect()
    }

    /// The value if it fits, bent where the meaning is certain: see [`repair::coerce`].
    ///
    /// Malformed entries of a top-level `discoveries` are dropped and noted: no result fails for what it adds to the
    /// board.
    ///
    /// # Errors
    /// The faults that are left.
    pub fn accept(&self, value: &Value) -> Result<Fitted, Vec<Fault>> {
        let (mut value, mut notes) = repair::coerce(value, &self.schema);
        let faults = self.check(&value);
        if faults.is_empty() {
            return Ok(Fitted { value, notes });
        }
        let dropped = self.sift(&mut value);
        if dropped == 0 {
            return Err(faults);
        }
        notes.push(format!("/discoveries: {dropped} malformed left out"));
        let faults = self.check(&value);
        if faults.is_empty() { Ok(Fitted { value, notes }) } else { Err(faults) }
    }

    /// Drops the entries of `discoveries` that do not fit on their own; how many.
    fn sift(&self, value: &mut Value) -> usize {
        let resolver = Resolver::new(&self.schema);
        let item = self
            .schema
            .pointer("/properties/discoveries")
            .and_then(|list| resolver.plain(list))
            .and_then(|list| list.get("items"));
        let Some(item) = item else { return 0 };
        let Some(found) = value.get_mut("discoveries") else { return 0 };
        let mut alone = item.clone();
        if let (Some(defs), Some(alone)) = (self.schema.get("$defs"), alone.as_object_mut()) {
            alone.insert("$defs".to_owned(), defs.clone());
        }
        let Ok(validator) = jsonschema::options().build(&alone) else { return 0 };
        let Some(entries) = found.as_array_mut() else {
            *found = Value::Array(Vec::new());
            return 1;
        };
        let before = entries.len();
        entries.retain(|entry| validator.is_valid(entry));
        before - entries.len()
    }
}

fn short(message: &str) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE - 1) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}
