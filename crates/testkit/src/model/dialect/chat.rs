//! OpenAI's Chat Completions (opencode, qwen).

use serde_json::{Value, json};

use super::tools::{Input, Said};
use super::{Item, list, plain, texts, total};

pub(super) fn items(body: &Value) -> Vec<Item> {
    let mut items = Vec::new();
    for message in list(&body["messages"]) {
        let texts = texts(&message["content"]);
        match message["role"].as_str() {
            Some("user") => items.extend(texts.into_iter().map(Item::User)),
            Some("assistant") => items.push(Item::Model),
            Some("tool") => items.push(Item::ToolResult(texts.join("\n"))),
            _ => items.extend(texts.into_iter().map(Item::System)),
        }
    }
    items
}

fn tool_calls(said: &Said) -> Vec<Value> {
    let calls = said.uses.iter().enumerate().map(|(at, call)| {
        let args = match &call.input {
            Input::Json(args) => args.to_string(),
            Input::Free(text) => json!({ "input": text }).to_string(),
        };
        json!({ "index": at, "id": call.id, "type": "function", "function": { "name": call.name, "arguments": args } })
    });
    calls.collect()
}

fn finish_reason(said: &Said) -> &'static str {
    if said.uses.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(said: &Said) -> Value {
    let usage = said.usage;
    json!({
        "prompt_tokens": usage.input, "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens": usage.output, "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": total(usage),
    })
}

fn frame(said: &Said, object: &str, choices: &Value) -> Value {
    json!({ "id": format!("chatcmpl-{}", said.number), "object": object, "created": 1, "model": said.model,
            "choices": choices })
}

pub(super) fn whole(said: &Said) -> Value {
    let mut message = json!({ "role": "assistant", "content": said.text });
    if !said.uses.is_empty() {
        message["tool_calls"] = Value::Array(tool_calls(said));
    }
    let choices = json!([{ "index": 0, "message": message, "finish_reason": finish_reason(said) }]);
    let mut body = frame(said, "chat.completion", &choices);
    body["usage"] = usage(said);
    body
}

pub(super) fn events(said: &Said) -> Vec<String> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        frame(said, "chat.completion.chunk", &choices)
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    events.extend(said.text.iter().map(|text| chunk(json!({ "content": text }), None)));
    events.extend(tool_calls(said).into_iter().map(|call| chunk(json!({ "tool_calls": [call] }), None)));
    events.push(chunk(json!({}), Some(finish_reason(said))));
    let mut last = frame(said, "chat.completion.chunk", &json!([]));
    last["usage"] = usage(said);
    events.push(last);
    let mut lines: Vec<String> = events.iter().map(plain).collect();
    lines.push("data: [DONE]\n\n".to_owned());
    lines
}
