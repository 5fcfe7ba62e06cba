//! claude: `claude -p --output-format stream-json --verbose` (measured with 2.1.197).
//!
//! - The end is a `result` event with `is_error` false and subtype `success`; `subtype: "success"` comes with errors too.
//! - `structured_output` may be null although a schema was given.
//! - It retries for three minutes unless told not to, and each retry is an event.
//! - `bypassPermissions` is refused for root, so it is never used: `acceptEdits` with allowed tools does the same.
//! - Sessions can be resumed in the same folder only.

use planex_core::job::{Exit, JobSpec, Mode, Usage};
use serde_json::Value;

use super::shared::{
    self, Notes, Tail, anthropic_usage, configured_args, list, mcp_servers, money, schema_argument, text, tool_activity,
};
use crate::adapter::{
    Adapter, AgentEvent, Capabilities, Ending, Invocation, Launch, MCP_SERVER, MCP_TOOLS, Reader, RunFiles, arg, argv,
};
use crate::fault::Fault;

/// Tools of a job that only reads: the others are not even offered.
const READ_TOOLS: &str = "Read,Grep,Glob";

/// Tools that `full_access` allows beside editing and commands.
const FULL_TOOLS: [&str; 2] = ["WebFetch", "WebSearch"];

/// The adapter for claude.
#[derive(Debug, Clone, Copy)]
pub struct Claude;

impl Adapter for Claude {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            write: true,
            mcp: true,
            structured: true,
            resume: true,
            resume_same_folder: true,
            cost: true,
            tokens: true,
            sandbox: false,
        }
    }

    fn command(&self, spec: &JobSpec, files: &RunFiles, launch: &Launch<'_>) -> Invocation {
        let mut argv = argv(launch, &["-p", "--output-format", "stream-json", "--verbose"]);
        let mut add = |words: &[&str]| argv.extend(words.iter().map(|&word| word.to_owned()));
        let mut allowed: Vec<String> = Vec::new();
        match spec.mode {
            Mode::Analysis => add(&["--permission-mode", "dontAsk", "--tools", READ_TOOLS]),
            Mode::Write => {
                add(&["--permission-mode", "acceptEdits"]);
                allowed.push("Bash".to_owned());
                if launch.settings.full_access {
                    allowed.extend(FULL_TOOLS.map(str::to_owned));
                }
            }
        }
        let mut to_write = Vec::new();
        if let Some(server) = launch.mcp {
            let path = files.dir.join("mcp.json");
            add(&["--mcp-config", path.as_str(), "--strict-mcp-config"]);
            allowed.extend(MCP_TOOLS.map(|tool| format!("mcp__{MCP_SERVER}__{tool}")));
            to_write.push((path, format!("{:#}\n", mcp_servers(server, false))));
        }
        if !allowed.is_empty() {
            add(&["--allowedTools", &allowed.join(",")]);
        }
        // What a run may read and write beside its folder: its own files.
        add(&["--add-dir", &arg(&spec.session_dir)]);
        if let Some(model) = &spec.model {
            add(&["--model", model]);
        }
        if let Some(schema) = schema_argument(spec) {
            add(&["--json-schema", &schema]);
        }
        if let Some(session) = &spec.resume {
            add(&["--resume", session]);
        }
        argv.extend(configured_args(spec, launch));
        Invocation {
            env: shared::defaults(
                launch,
                &[
                    ("CLAUDE_CODE_MAX_RETRIES", "1"),
                    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                    ("DISABLE_AUTOUPDATER", "1"),
                ],
            ),
            // Set when planex itself runs inside claude.
            env_remove: vec!["CLAUDECODE".to_owned(), "CLAUDE_CODE_ENTRYPOINT".to_owned()],
            files: to_write,
            ..Invocation::of(argv)
        }
    }

    fn reader(&self, _spec: &JobSpec) -> Box<dyn Reader> {
        Box::new(ClaudeReader::new(""))
    }
}

/// Reads claude's stream; qwen's has the same shape, with errors hidden in a successful result.
#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    /// A `result` text that begins with this is an error although it says success.
    error_prefix: &'static str,
    session: Option<String>,
    model: Option<String>,
    text: Tail,
    usage: Usage,
    result: Option<Value>,
    last_retry: Option<String>,
    notes: Notes,
}

impl ClaudeReader {
    pub(super) fn new(error_prefix: &'static str) -> Self {
        Self { error_prefix, ..Self::default() }
    }

    fn system(&mut self, event: &Value) -> Vec<AgentEvent> {
        match text(event, "/subtype") {
            "init" => self.init(event),
            "api_retry" => {
                let (kind, status) = (text(event, "/error"), event.pointer("/error_status").and_then(Value::as_u64));
                let status = status.map_or_else(String::new, |status| format!(" (status {status})"));
                self.last_retry = Some(format!("{kind}{status}"));
                vec![AgentEvent::Activity(format!("waits to try again: {kind}{status}"))]
            }
            _ => Vec::new(),
        }
    }

