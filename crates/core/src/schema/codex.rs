//! The dialect of `codex exec --output-schema`.

use serde_json::{Map, Value, json};

/// `schema` in the strict dialect: every object closed, every property required, the optional ones nullable.
///
/// References and `$defs` stay. An object without named properties cannot be said in this dialect; where such a
/// property is optional it is left out, where it is required it becomes an empty object.
/// [`super::Checker::accept`] drops the nulls again that come back for optional properties.
#[must_use]
pub fn strict_for_codex(schema: &Value) -> Value {
    strict(schema, 0)
}

const DEPTH: usize = 64;

/// Keywords that the strict dialect refuses or ignores.
const REFUSED: [&str; 4] = ["default", "$schema", "format", "title"];

fn strict(schema: &Value, depth: usize) -> Value {
    let Some(map) = schema.as_object() else { return json!({}) };
    if depth > DEPTH {
        return json!({});
    }
    let mut out = Map::new();
    for (key, value) in map {
        let value = match key.as_str() {
            key if REFUSED.contains(&key) => continue,
            "properties" | "required" | "additionalProperties" => continue,
            "items" => strict(value, depth + 1),
            "anyOf" | "oneOf" | "allOf" => each(value, depth),
            "$defs" | "definitions" => named(value, depth),
            _ => value.clone(),
        };
        // Only `anyOf` is known there.
        let key = if key == "oneOf" { "anyOf" } else { key };
        out.insert(key.to_owned(), value);
    }
    if is_object(map) {
        close(map, &mut out, depth);
    }
    Value::Object(out)
}

fn close(map: &Map<String, Value>, out: &mut Map<String, Value>, depth: usize) {
    let required: Vec<&str> =
        map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut properties = Map::new();
    for (key, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let needed = required.contains(&key.as_str());
        if !needed && is_free(property) {
            continue;
        }
        let inner = strict(property, depth + 1);
        properties.insert(key.clone(), if needed { inner } else { nullable(inner) });
    }
    let names: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
    out.insert("properties".to_owned(), Value::Object(properties));
    out.insert("required".to_owned(), Value::Array(names));
    out.insert("additionalProperties".to_owned(), Value::Bool(false));
}

fn each(list: &Value, depth: usize) -> Value {
    let all = list.as_array().into_iter().flatten();
    Value::Array(all.map(|one| strict(one, depth + 1)).collect())
}

fn named(map: &Value, depth: usize) -> Value {
    let all = map.as_object().into_iter().flatten();
    Value::Object(all.map(|(key, one)| (key.clone(), strict(one, depth + 1))).collect())
}

fn is_object(map: &Map<String, Value>) -> bool {
    map.contains_key("properties") || has_type(map, "object")
}

fn has_type(map: &Map<String, Value>, kind: &str) -> bool {
    match map.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(many)) => many.iter().any(|one| one.as_str() == Some(kind)),
        _ => false,
    }
}

/// Anything at all, or an object of any keys.
fn is_free(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return true };
    let shaped = ["properties", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
    if shaped.iter().any(|key| map.contains_key(*key)) {
        return false;
    }
    !map.contains_key("type") || has_type(map, "object")
}

fn nullable(mut schema: Value) -> Value {
    let Some(map) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(words)) = map.get_mut("enum")
        && !words.contains(&Value::Null)
    {
        words.push(Value::Null);
    }
    match map.get_mut("type") {
        Some(Value::String(one)) if one == "null" => schema,
        Some(Value::String(one)) => {
            let both = json!([one, "null"]);
            map.insert("type".to_owned(), both);
            schema
        }
        Some(Value::Array(many)) => {
            if !many.iter().any(|one| one == "null") {
                many.push(json!("null"));
            }
            schema
        }
        _ => {
            let has_null =
                |list: &Value| list.as_array().into_iter().flatten().any(|one| one.get("type") == Some(&json!("null")));
            if map.get("anyOf").is_some_and(has_null) {
                return schema;
            }
            json!({ "anyOf": [schema, { "type": "null" }] })
        }
    }
}
