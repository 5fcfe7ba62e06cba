//! codex: `codex exec --json` (measured with 0.171.0).
//!
//! - The end is `turn.completed`; `error` events are transient, `turn.failed` is terminal and has words only.
//! - A fatal error before the first turn (unknown session, untrusted folder) is on standard error alone, exit 1.
//! - Usage is cumulative for the thread, earlier processes included.
//! - Its output schema is not validated by codex, and has to be strict.
//! - MCP tools need `default_tools_approval_mode="approve"`, and the server is given no variable but those listed.

use planex_core::job::{Exit, JobSpec, Mode, Usage};
use planex_core::schema::strict_for_codex;
use serde_json::Value;

use super::shared::{self, Notes, Tail, configured_args, list, number, text};
use crate::adapter::{
    Adapter, AgentEvent, Capabilities, EndBy, Ending, Invocation, Launch, MCP_SERVER, McpServer, Reader, RunFiles, arg,
    argv,
};
use crate::fault::Fault;

/// The adapter for codex.
#[derive(Debug, Clone, Copy)]
pub struct Codex;

impl Adapter for Codex {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            write: true,
            mcp: true,
            structured: true,
            resume: true,
            resume_same_folder: false,
            cost: false,
            tokens: true,
            sandbox: true,
        }
    }

    fn command(&self, spec: &JobSpec, files: &RunFiles, launch: &Launch<'_>) -> Invocation {
        let mut argv = argv(launch, &["exec", "--json", "--skip-git-repo-check", "-C", spec.cwd.as_str()]);
        match (spec.mode, launch.settings.full_access) {
            (Mode::Analysis, _) => argv.extend(["-s".to_owned(), "read-only".to_owned()]),
            (Mode::Write, false) => {
                argv.extend(["-s".to_owned(), "workspace-write".to_owned()]);
                // An interrupted sandbox leaves an empty `/tmp/.git` otherwise; the run's own TMPDIR stays writable.
                config(&mut argv, "sandbox_workspace_write.exclude_slash_tmp=true");
            }
            (Mode::Write, true) => argv.push("--dangerously-bypass-approvals-and-sandbox".to_owned()),
        }
        // Without this it waits for ever for a network that is not there.
        config(&mut argv, "features.unbounded_connection_retries=false");
        if let Some(server) = launch.mcp {
            config(&mut argv, &mcp_config(server));
        }
        if let Some(model) = &spec.model {
            argv.extend(["-m".to_owned(), model.clone()]);
        }
        let mut invocation_files = Vec::new();
        if let Some(strict) = spec.schema.as_ref().map(strict_for_codex) {
            let path = files.dir.join("schema.codex.json");
            argv.extend(["--output-schema".to_owned(), arg(&path)]);
            invocation_files.push((path, format!("{strict:#}\n")));
        }
        argv.extend(configured_args(spec, launch));
        if let Some(session) = &spec.resume {
            argv.extend(["resume".to_owned(), session.clone()]);
        }
        argv.push("-".to_owned());
        Invocation { files: invocation_files, ..Invocation::of(argv) }
    }

    fn reader(&self, _spec: &JobSpec) -> Box<dyn Reader> {
        Box::new(CodexReader::default())
    }

    fn end_by(&self) -> EndBy {
        // Interrupted in a sandboxed command it leaves empty folders in the worktree; terminated it does not.
        EndBy::Terminate
    }

    fn usage_is_cumulative(&self) -> bool {
        true
    }
}

fn config(argv: &mut Vec<String>, setting: &str) {
    argv.extend(["-c".to_owned(), setting.to_owned()]);
}

fn mcp_config(server: &McpServer) -> String {
    let args: Vec<String> = server.args.iter().map(|word| toml_string(word)).collect();
    let env: Vec<String> =
        server.env.iter().map(|(name, value)| format!("{}={}", toml_string(name), toml_string(value))).collect();
    format!(
        "mcp_servers.{MCP_SERVER}={{command={},args=[{}],env={{{}}},default_tools_approval_mode=\"approve\"}}",
        toml_string(&server.command),
        args.join(","),
        env.join(","),
    )
}

/// A basic string of TOML: JSON's escapes are among TOML's, and TOML forbids DEL.
fn toml_string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// Reads `codex exec --json`.
#[derive(Debug, Default)]
struct CodexReader {
    session: Option<String>,
    text: Tail,
    usage: Usage,
    completed: bool,
    failed: Option<String>,
    last_error: Option<String>,
    notes: Notes,
}