    fn init(&mut self, event: &Value) -> Vec<AgentEvent> {
        self.model = Some(text(event, "/model").to_owned()).filter(|model| !model.is_empty());
        for server in list(event, "/mcp_servers") {
            if text(server, "/status") == "failed" {
                self.notes.push(format!("the MCP server `{}` could not be started", text(server, "/name")));
            }
        }
        self.session(event)
    }

    fn session(&mut self, event: &Value) -> Vec<AgentEvent> {
        let id = text(event, "/session_id");
        if id.is_empty() || self.session.as_deref() == Some(id) {
            return Vec::new();
        }
        self.session = Some(id.to_owned());
        vec![AgentEvent::Session(id.to_owned())]
    }

    fn assistant(&mut self, event: &Value) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        let main_thread = event.pointer("/parent_tool_use_id").is_none_or(Value::is_null);
        for block in list(event, "/message/content") {
            match text(block, "/type") {
                "text" => {
                    let said = text(block, "/text");
                    if main_thread {
                        self.text.clear();
                        self.text.push(said);
                    }
                    events.push(AgentEvent::Activity(said.to_owned()));
                }
                "tool_use" => {
                    let input = block.get("input").unwrap_or(&Value::Null);
                    events.push(tool_activity(text(block, "/name"), input));
                    events.push(AgentEvent::ToolStarted(text(block, "/id").to_owned()));
                }
                _ => {}
            }
        }
        events
    }

    fn result(&mut self, event: Value) -> Vec<AgentEvent> {
        let mut events = self.session(&event);
        self.usage = anthropic_usage(event.get("usage").unwrap_or(&Value::Null), money(&event, "/total_cost_usd"));
        for denial in list(&event, "/permission_denials") {
            self.notes.push(format!("denied by its permissions: {}", text(denial, "/tool_name")));
        }
        self.result = Some(event);
        events.extend([AgentEvent::Usage(self.usage), AgentEvent::Finished]);
        events
    }

    /// Why the run did not end well; `None`: it did.
    fn fault(&self, exit: &Exit, stderr_tail: &str) -> Option<Fault> {
        let Some(result) = &self.result else {
            let early = shared::ended_early(exit, stderr_tail);
            return Some(match &self.last_retry {
                Some(retry) => Fault::classify(None, &format!("{retry}: {early}")),
                None => Fault::classify(None, &early),
            });
        };
        let (said, subtype) = (text(result, "/result"), text(result, "/subtype"));
        let hidden = !self.error_prefix.is_empty() && said.trim_start().starts_with(self.error_prefix);
        let is_error = result.pointer("/is_error").and_then(Value::as_bool).unwrap_or(false);
        if !is_error && subtype == "success" && !hidden {
            return None;
        }
        let status = result.pointer("/api_error_status").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
        let errors: Vec<&str> = list(result, "/errors").iter().filter_map(Value::as_str).collect();
        let message = match (said.is_empty(), text(result, "/error/message"), errors.is_empty()) {
            (false, _, _) => said.to_owned(),
            (true, "", false) => errors.join("; "),
            (true, "", true) => format!("it ended with `{subtype}`"),
            (true, told, _) => told.to_owned(),
        };
        Some(Fault::classify(status, &message))
    }
}

impl Reader for ClaudeReader {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let Some(event) = shared::object(line) else { return Vec::new() };
        match text(&event, "/type") {
            "system" => self.system(&event),
            "assistant" => self.assistant(&event),
            "user" => {
                let blocks = list(&event, "/message/content").iter();
                let done = blocks.filter(|block| text(block, "/type") == "tool_result");
                done.map(|block| AgentEvent::ToolFinished(text(block, "/tool_use_id").to_owned())).collect()
            }
            "result" => self.result(event),
            _ => Vec::new(),
        }
    }

    fn finish(&mut self, exit: &Exit, stderr_tail: &str) -> Ending {
        let fault = self.fault(exit, stderr_tail);
        let result = self.result.take().unwrap_or(Value::Null);
        let structured = result.get("structured_output").filter(|value| !value.is_null()).cloned();
        let mut said = self.text.take();
        if fault.is_none() && !text(&result, "/result").is_empty() {
            said.clear();
            said.push_str(text(&result, "/result"));
        }
        Ending {
            well: fault.is_none(),
            fault,
            text: said,
            structured,
            session: self.session.take(),
            usage: self.usage,
            model: self.model.take(),
            notes: self.notes.take(),
        }
    }
}

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;
