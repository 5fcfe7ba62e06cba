//! Google's generateContent (gemini).

use serde_json::{Value, json};

use super::tools::{Input, Said};
use super::{Item, list, plain, texts, total};

pub(super) fn items(body: &Value) -> Vec<Item> {
    let mut items: Vec<Item> = texts(&body["systemInstruction"]["parts"]).into_iter().map(Item::System).collect();
    for content in list(&body["contents"]) {
        if content["role"] == "model" {
            items.push(Item::Model);
            continue;
        }
        for part in list(&content["parts"]) {
            if let Some(text) = part["text"].as_str() {
                items.push(Item::User(text.to_owned()));
            } else if !part["functionResponse"].is_null() {
                items.push(Item::ToolResult(part["functionResponse"]["response"].to_string()));
            }
        }
    }
    items
}

pub(super) fn whole(said: &Said) -> Value {
    let text = said.text.iter().map(|text| json!({ "text": text }));
    let calls = said.uses.iter().map(|call| {
        let args = match &call.input {
            Input::Json(args) => args.clone(),
            Input::Free(text) => json!({ "input": text }),
        };
        json!({ "functionCall": { "id": call.id, "name": call.name, "args": args } })
    });
    let parts: Vec<Value> = text.chain(calls).collect();
    let usage = said.usage;
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": {
            "promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output, "thoughtsTokenCount": usage.reasoning, "totalTokenCount": total(usage),
        },
        "modelVersion": said.model,
        "responseId": format!("resp_{}", said.number),
    })
}

pub(super) fn events(said: &Said) -> Vec<String> {
    vec![plain(&whole(said))]
}
