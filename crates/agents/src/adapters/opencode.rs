//! opencode: `opencode run --format json` (measured with 1.18.33).
//!
//! - There is no terminal event: the end is the end of output after a `step_finish` with reason `stop`.
//! - By default everything is allowed, and a permission that asks ends the turn: each is set to allow or deny. What the
//!   environment configures is merged into, never dropped.
//! - A stream that ends without a reason makes it ask again for ever (500 requests in 90 s): planex ends it after a few
//!   such steps. After a broken connection it waits longer and longer: that is the idle limit's.

use planex_core::job::{Exit, JobSpec, Mode, Usage};
use serde_json::{Map, Value, json};

use super::shared::{self, Notes, Tail, configured_args, merge, money, number, text, tool_activity};
use crate::adapter::{
    Adapter, AgentEvent, Capabilities, Ending, Invocation, Launch, MCP_SERVER, Reader, RunFiles, argv,
};
use crate::fault::Fault;

/// Steps in a row without a proper end that are let pass.
const PATIENCE: u32 = 3;

/// The variable that configures one run.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// The adapter for opencode.
#[derive(Debug, Clone, Copy)]
pub struct Opencode;

impl Adapter for Opencode {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            write: true,
            mcp: true,
            structured: false,
            resume: true,
            resume_same_folder: false,
            cost: true,
            tokens: true,
            sandbox: false,
        }
    }

    fn command(&self, spec: &JobSpec, _files: &RunFiles, launch: &Launch<'_>) -> Invocation {
        let mut argv = argv(launch, &["run", "--format", "json", "--dir", spec.cwd.as_str()]);
        let mut add = |words: &[&str]| argv.extend(words.iter().map(|&word| word.to_owned()));
        match &spec.resume {
            Some(session) => add(&["-s", session]),
            // Without a title it asks the model for one.
            None => add(&["--title", &spec.run_id]),
        }
        if let Some(model) = &spec.model {
            add(&["-m", model]);
        }
        argv.extend(configured_args(spec, launch));
        let mut env =
            shared::defaults(launch, &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")]);
        env.insert(CONFIG.to_owned(), config(spec, launch).to_string());
        Invocation { env, ..Invocation::of(argv) }
    }

    fn reader(&self, _spec: &JobSpec) -> Box<dyn Reader> {
        Box::new(OpencodeReader::default())
    }
}

/// The configuration of one run, laid over the one that the environment holds.
fn config(spec: &JobSpec, launch: &Launch<'_>) -> Value {
    let inherited =
        launch.environment.get(CONFIG).and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let mut config = Value::Object(shared::into_object(inherited));
    merge(&mut config, json!({ "autoupdate": false, "share": "disabled" }));
    // Whole, not merged: a pattern of the user's could allow what the mode forbids.
    config["permission"] = permission(spec, launch.settings.full_access);
    if let Some(server) = launch.mcp {
        let mut command = vec![server.command.clone()];
        command.extend(server.args.iter().cloned());
        let entry = json!({ "type": "local", "command": command, "environment": server.env, "enabled": true });
        merge(&mut config, json!({ "mcp": { MCP_SERVER: entry } }));
    }
    config
}

fn permission(spec: &JobSpec, full_access: bool) -> Value {
    let (edits, outside) = match (spec.mode, full_access) {
        (Mode::Analysis, _) => ("deny", "deny"),
        (Mode::Write, false) => ("allow", "deny"),
        (Mode::Write, true) => ("allow", "allow"),
    };
    // The last pattern that fits counts: the session's own files may be read.
    let mut external = Map::new();
    external.insert("*".to_owned(), Value::from(outside));
    external.insert(format!("{}/**", spec.session_dir), Value::from("allow"));
    json!({
        "edit": edits,
        "bash": edits,
        "webfetch": if full_access { "allow" } else { "deny" },
        "external_directory": external,
        "doom_loop": "deny",
        "question": "deny",
    })
}

