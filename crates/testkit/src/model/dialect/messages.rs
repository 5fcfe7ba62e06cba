//! Anthropic's Messages (claude).

use serde_json::{Value, json};

use super::tools::{Input, Said};
use super::{Item, list, named, texts};

pub(super) fn items(body: &Value) -> Vec<Item> {
    let mut items: Vec<Item> = texts(&body["system"]).into_iter().map(Item::System).collect();
    for message in list(&body["messages"]) {
        match message["role"].as_str() {
            Some("assistant") => items.push(Item::Model),
            Some("user") => user(&message["content"], &mut items),
            _ => items.extend(texts(&message["content"]).into_iter().map(Item::System)),
        }
    }
    items
}

fn user(content: &Value, items: &mut Vec<Item>) {
    if let Some(text) = content.as_str() {
        items.push(Item::User(text.to_owned()));
    }
    for block in list(content) {
        if block["type"] == "tool_result" {
            items.push(Item::ToolResult(texts(&block["content"]).join("\n")));
        } else if let Some(text) = block["text"].as_str() {
            items.push(Item::User(text.to_owned()));
        }
    }
}

fn content(said: &Said) -> Vec<Value> {
    let text = said.text.iter().map(|text| json!({ "type": "text", "text": text }));
    let calls = said.uses.iter().map(|call| {
        let input = match &call.input {
            Input::Json(args) => args.clone(),
            Input::Free(text) => json!({ "input": text }),
        };
        json!({ "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": input })
    });
    text.chain(calls).collect()
}

fn stop_reason(said: &Said) -> &'static str {
    if said.uses.is_empty() { "end_turn" } else { "tool_use" }
}

fn usage(said: &Said) -> Value {
    let usage = said.usage;
    json!({ "input_tokens": usage.input.saturating_sub(usage.cached), "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": 0, "output_tokens": usage.output })
}

pub(super) fn whole(said: &Said) -> Value {
    json!({ "id": format!("msg_{}", said.number), "type": "message", "role": "assistant", "model": said.model,
            "content": content(said), "stop_reason": stop_reason(said), "stop_sequence": null, "usage": usage(said) })
}

pub(super) fn events(said: &Said) -> Vec<String> {
    let mut start = whole(said);
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![json!({ "type": "message_start", "message": start })];
    for (at, block) in content(said).into_iter().enumerate() {
        let (start, delta) = if block["type"] == "text" {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": block["text"] }))
        } else {
            let mut start = block.clone();
            start["input"] = json!({});
            (start, json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }))
        };
        events.push(json!({ "type": "content_block_start", "index": at, "content_block": start }));
        events.push(json!({ "type": "content_block_delta", "index": at, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": at }));
    }
    let delta = json!({ "stop_reason": stop_reason(said), "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": usage(said) }));
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(named).collect()
}
