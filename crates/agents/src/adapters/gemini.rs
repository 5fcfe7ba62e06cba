//! gemini: `gemini -o stream-json` (measured with 0.61.0).
//!
//! - The end is a `result` event with `status: "success"`; exit 0 comes with errors too.
//! - In a folder that it does not trust it exits with 55 before any request, hence the variable.
//! - It retries ten times in 200 s, said on standard error only: planex ends it after the third.
//! - It takes no MCP server for one run alone: `GEMINI_CLI_HOME` would lose the user's login, and a file in the working
//!   folder would be a change. Reports come by the result file or the final text.

use std::sync::LazyLock;

use planex_core::job::{Exit, JobSpec, Mode, Usage};
use regex::Regex;
use serde_json::Value;

use super::shared::{self, Notes, Tail, configured_args, number, text, tool_activity};
use crate::adapter::{Adapter, AgentEvent, Capabilities, Ending, Invocation, Launch, Reader, RunFiles, argv};
use crate::fault::Fault;

/// Retries of its own that are let pass: a short hiccup is not worth a new start.
const PATIENCE: u32 = 3;

/// The adapter for gemini.
#[derive(Debug, Clone, Copy)]
pub struct Gemini;

impl Adapter for Gemini {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            write: true,
            mcp: false,
            structured: false,
            resume: true,
            resume_same_folder: true,
            cost: false,
            tokens: true,
            sandbox: false,
        }
    }

    fn command(&self, spec: &JobSpec, _files: &RunFiles, launch: &Launch<'_>) -> Invocation {
        let mut argv = argv(launch, &["-o", "stream-json"]);
        let mut add = |words: &[&str]| argv.extend(words.iter().map(|&word| word.to_owned()));
        add(&[
            "--approval-mode",
            match spec.mode {
                // Headless, only tools that read are offered.
                Mode::Analysis => "default",
                // Commands are offered in no lesser mode, and a task has tests to run.
                Mode::Write => "yolo",
            },
        ]);
        if let Some(model) = &spec.model {
            add(&["-m", model]);
        }
        if let Some(session) = &spec.resume {
            add(&["--resume", session]);
        }
        argv.extend(configured_args(spec, launch));
        let env = shared::defaults(launch, &[("GEMINI_CLI_TRUST_WORKSPACE", "true")]);
        Invocation { env, ..Invocation::of(argv) }
    }

    fn reader(&self, _spec: &JobSpec) -> Box<dyn Reader> {
        Box::new(GeminiReader::default())
    }
}

#[derive(Debug, Default)]
struct GeminiReader {
    session: Option<String>,
    model: Option<String>,
    text: Tail,
    usage: Usage,
    result: Option<Value>,
    error: Option<String>,
    notes: Notes,
    retries: Retries,
}

impl Reader for GeminiReader {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let Some(event) = shared::object(line) else { return Vec::new() };
        match text(&event, "/type") {
            "init" => {
                self.session = Some(text(&event, "/session_id").to_owned()).filter(|id| !id.is_empty());
                self.model = Some(text(&event, "/model").to_owned()).filter(|model| !model.is_empty());
                self.session.iter().cloned().map(AgentEvent::Session).collect()
            }
            "message" if text(&event, "/role") != "user" => {
                let said = text(&event, "/content");
                self.text.push(said);
                vec![AgentEvent::Activity(said.to_owned())]
            }
            "tool_use" => {
                // What was said before a tool call is not the final answer.
                self.text.clear();
                let input = event.get("parameters").unwrap_or(&Value::Null);
                let started = AgentEvent::ToolStarted(text(&event, "/tool_id").to_owned());
                vec![tool_activity(text(&event, "/tool_name"), input), started]
            }
            "tool_result" => {
                if text(&event, "/error/type") == "tool_not_registered" {
                    self.notes.push(format!("denied by its approval mode: {}", text(&event, "/error/message")));
                }
                vec![AgentEvent::ToolFinished(text(&event, "/tool_id").to_owned())]
            }
            "error" => {
                let message = text(&event, "/message").to_owned();
                if text(&event, "/severity") == "error" {
                    self.error = Some(message.clone());
                } else {
                    self.notes.push(&message);
                }
                vec![AgentEvent::Activity(message)]
            }
            "result" => {
                self.usage = usage(&event);
                self.result = Some(event);
                vec![AgentEvent::Usage(self.usage), AgentEvent::Finished]
            }
            _ => Vec::new(),
        }
    }

    fn error_line(&mut self, line: &str) -> Vec<AgentEvent> {
        self.retries.line(line)
    }

    fn finish(&mut self, exit: &Exit, stderr_tail: &str) -> Ending {
        let fault = self.fault(exit, stderr_tail);
        Ending {
            well: fault.is_none(),
            fault,
            text: self.text.take(),
            structured: None,
            session: self.session.take(),
            usage: self.usage,
            model: self.model.take(),
            notes: self.notes.take(),
        }
    }
}

impl GeminiReader {
    fn fault(&mut self, exit: &Exit, stderr_tail: &str) -> Option<Fault> {
        let status = status_of(exit);
        match &self.result {
            Some(result) if text(result, "/status") == "success" && self.error.is_none() => None,
            Some(result) => {
                let told = text(result, "/error/message");
                let message = self.error.take().filter(|_| told.is_empty()).unwrap_or_else(|| told.to_owned());
                Some(Fault::classify(status, &message))
            }
            None => {
                let early = shared::ended_early(exit, stderr_tail);
                let message = self.error.take().unwrap_or(early);
                Some(match exit {
                    // No way to authenticate is configured.
                    Exit::Code(41) => Fault { kind: crate::fault::FaultKind::Auth, message },
                    Exit::Code(_) | Exit::Signal(_) | Exit::Lost => Fault::classify(status, &message),
                })
            }
        }
    }
}

/// The HTTP status behind an exit code, which is the status modulo 256.
fn status_of(exit: &Exit) -> Option<u16> {
    match exit {
        Exit::Code(144) => Some(400),
        Exit::Code(145) => Some(401),
        Exit::Code(147) => Some(403),
        Exit::Code(173) => Some(429),
        Exit::Code(244) => Some(500),
        Exit::Code(247) => Some(503),
        Exit::Code(17) => Some(529),
        Exit::Code(_) | Exit::Signal(_) | Exit::Lost => None,
    }
}

fn usage(event: &Value) -> Usage {
    Usage {
        input_tokens: number(event, "/stats/input_tokens"),
        cached_input_tokens: number(event, "/stats/cached"),
        output_tokens: number(event, "/stats/output_tokens"),
        cost_usd: None,
    }
}

/// Counts the retries that gemini and its kin tell on standard error, and gives up for them.
#[derive(Debug, Default)]
pub(super) struct Retries {
    given_up: bool,
}

static ATTEMPT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"Attempt (\d+) failed(?: with status (\d{3}))?").ok());

impl Retries {
    pub(super) fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let Some(found) = ATTEMPT.as_ref().and_then(|attempt| attempt.captures(line)) else { return Vec::new() };
        let count: u32 = found[1].parse().unwrap_or(u32::MAX);
        let status: Option<u16> = found.get(2).and_then(|status| status.as_str().parse().ok());
        let fault = Fault::classify(status, line);
        if self.given_up || count < PATIENCE {
            return vec![AgentEvent::Activity(line.to_owned())];
        }
        self.given_up = true;
        vec![AgentEvent::GiveUp(fault)]
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