#[derive(Debug, Default)]
struct OpencodeReader {
    session: Option<String>,
    text: Tail,
    usage: Usage,
    last_reason: Option<String>,
    error: Option<Fault>,
    /// Steps in a row that began or ended without a proper end.
    unended: u32,
    given_up: bool,
    notes: Notes,
}

impl Reader for OpencodeReader {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let Some(event) = shared::object(line) else { return Vec::new() };
        let mut events = self.session(&event);
        match text(&event, "/type") {
            "step_start" => {
                self.unended += 1;
                self.last_reason = None;
                self.text.clear();
                events.extend(self.give_up());
            }
            "text" => {
                let said = text(&event, "/part/text");
                self.text.push(said);
                events.push(AgentEvent::Activity(said.to_owned()));
            }
            "tool_use" => {
                let input = event.pointer("/part/state/input").unwrap_or(&Value::Null);
                if text(&event, "/part/state/status") == "error" {
                    let error = text(&event, "/part/state/error");
                    self.notes.push(format!("tool {}: {error}", text(&event, "/part/tool")));
                }
                events.push(tool_activity(text(&event, "/part/tool"), input));
            }
            "step_finish" => events.extend(self.step_finish(&event)),
            "error" => {
                let status = event.pointer("/error/data/statusCode").and_then(Value::as_u64);
                let said = match (text(&event, "/error/data/message"), text(&event, "/error/name")) {
                    ("", name) => name,
                    (message, _) => message,
                };
                self.error = Some(Fault::classify(status.and_then(|s| u16::try_from(s).ok()), said));
            }
            _ => {}
        }
        events
    }

    fn finish(&mut self, exit: &Exit, stderr_tail: &str) -> Ending {
        let stopped = self.last_reason.as_deref() == Some("stop");
        let fault = match (self.error.take(), stopped) {
            (Some(fault), _) => Some(fault),
            (None, true) => None,
            (None, false) => Some(match self.last_reason.take() {
                Some(reason) => Fault::other(format!("its last step ended with `{reason}`, not with `stop`")),
                None => Fault::classify(None, &shared::ended_early(exit, stderr_tail)),
            }),
        };
        Ending {
            well: fault.is_none(),
            fault,
            text: self.text.take(),
            structured: None,
            session: self.session.take(),
            usage: self.usage,
            model: None,
            notes: self.notes.take(),
        }
    }
}

impl OpencodeReader {
    fn session(&mut self, event: &Value) -> Vec<AgentEvent> {
        let id = text(event, "/sessionID");
        if id.is_empty() || self.session.as_deref() == Some(id) {
            return Vec::new();
        }
        self.session = Some(id.to_owned());
        vec![AgentEvent::Session(id.to_owned())]
    }

    fn step_finish(&mut self, event: &Value) -> Vec<AgentEvent> {
        let reason = text(event, "/part/reason").to_owned();
        let proper = matches!(reason.as_str(), "stop" | "tool-calls" | "length" | "content-filter");
        if proper {
            self.unended = 0;
        }
        let cached = number(event, "/part/tokens/cache/read");
        let input = number(event, "/part/tokens/input");
        let written = number(event, "/part/tokens/cache/write");
        let output = number(event, "/part/tokens/output");
        self.usage.add(&Usage {
            input_tokens: input.saturating_add(cached).saturating_add(written),
            cached_input_tokens: cached,
            output_tokens: output.saturating_add(number(event, "/part/tokens/reasoning")),
            cost_usd: money(event, "/part/cost"),
        });
        self.last_reason = Some(reason);
        vec![AgentEvent::Usage(self.usage)]
    }

    fn give_up(&mut self) -> Option<AgentEvent> {
        if self.unended <= PATIENCE || self.given_up {
            return None;
        }
        self.given_up = true;
        let message = "the model's answers break off, and it asks again without end";
        Some(AgentEvent::GiveUp(Fault::other(message)))
    }
}

#[cfg(test)]
#[path = "opencode_tests.rs"]
mod tests;
