//! The schemas that planex knows by name (`planex schema NAME`).

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::results::{Assess, ConvergeResult, ExecuteResult, ExploreResult, FixResult, PlanResult, ReviewResult};

type Named = (&'static str, Arc<Value>);

static SCHEMAS: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let named = |name, value| (name, Arc::new(value));
    vec![
        named("assess", of::<Assess>()),
        named("explore-waves", of::<ExploreResult>()),
        named("exploration", of::<crate::exploration::Exploration>()),
        named("plan-waves", of::<PlanResult>()),
        named("execute", of::<ExecuteResult>()),
        named("review", of::<ReviewResult>()),
        named("converge", of::<ConvergeResult>()),
        named("fix", of::<FixResult>()),
        named("discovery", of::<crate::discovery::Discovery>()),
        named("project-tech", of::<crate::tech::ProjectTech>()),
        named("plan", plan()),
        named("task", task()),
    ]
});

static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| SCHEMAS.iter().map(|(name, _)| *name).collect());

/// Every name, in the order of the specification.
#[must_use]
pub fn names() -> &'static [&'static str] {
    &NAMES
}

/// The schema of that name.
#[must_use]
pub fn schema(name: &str) -> Option<Arc<Value>> {
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, schema)| Arc::clone(schema))
}

/// The schema of a type, without references: agents read it, and some do not follow them.
fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// `plan.json` (spec 30), as far as other files build on it.
fn plan() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plan",
        "type": "object",
        "required": ["summary", "approach", "task_ids", "task_count", "_metadata"],
        "not": { "required": ["tasks"] },
        "properties": {
            "summary": { "type": "string" },
            "approach": { "type": "string" },
            "task_ids": { "type": "array", "items": { "type": "string" } },
            "task_count": { "type": "integer", "minimum": 0 },
            "complexity": { "enum": ["Low", "Medium", "High"] },
            "estimated_time": { "type": "string" },
            "recommended_execution": { "enum": ["Agent", "Codex", "Sequential", "Parallel", "Phased"] },
            "_metadata": { "type": "object" }
        }
    })
}

/// `.task/*.json` (spec 30), as far as other files build on it.
fn task() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Task",
        "type": "object",
        "required": ["id", "title", "description", "depends_on", "convergence"],
        "properties": {
            "id": { "type": "string" },
            "title": { "type": "string" },
            "description": { "type": "string" },
            "depends_on": texts,
            "convergence": {
                "type": "object",
                "required": ["criteria"],
                "properties": { "criteria": texts }
            },
            "files": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["path"],
                    "properties": {
                        "path": { "type": "string" },
                        "action": { "enum": ["modify", "create", "delete"] },
                        "target": { "type": "string" },
                        "change": { "type": "string" },
                        "changes": texts
                    }
                }
            }
        }
    })
}
