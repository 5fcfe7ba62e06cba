//! What several adapters need: reading values of any shape, bounded text, MCP configuration.

use std::collections::BTreeMap;

use planex_core::job::{JobSpec, Usage};
use planex_core::text::truncate_bytes;
use serde_json::{Map, Value, json};

use crate::adapter::{AgentEvent, Launch, MAX_ARGUMENT, MCP_SERVER, McpServer};

/// Bytes of final text that a reader keeps.
pub(super) const MAX_TEXT: usize = 1024 * 1024;

/// Notes that a reader keeps.
const MAX_NOTES: usize = 50;

/// The text at `path`, or `""`.
pub(super) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number at `path`, or 0.
pub(super) fn number(value: &Value, path: &str) -> u64 {
    let found = value.pointer(path);
    found.and_then(|n| n.as_u64().or_else(|| n.as_f64().map(whole))).unwrap_or(0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is wanted")]
fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}

/// The number at `path`.
pub(super) fn money(value: &Value, path: &str) -> Option<f64> {
    value.pointer(path).and_then(Value::as_f64).filter(|n| n.is_finite() && *n >= 0.0)
}

/// The array at `path`, or nothing.
pub(super) fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    value.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A line as a JSON object; anything else is not an event.
pub(super) fn object(line: &str) -> Option<Value> {
    let line = line.trim();
    if !line.starts_with('{') {
        return None;
    }
    serde_json::from_str(line).ok()
}

/// Usage as Anthropic-shaped events tell it: tokens read from a cache come on top of `input_tokens`.
pub(super) fn anthropic_usage(usage: &Value, cost: Option<f64>) -> Usage {
    let cached = number(usage, "/cache_read_input_tokens");
    let written = number(usage, "/cache_creation_input_tokens");
    Usage {
        input_tokens: number(usage, "/input_tokens").saturating_add(cached).saturating_add(written),
        cached_input_tokens: cached,
        output_tokens: number(usage, "/output_tokens"),
        cost_usd: cost,
    }
}

/// The end of a text that grows; the oldest is dropped beyond [`MAX_TEXT`] bytes.
#[derive(Debug, Default)]
pub(super) struct Tail(String);

impl Tail {
    pub(super) fn push(&mut self, text: &str) {
        self.0.push_str(text);
        // Twice the limit before cutting: each byte is moved at most once more.
        if self.0.len() > 2 * MAX_TEXT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let from = self.0.ceil_char_boundary(self.0.len().saturating_sub(MAX_TEXT));
        self.0.drain(..from);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn take(&mut self) -> String {
        if self.0.len() > MAX_TEXT {
            self.cut();
        }
        std::mem::take(&mut self.0)
    }
}

/// Things to say, bounded in number and length.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    pub(super) fn push(&mut self, note: impl AsRef<str>) {
        if self.0.len() < MAX_NOTES {
            self.0.push(truncate_bytes(note.as_ref(), 500));
        }
    }

    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }
}

/// One line of activity for the call of a tool: its name and what it is called with.
pub(super) fn tool_activity(name: &str, input: &Value) -> AgentEvent {
    const TELLING: [&str; 8] =
        ["command", "file_path", "filePath", "path", "absolute_path", "pattern", "query", "description"];
    let told = TELLING.iter().find_map(|key| input.get(key).and_then(Value::as_str));
    AgentEvent::Activity(match told {
        Some(told) => format!("{name}: {}", truncate_bytes(told, 300)),
        None => name.to_owned(),
    })
}

/// The job's schema as compact JSON, where it is short enough for an argument.
pub(super) fn schema_argument(spec: &JobSpec) -> Option<String> {
    let schema = spec.schema.as_ref()?;
    Some(schema.to_string()).filter(|text| text.len() <= MAX_ARGUMENT)
}

/// `{"mcpServers":{"planex":{…}}}` as claude and qwen take it.
pub(super) fn mcp_servers(server: &McpServer, trust: bool) -> Value {
    let mut entry = json!({ "command": server.command, "args": server.args, "env": server.env });
    if trust {
        entry["trust"] = Value::Bool(true);
    }
    json!({ "mcpServers": { MCP_SERVER: entry } })
}

/// Arguments from configuration: those of the mode, then those of the role.
pub(super) fn configured_args(spec: &JobSpec, launch: &Launch<'_>) -> Vec<String> {
    let of_mode = match spec.mode {
        planex_core::job::Mode::Analysis => &launch.settings.analysis_args,
        planex_core::job::Mode::Write => &launch.settings.write_args,
    };
    of_mode.iter().chain(&spec.extra_args).cloned().collect()
}

/// Variables that hold unless the user set them.
pub(super) fn defaults(launch: &Launch<'_>, pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let unset = |name: &str| launch.environment.get(name).is_none();
    let kept = pairs.iter().filter(|(name, _)| unset(name));
    kept.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// `over` laid on `base`: objects are merged, everything else is replaced.
pub(super) fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

/// `value` as an object, an empty one if it is none.
pub(super) fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// What is said when an agent's process ended without its end condition.
pub(super) fn ended_early(exit: &planex_core::job::Exit, stderr_tail: &str) -> String {
    use planex_core::job::Exit;
    let how = match exit {
        Exit::Code(code) => format!("it exited with {code} without saying that it was done"),
        Exit::Signal(signal) => format!("signal {signal} ended it before it was done"),
        Exit::Lost => "it was lost before it was done".to_owned(),
    };
    match last_line(stderr_tail) {
        Some(line) => format!("{line} ({how})"),
        None => how,
    }
}

/// The last line of standard error that says something.
pub(super) fn last_line(stderr_tail: &str) -> Option<String> {
    let says = |line: &&str| !line.is_empty() && line.chars().any(char::is_alphanumeric);
    stderr_tail.lines().map(str::trim).rfind(says).map(|line| truncate_bytes(line, 500))
}
