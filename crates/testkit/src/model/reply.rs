//! What the scripted model says, before it is put into a dialect.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One answer of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Text before the calls, or the final text.
    pub text: Option<String>,
    /// Tools that the model asks the agent to run.
    pub calls: Vec<Call>,
    /// The final result: through the agent's own way of structured output where the request offers one, else as text.
    pub json: Option<Value>,
    /// Tokens that the answer claims to have cost.
    pub usage: Usage,
    /// Waited before the first byte.
    pub delay: Duration,
    /// Something goes wrong instead.
    pub failure: Option<Failure>,
}

impl Reply {
    /// A final text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A final result.
    #[must_use]
    pub fn json(json: Value) -> Self {
        Self { json: Some(json), ..Self::default() }
    }

    /// One tool call.
    #[must_use]
    pub fn call(call: Call) -> Self {
        Self { calls: vec![call], ..Self::default() }
    }

    /// Something goes wrong.
    #[must_use]
    pub fn failure(failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }
}

/// A tool call in the words of a script; each dialect turns it into the tool that the request offers for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    /// A shell command.
    Shell(String),
    /// A look into a file. Claude's own tools change no existing file before that.
    Read(String),
    /// A whole new file: `path` absolute, or relative to the agent's working folder.
    Write {
        /// The file.
        path: String,
        /// All of its content.
        content: String,
    },
    /// A text that is in the file once, replaced.
    Edit {
        /// The file.
        path: String,
        /// What is there: whole lines.
        old: String,
        /// What is to be there.
        new: String,
    },
    /// Any tool by its own name, with its own arguments.
    Tool {
        /// Name, as the request offers it.
        name: String,
        /// Arguments.
        #[serde(default)]
        args: Value,
    },
}

/// Tokens of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Input tokens, cached ones among them.
    pub input: u64,
    /// Of these, read from a cache.
    pub cached: u64,
    /// Output tokens, reasoning ones among them.
    pub output: u64,
    /// Of these, reasoning.
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, cached: 10, output: 20, reasoning: 5 }
    }
}

/// Something that goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Failure {
    /// An HTTP error: 401, 429, 500, 529, …
    Http {
        /// Status.
        status: u16,
        /// Seconds in a `Retry-After` header.
        #[serde(default)]
        retry_after: Option<u64>,
        /// Message in the body; by default one that fits the status.
        #[serde(default)]
        message: Option<String>,
    },
    /// No byte is ever sent.
    Hang,
    /// Headers and the beginning of the answer, then nothing more: a stream that stalls.
    Stall,
    /// The stream breaks off in the middle.
    Cut,
    /// A stream without any event.
    Empty,
    /// A stream of something that is no event.
    Garbage,
    /// The connection is closed before any header.
    Reset,
}

impl Failure {
    /// An HTTP error with the usual message.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::Http { status, retry_after: None, message: None }
    }

    /// 429 with `Retry-After`.
    #[must_use]
    pub fn rate_limit(seconds: u64) -> Self {
        Self::Http { status: 429, retry_after: Some(seconds), message: None }
    }
}
