//! A request to the model, read in the words that all dialects share.

use serde_json::Value;

use super::dialect::Dialect;

/// Beginnings of what agents put into the user's place by themselves.
const CONTEXTS: [&str; 8] = [
    "<system-reminder>",
    "<environment_context>",
    "<session_context>",
    "<user_instructions>",
    "<skills_instructions>",
    "<permissions",
    "# AGENTS.md",
    "This is the Qwen Code.",
];

/// Beginnings of the texts after which agents name their working folder.
const FOLDERS: [&str; 5] = [
    "<cwd>",
    "orking directory: ",
    "working in the directory: ",
    "**Workspace Directories:**\n  - ",
    "Workspace root folder: ",
];

/// One piece of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// System, developer: the agent's own instructions.
    System(String),
    /// The user, and what agents put in the user's place.
    User(String),
    /// Text or a tool call of the model.
    Model,
    /// What a tool gave.
    ToolResult(String),
}

/// A recorded request to the model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Which protocol it speaks.
    pub dialect: Dialect,
    /// Path with query.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Value,
    /// Index of the script's rule that answered; `None`: none did.
    pub rule: Option<usize>,
    items: Vec<Item>,
}

impl ModelRequest {
    pub(super) fn new(dialect: Dialect, path: String, headers: Vec<(String, String)>, body: Value) -> Self {
        let items = dialect.items(&body);
        Self { dialect, path, headers, body, rule: None, items }
    }

    /// The user's last words: the prompt of this turn.
    #[must_use]
    pub fn prompt(&self) -> &str {
        self.anchor(&[]).and_then(|at| self.user_at(at)).unwrap_or_default()
    }

    /// Whether the user's side of the conversation contains a text, at any time.
    #[must_use]
    pub fn contains(&self, marker: &str) -> bool {
        self.items.iter().any(|item| matches!(item, Item::User(text) if text.contains(marker)))
    }

    /// The agent's own instructions.
    #[must_use]
    pub fn system(&self) -> String {
        let texts = self.items.iter().filter_map(|item| match item {
            Item::System(text) => Some(text.as_str()),
            Item::User(_) | Item::Model | Item::ToolResult(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Everything that tools gave since the user's last words, in order.
    #[must_use]
    pub fn tool_results(&self) -> Vec<String> {
        let after = self.anchor(&[]).unwrap_or(0);
        let results = self.items.iter().skip(after).filter_map(|item| match item {
            Item::ToolResult(text) => Some(text.clone()),
            Item::System(_) | Item::User(_) | Item::Model => None,
        });
        results.collect()
    }

    /// Names of the tools that the model may use.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        self.dialect.tools(&self.body)
    }

    /// The JSON Schema that the final answer must fit, where the agent sends one.
    #[must_use]
    pub fn schema(&self) -> Option<Value> {
        self.dialect.schema(&self.body)
    }

    /// Name of the model that is asked.
    #[must_use]
    pub fn model(&self) -> String {
        let in_path = || self.path.split("/models/").nth(1).and_then(|rest| rest.split(':').next());
        self.body["model"].as_str().or_else(in_path).unwrap_or_default().to_owned()
    }

    /// A header by its lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The agent's own id of its session, where its requests carry one (codex, claude, opencode).
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        ["x-claude-code-session-id", "session-id", "session_id", "x-session-id"]
            .iter()
            .find_map(|name| self.header(name))
    }

    /// The working folder as the agent tells the model.
    #[must_use]
    pub fn cwd(&self) -> Option<String> {
        FOLDERS.iter().find_map(|beginning| {
            self.items.iter().find_map(|item| {
                let text = match item {
                    Item::System(text) | Item::User(text) => text,
                    Item::Model | Item::ToolResult(_) => return None,
                };
                let path = text.split(beginning).skip(1).find(|rest| rest.starts_with('/'))?;
                Some(path.split(['\n', '<']).next().unwrap_or_default().trim_end().to_owned())
            })
        })
    }

    /// Whether the answer is to be a stream.
    pub(super) fn is_streaming(&self) -> bool {
        match self.dialect {
            Dialect::Gemini => self.path.contains(":streamGenerateContent"),
            Dialect::Responses | Dialect::Messages | Dialect::Chat => self.body["stream"] == true,
        }
    }

    /// Whether it is a request beside the work (a title, a memory): the model is offered no tool by an agent that
    /// works with tools. Scripts are not asked.
    pub(super) fn is_side(&self) -> bool {
        self.dialect == Dialect::Chat && self.header("user-agent").is_some_and(is_agent) && self.tools().is_empty()
    }

    /// Place of the last words of the user that contain one of `markers`; without markers, of the last words that are
    /// the user's own.
    pub(super) fn anchor(&self, markers: &[String]) -> Option<usize> {
        self.items.iter().rposition(|item| match item {
            Item::User(text) if markers.is_empty() => {
                !CONTEXTS.iter().any(|context| text.trim_start().starts_with(context))
            }
            Item::User(text) => markers.iter().any(|marker| text.contains(marker)),
            Item::System(_) | Item::Model | Item::ToolResult(_) => false,
        })
    }

    /// The user's words at a place of [`ModelRequest::anchor`].
    pub(super) fn user_at(&self, at: usize) -> Option<&str> {
        match self.items.get(at) {
            Some(Item::User(text)) => Some(text),
            Some(Item::System(_) | Item::Model | Item::ToolResult(_)) | None => None,
        }
    }

    /// How often the model has answered since a place: several pieces without a tool's result between are one answer.
    pub(super) fn answers_since(&self, at: usize) -> usize {
        let mut count = 0;
        let mut speaking = false;
        for item in self.items.iter().skip(at + 1) {
            match item {
                Item::Model => {
                    count += usize::from(!speaking);
                    speaking = true;
                }
                Item::User(_) | Item::ToolResult(_) => speaking = false,
                Item::System(_) => {}
            }
        }
        count
    }
}

fn is_agent(user_agent: &str) -> bool {
    user_agent.starts_with("opencode") || user_agent.starts_with("QwenCode")
}
