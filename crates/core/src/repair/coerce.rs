//! Bending a value towards its schema where the meaning is certain.

use serde_json::{Map, Value};

use crate::schema::Resolver;

/// Deepest nesting that is followed; schemas may refer to themselves.
const DEPTH: usize = 64;

/// `value` with what is certainly meant put in the schema's own terms, and a note on each change.
///
/// `"true"` becomes `true`, `"3"` a number, a text where a list is asked for a list, a list of texts where a text is
/// asked for a text, an enum's word its exact spelling; null where a property may be absent is dropped.
#[must_use]
pub fn coerce(value: &Value, schema: &Value) -> (Value, Vec<String>) {
    let mut walk = Walk { resolver: Resolver::new(schema), notes: Vec::new() };
    let mut value = value.clone();
    walk.visit(&mut value, schema, "", 0);
    (value, walk.notes)
}

struct Walk<'a> {
    resolver: Resolver<'a>,
    notes: Vec<String>,
}

impl Walk<'_> {
    fn visit(&mut self, value: &mut Value, schema: &Value, at: &str, depth: usize) {
        if depth > DEPTH {
            return;
        }
        let Some(schema) = self.resolver.plain(schema) else { return };
        let schema = schema.clone();
        self.scalar(value, &schema, at);
        match value {
            Value::Object(map) => self.object(map, &schema, at, depth),
            Value::Array(items) => {
                if let Some(item) = schema.get("items") {
                    for (index, entry) in items.iter_mut().enumerate() {
                        self.visit(entry, item, &format!("{at}/{index}"), depth + 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>, schema: &Value, at: &str, depth: usize) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let nulls: Vec<String> = map
            .iter()
            .filter(|(key, value)| {
                value.is_null() && !required.contains(&key.as_str()) && properties.contains_key(*key)
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in nulls {
            // Not worth a note: null and absent mean the same to every reader here.
            map.shift_remove(&key);
        }
        for (key, value) in map.iter_mut() {
            if let Some(property) = properties.get(key) {
                self.visit(value, property, &format!("{at}/{key}"), depth + 1);
            }
        }
    }

    fn scalar(&mut self, value: &mut Value, schema: &Value, at: &str) {
        if accepts(schema, value) {
            self.spelling(value, schema, at);
            return;
        }
        let changed = match &*value {
            Value::String(text) => from_text(text, schema).or_else(|| self.text_to_list(text, schema)),
            Value::Number(number) if allows(schema, "string") => {
                Some((Value::String(number.to_string()), "number read as text"))
            }
            Value::Bool(flag) if allows(schema, "string") => {
                Some((Value::String(flag.to_string()), "flag read as text"))
            }
            Value::Array(items) if allows(schema, "string") => {
                join(items).map(|text| (Value::String(text), "list read as text"))
            }
            Value::Object(_) if allows(schema, "array") && self.item_allows(schema, "object") => {
                Some((Value::Array(vec![value.clone()]), "object read as a list of one"))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if let Some((new, note)) = changed {
            *value = new;
            self.note(at, note);
        }
        self.spelling(value, schema, at);
    }

    fn text_to_list(&self, text: &str, schema: &Value) -> Option<(Value, &'static str)> {
        if !allows(schema, "array") || !self.item_allows(schema, "string") {
            return None;
        }
        Some((Value::Array(split(text).into_iter().map(Value::String).collect()), "text read as a list"))
    }

    fn item_allows(&self, schema: &Value, kind: &str) -> bool {
        schema.get("items").and_then(|item| self.resolver.plain(item)).is_none_or(|item| allows(item, kind))
    }

    /// `Completed` for `completed`, where one word alone differs by case only.
    fn spelling(&mut self, value: &mut Value, schema: &Value, at: &str) {
        let (Some(words), Value::String(text)) = (schema.get("enum").and_then(Value::as_array), &*value) else {
            return;
        };
        if words.iter().any(|word| word.as_str() == Some(text)) {
            return;
        }
        let given = text.trim();
        let mut alike = words.iter().filter_map(Value::as_str).filter(|word| word.eq_ignore_ascii_case(given));
        if let (Some(word), None) = (alike.next(), alike.next()) {
            *value = Value::String(word.to_owned());
            self.note(at, "spelling of a fixed word put right");
        }
    }

    fn note(&mut self, at: &str, what: &str) {
        let at = if at.is_empty() { "/" } else { at };
        self.notes.push(format!("{at}: {what}"));
    }
}

fn from_text(text: &str, schema: &Value) -> Option<(Value, &'static str)> {
    let word = text.trim();
    if allows(schema, "boolean") {
        if word.eq_ignore_ascii_case("true") {
            return Some((Value::Bool(true), "text read as true"));
        }
        if word.eq_ignore_ascii_case("false") {
            return Some((Value::Bool(false), "text read as false"));
        }
    }
    let number = if allows(schema, "number") {
        serde_json::from_str::<serde_json::Number>(word).ok()
    } else if allows(schema, "integer") {
        word.parse::<i64>().ok().map(Into::into)
    } else {
        None
    };
    number.map(|n| (Value::Number(n), "text read as a number"))
}

/// Whether the schema names this type among its own.
fn allows(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(many)) => many.iter().any(|one| one.as_str() == Some(kind)),
        _ => false,
    }
}

/// Whether the value's type is among the schema's, or the schema names none.
fn accepts(schema: &Value, value: &Value) -> bool {
    if schema.get("type").is_none() {
        return true;
    }
    match value {
        Value::Null => allows(schema, "null"),
        Value::Bool(_) => allows(schema, "boolean"),
        Value::Number(_) => allows(schema, "number") || allows(schema, "integer"),
        Value::String(_) => allows(schema, "string"),
        Value::Array(_) => allows(schema, "array"),
        Value::Object(_) => allows(schema, "object"),
    }
}

/// A text as a list: split at newlines and `;` where every part is one word, as paths and ids are; else one entry.
fn split(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split(['\n', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.iter().any(|part| part.contains(char::is_whitespace)) {
        return vec![text.trim().to_owned()];
    }
    parts.into_iter().map(str::to_owned).collect()
}

/// The reverse: words joined by `;`, sentences by newlines. `None`: not all are texts.
fn join(items: &[Value]) -> Option<String> {
    let parts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    let parts = parts?;
    let words = parts.iter().all(|part| !part.contains(char::is_whitespace));
    Some(parts.join(if words { ";" } else { "\n" }))
}
