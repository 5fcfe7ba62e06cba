//! The protocols. Each module reads requests into shared words and writes answers out of them.

mod chat;
mod gemini;
mod messages;
mod responses;
mod tools;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reply::{Reply, Usage};
use super::request::{Item, ModelRequest};
use tools::Said;

/// A protocol between agent and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// OpenAI's Responses: codex.
    Responses,
    /// Anthropic's Messages: claude.
    Messages,
    /// Google's generateContent: gemini.
    Gemini,
    /// OpenAI's Chat Completions: opencode, qwen.
    Chat,
}

impl Dialect {
    /// By the address of a request; `None`: it asks no model.
    pub(super) fn of(method: &str, path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match path {
            _ if method != "POST" => None,
            _ if path.ends_with("/responses") => Some(Self::Responses),
            _ if path.ends_with("/messages") => Some(Self::Messages),
            _ if path.ends_with("/chat/completions") => Some(Self::Chat),
            _ if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") => Some(Self::Gemini),
            _ => None,
        }
    }

    /// The conversation.
    pub(super) fn items(self, body: &Value) -> Vec<Item> {
        match self {
            Self::Responses => responses::items(body),
            Self::Messages => messages::items(body),
            Self::Gemini => gemini::items(body),
            Self::Chat => chat::items(body),
        }
    }

    /// Names of the tools offered.
    pub(super) fn tools(self, body: &Value) -> Vec<String> {
        let names: Vec<&Value> = match self {
            Self::Responses => list(&body["tools"]).map(|tool| &tool["name"]).collect(),
            Self::Messages => list(&body["tools"]).map(|tool| &tool["name"]).collect(),
            Self::Gemini => list(&body["tools"])
                .flat_map(|tool| list(&tool["functionDeclarations"]))
                .map(|function| &function["name"])
                .collect(),
            Self::Chat => list(&body["tools"]).map(|tool| &tool["function"]["name"]).collect(),
        };
        names.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The schema of the final answer.
    pub(super) fn schema(self, body: &Value) -> Option<Value> {
        let schema = match self {
            Self::Responses => &body["text"]["format"]["schema"],
            Self::Messages => tool(body, |tool| tool["name"] == "StructuredOutput", "input_schema"),
            Self::Gemini => &body["generationConfig"]["responseJsonSchema"],
            Self::Chat => {
                let entry = list(&body["tools"]).find(|tool| tool["function"]["name"] == "structured_output");
                entry.map_or(&body["response_format"]["json_schema"]["schema"], |tool| &tool["function"]["parameters"])
            }
        };
        (!schema.is_null()).then(|| schema.clone())
    }

    /// The events of a streamed answer, each as it goes over the wire.
    pub(super) fn events(self, request: &ModelRequest, reply: &Reply, number: usize) -> Vec<String> {
        let said = Said::new(request, reply, number);
        match self {
            Self::Responses => responses::events(&said),
            Self::Messages => messages::events(&said),
            Self::Gemini => gemini::events(&said),
            Self::Chat => chat::events(&said),
        }
    }

    /// An answer that is not streamed.
    pub(super) fn whole(self, request: &ModelRequest, reply: &Reply, number: usize) -> Value {
        let said = Said::new(request, reply, number);
        match self {
            Self::Responses => responses::whole(&said),
            Self::Messages => messages::whole(&said),
            Self::Gemini => gemini::whole(&said),
            Self::Chat => chat::whole(&said),
        }
    }
}

fn tool<'a>(body: &'a Value, is: impl Fn(&Value) -> bool, field: &str) -> &'a Value {
    list(&body["tools"]).find(|tool| is(tool)).map_or(&Value::Null, |tool| &tool[field])
}

/// The elements of an array; of anything else, none.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// All texts of a content: a string, or blocks with `text`.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).map(str::to_owned).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// An event with its name, as Anthropic and OpenAI's Responses send them.
fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

/// An event without a name.
fn plain(event: &Value) -> String {
    format!("data: {event}\n\n")
}

fn total(usage: Usage) -> u64 {
    usage.input + usage.output
}
