//! From the words of a script to the tools that a request offers.

use serde_json::{Value, json};

use super::Dialect;
use crate::model::reply::{Call, Reply, Usage};
use crate::model::request::ModelRequest;

/// An answer, ready for a dialect.
pub(super) struct Said {
    /// Number of the request: makes ids that no other answer has.
    pub(super) number: usize,
    pub(super) model: String,
    pub(super) text: Option<String>,
    pub(super) uses: Vec<Use>,
    pub(super) usage: Usage,
}

/// One tool call by the tool's own name.
#[derive(Debug, PartialEq)]
pub(super) struct Use {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Input,
}

#[derive(Debug, PartialEq)]
pub(super) enum Input {
    /// Arguments by name.
    Json(Value),
    /// A text (codex's apply_patch).
    Free(String),
}

impl Said {
    pub(super) fn new(request: &ModelRequest, reply: &Reply, number: usize) -> Self {
        let offered = request.tools();
        let mut texts: Vec<String> = reply.text.iter().cloned().collect();
        let mut inputs = Vec::new();
        for call in &reply.calls {
            match resolve(call, request, &offered) {
                Some(found) => inputs.push(found),
                // The test sees in the final text why nothing was done.
                None => texts.push(format!("The agent offers no tool for {call:?}.")),
            }
        }
        if let Some(result) = &reply.json {
            match ["StructuredOutput", "structured_output"].iter().find(|name| offers(&offered, name)) {
                Some(name) => inputs.push(((*name).to_owned(), Input::Json(result.clone()))),
                None => texts.push(result.to_string()),
            }
        }
        if texts.is_empty() && inputs.is_empty() {
            texts.push("Done.".to_owned());
        }
        let uses = inputs
            .into_iter()
            .enumerate()
            .map(|(at, (name, input))| Use { id: format!("call_{number}_{at}"), name, input })
            .collect();
        let text = (!texts.is_empty()).then(|| texts.join("\n\n"));
        Self { number, model: request.model(), text, uses, usage: reply.usage }
    }
}

fn offers(offered: &[String], name: &str) -> bool {
    offered.iter().any(|tool| tool == name)
}

/// The name of the tool and its input; `None`: the request offers nothing for it.
fn resolve(call: &Call, request: &ModelRequest, offered: &[String]) -> Option<(String, Input)> {
    let first = |names: &[&str]| names.iter().find(|name| offers(offered, name)).map(|name| (*name).to_owned());
    let absolute = |path: &str| match request.cwd() {
        Some(folder) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.to_owned(),
    };
    match call {
        Call::Shell(command) => shell(command, offered),
        Call::Read(path) => match first(&["Read", "read_file", "read"]) {
            Some(name) => Some((name.clone(), Input::Json(json!({ key(&name): absolute(path) })))),
            None => shell(&format!("cat {}", quote(path)), offered),
        },
        Call::Write { path, content } => {
            if request.dialect == Dialect::Responses && offers(offered, "apply_patch") {
                return Some(("apply_patch".to_owned(), Input::Free(add_file(path, content))));
            }
            match first(&["Write", "write_file", "write"]) {
                Some(name) => {
                    Some((name.clone(), Input::Json(json!({ key(&name): absolute(path), "content": content }))))
                }
                None => {
                    let (path, content) = (quote(path), quote(content));
                    shell(&format!("mkdir -p \"$(dirname {path})\" && printf %s {content} > {path}"), offered)
                }
            }
        }
        Call::Edit { path, old, new } => {
            if request.dialect == Dialect::Responses && offers(offered, "apply_patch") {
                return Some(("apply_patch".to_owned(), Input::Free(update_file(path, old, new))));
            }
            let name = first(&["Edit", "replace", "edit"])?;
            let camel = request.dialect == Dialect::Chat && offers(offered, "bash");
            let (file, before, after) =
                if camel { ("filePath", "oldString", "newString") } else { ("file_path", "old_string", "new_string") };
            let mut args = json!({ file: absolute(path), before: old, after: new });
            if name == "replace" {
                args["instruction"] = json!("as asked");
            }
            Some((name, Input::Json(args)))
        }
        Call::Tool { name, args } => offers(offered, name).then(|| (name.clone(), Input::Json(args.clone()))),
    }
}

fn shell(command: &str, offered: &[String]) -> Option<(String, Input)> {
    let tools: [(&str, Value); 6] = [
        ("exec_command", json!({ "cmd": command, "yield_time_ms": 30_000 })),
        ("shell_command", json!({ "command": command })),
        ("shell", json!({ "command": ["bash", "-lc", command] })),
        ("Bash", json!({ "command": command, "description": "as asked" })),
        ("run_shell_command", json!({ "command": command, "description": "as asked", "is_background": false })),
        ("bash", json!({ "command": command, "description": "as asked" })),
    ];
    tools.into_iter().find(|(name, _)| offers(offered, name)).map(|(name, args)| (name.to_owned(), Input::Json(args)))
}

/// How the tools for files name their file: opencode's are the ones in lower case without an underscore.
fn key(tool: &str) -> &'static str {
    if matches!(tool, "read" | "write") { "filePath" } else { "file_path" }
}

fn add_file(path: &str, content: &str) -> String {
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}

fn update_file(path: &str, old: &str, new: &str) -> String {
    let minus: String = old.lines().map(|line| format!("-{line}\n")).collect();
    let plus: String = new.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n{minus}{plus}*** End Patch\n")
}

/// A word for a POSIX shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
