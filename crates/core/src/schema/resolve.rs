//! Following `$ref` inside of one schema document.

use serde_json::Value;

/// Looks up references within a schema.
#[derive(Debug, Clone, Copy)]
pub struct Resolver<'a> {
    root: &'a Value,
}

/// Longest chain of references that is followed.
const CHAIN: usize = 16;

impl<'a> Resolver<'a> {
    /// For references within `root`.
    #[must_use]
    pub fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// The schema itself, behind references and behind "this or null". `None`: a choice of several, or a dead end.
    #[must_use]
    pub fn plain<'s>(&self, schema: &'s Value) -> Option<&'s Value>
    where
        'a: 's,
    {
        let mut here = schema;
        for _ in 0..CHAIN {
            if let Some(reference) = here.get("$ref").and_then(Value::as_str) {
                here = self.root.pointer(reference.strip_prefix('#')?)?;
                continue;
            }
            let choice = here.get("anyOf").or_else(|| here.get("oneOf")).and_then(Value::as_array);
            let Some(choice) = choice else { return Some(here) };
            let mut solid = choice.iter().filter(|one| one.get("type").and_then(Value::as_str) != Some("null"));
            match (solid.next(), solid.next()) {
                (Some(one), None) => here = one,
                _ => return None,
            }
        }
        None
    }
}