impl Reader for CodexReader {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let Some(event) = shared::object(line) else { return Vec::new() };
        match text(&event, "/type") {
            "thread.started" => {
                let id = text(&event, "/thread_id").to_owned();
                self.session = Some(id.clone()).filter(|id| !id.is_empty());
                self.session.iter().cloned().map(AgentEvent::Session).collect()
            }
            "turn.started" => {
                self.completed = false;
                Vec::new()
            }
            "turn.completed" => {
                self.completed = true;
                self.usage = usage(&event);
                vec![AgentEvent::Usage(self.usage), AgentEvent::Finished]
            }
            "turn.failed" => {
                self.failed = Some(text(&event, "/error/message").to_owned());
                vec![AgentEvent::Finished]
            }
            // "Reconnecting... 2/5": transient.
            "error" => {
                let message = text(&event, "/message").to_owned();
                self.last_error = Some(message.clone());
                vec![AgentEvent::Activity(message)]
            }
            "item.started" => self.item(&event, true),
            "item.completed" => self.item(&event, false),
            _ => Vec::new(),
        }
    }

    fn error_line(&mut self, line: &str) -> Vec<AgentEvent> {
        // The only trace of a write that the sandbox refused.
        if line.contains("patch rejected") {
            self.notes.push(line.trim());
        }
        Vec::new()
    }

    fn finish(&mut self, exit: &Exit, stderr_tail: &str) -> Ending {
        let well = self.completed && self.failed.is_none();
        let fault = (!well).then(|| {
            let told = self.failed.take().filter(|message| !message.is_empty());
            let message = told.or_else(|| self.last_error.take());
            Fault::classify(None, &message.unwrap_or_else(|| shared::ended_early(exit, stderr_tail)))
        });
        Ending {
            well,
            fault,
            text: self.text.take(),
            session: self.session.take(),
            usage: self.usage,
            notes: self.notes.take(),
            ..Ending::default()
        }
        .with_text_as_structured()
    }
}

impl CodexReader {
    fn item(&mut self, event: &Value, started: bool) -> Vec<AgentEvent> {
        let item = event.get("item").unwrap_or(&Value::Null);
        let id = text(item, "/id").to_owned();
        match text(item, "/type") {
            "agent_message" if !started => {
                let message = text(item, "/text");
                self.text.clear();
                self.text.push(message);
                vec![AgentEvent::Activity(message.to_owned())]
            }
            "reasoning" if !started => vec![AgentEvent::Activity(text(item, "/text").to_owned())],
            // Non-fatal: "Model metadata not found".
            "error" if !started => {
                self.notes.push(text(item, "/message"));
                Vec::new()
            }
            "command_execution" | "mcp_tool_call" | "web_search" | "collab_tool_call" if started => {
                vec![activity(item), AgentEvent::ToolStarted(id)]
            }
            "mcp_tool_call" => {
                let error = text(item, "/error/message");
                if !error.is_empty() {
                    self.notes.push(format!("MCP tool {}: {error}", text(item, "/tool")));
                }
                vec![AgentEvent::ToolFinished(id)]
            }
            "command_execution" | "web_search" | "collab_tool_call" => vec![AgentEvent::ToolFinished(id)],
            "file_change" if !started => {
                let paths: Vec<&str> = list(item, "/changes").iter().map(|change| text(change, "/path")).collect();
                vec![AgentEvent::Activity(format!("edit: {}", paths.join(", ")))]
            }
            _ => Vec::new(),
        }
    }
}

fn activity(item: &Value) -> AgentEvent {
    AgentEvent::Activity(match text(item, "/type") {
        "mcp_tool_call" => format!("{}: {}", text(item, "/server"), text(item, "/tool")),
        "web_search" => format!("search: {}", text(item, "/query")),
        _ => text(item, "/command").to_owned(),
    })
}

fn usage(event: &Value) -> Usage {
    Usage {
        input_tokens: number(event, "/usage/input_tokens"),
        cached_input_tokens: number(event, "/usage/cached_input_tokens"),
        // Reasoning is part of the output tokens already.
        output_tokens: number(event, "/usage/output_tokens"),
        cost_usd: None,
    }
}

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;
