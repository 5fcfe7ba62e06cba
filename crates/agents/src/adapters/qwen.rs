//! qwen: `qwen -o stream-json` (measured with 0.15.10): gemini's program with claude's events.
//!
//! - Errors of the API end with exit 0 and a successful result whose text begins with `[API Error:`.
//! - With a schema, an answer in plain words is an error to it; to planex it is an answer whose JSON has to be found.
//! - Rate limits are retried for minutes, often without a word: then only the idle limit ends it.

use planex_core::job::{Exit, JobSpec, Mode};

use super::claude::ClaudeReader;
use super::gemini::Retries;
use super::shared::{configured_args, mcp_servers, schema_argument};
use crate::adapter::{Adapter, AgentEvent, Capabilities, Ending, Invocation, Launch, Reader, RunFiles, argv};
use crate::fault::Fault;

/// How a text begins that is no answer but an error of the API.
const API_ERROR: &str = "[API Error:";

/// How its error begins when a schema was answered with plain words.
const PLAIN_TEXT: &str = "Model produced plain text instead of calling";

/// The adapter for qwen.
#[derive(Debug, Clone, Copy)]
pub struct Qwen;

impl Adapter for Qwen {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            write: true,
            mcp: true,
            structured: true,
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
                Mode::Analysis => "plan",
                // Commands are offered in no lesser mode, and a task has tests to run.
                Mode::Write => "yolo",
            },
        ]);
        if let Some(server) = launch.mcp {
            add(&["--mcp-config", &mcp_servers(server, true).to_string()]);
        }
        if let Some(model) = &spec.model {
            add(&["-m", model]);
        }
        if let Some(schema) = schema_argument(spec) {
            add(&["--json-schema", &schema]);
        }
        if let Some(session) = &spec.resume {
            add(&["--resume", session]);
        }
        argv.extend(configured_args(spec, launch));
        Invocation::of(argv)
    }

    fn reader(&self, _spec: &JobSpec) -> Box<dyn Reader> {
        Box::new(QwenReader { events: ClaudeReader::new(API_ERROR), retries: Retries::default() })
    }
}

#[derive(Debug)]
struct QwenReader {
    events: ClaudeReader,
    retries: Retries,
}

impl Reader for QwenReader {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        self.events.line(line)
    }

    fn error_line(&mut self, line: &str) -> Vec<AgentEvent> {
        self.retries.line(line)
    }

    fn finish(&mut self, exit: &Exit, stderr_tail: &str) -> Ending {
        let mut ending = self.events.finish(exit, stderr_tail);
        if ending.text.trim_start().starts_with(API_ERROR) {
            ending.well = false;
            ending.fault = Some(Fault::classify(None, &ending.text));
        } else if ending.fault.as_ref().is_some_and(|fault| fault.message.starts_with(PLAIN_TEXT)) {
            ending.well = true;
            ending.notes.extend(ending.fault.take().map(|fault| fault.message));
        }
        ending.with_text_as_structured()
    }
}

#[cfg(test)]
#[path = "qwen_tests.rs"]
mod tests;
