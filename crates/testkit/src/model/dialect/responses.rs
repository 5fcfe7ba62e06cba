//! OpenAI's Responses (codex).

use serde_json::{Value, json};

use super::tools::{Input, Said};
use super::{Item, list, named, texts, total};

pub(super) fn items(body: &Value) -> Vec<Item> {
    let mut items: Vec<Item> =
        body["instructions"].as_str().map(|text| Item::System(text.to_owned())).into_iter().collect();
    if let Some(text) = body["input"].as_str() {
        items.push(Item::User(text.to_owned()));
    }
    for entry in list(&body["input"]) {
        match (entry["type"].as_str().unwrap_or("message"), entry["role"].as_str()) {
            ("message", Some("user")) => items.extend(texts(&entry["content"]).into_iter().map(Item::User)),
            ("message", Some("assistant")) => items.push(Item::Model),
            ("message", _) => items.extend(texts(&entry["content"]).into_iter().map(Item::System)),
            (kind, _) if kind.ends_with("_call_output") => {
                items.push(Item::ToolResult(match &entry["output"] {
                    Value::String(text) => text.clone(),
                    output @ Value::Array(_) => texts(output).join("\n"),
                    output => output.to_string(),
                }));
            }
            (kind, _) if kind.ends_with("_call") || kind == "reasoning" => items.push(Item::Model),
            _ => {}
        }
    }
    items
}

fn output(said: &Said) -> Vec<Value> {
    let number = said.number;
    let text = said.text.iter().map(|text| {
        json!({ "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
    });
    let calls = said.uses.iter().map(|call| match &call.input {
        Input::Json(args) => json!({ "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
                                     "name": call.name, "arguments": args.to_string(), "status": "completed" }),
        Input::Free(input) => json!({ "type": "custom_tool_call", "id": format!("ct_{}", call.id), "call_id": call.id,
                                      "name": call.name, "input": input, "status": "completed" }),
    });
    text.chain(calls).collect()
}

pub(super) fn whole(said: &Said) -> Value {
    let usage = said.usage;
    json!({
        "id": format!("resp_{}", said.number), "object": "response", "status": "completed", "model": said.model,
        "output": output(said),
        "usage": {
            "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached },
            "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": usage.reasoning },
            "total_tokens": total(usage),
        },
    })
}

pub(super) fn events(said: &Said) -> Vec<String> {
    let id = format!("resp_{}", said.number);
    let mut events = vec![json!({ "type": "response.created", "response": { "id": id, "status": "in_progress" } })];
    for (at, item) in output(said).into_iter().enumerate() {
        events.push(json!({ "type": "response.output_item.added", "output_index": at, "item": item }));
        if let Some(text) = item["content"][0]["text"].as_str() {
            events.push(json!({ "type": "response.output_text.delta", "output_index": at, "content_index": 0,
                                "item_id": item["id"], "delta": text }));
        }
        events.push(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": whole(said) }));
    events.iter().map(named).collect()
}
