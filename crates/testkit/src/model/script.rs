//! What the model says when: rules, each with its turns.
//!
//! The first rule that matches a request answers it, with the turn that the conversation has come to: the number of
//! answers since the user's words that contain the rule's marker. In JSON, as `planex-testkit-model --script` reads it:
//!
//! ```json
//! {
//!   "rules": [
//!     {
//!       "when": { "contains": ["Task ID: T1"], "dialect": "responses" },
//!       "turns": [
//!         { "fail": [{ "http": { "status": 429, "retry_after": 1 } }], "calls": [{ "shell": "echo hi > a.txt" }] },
//!         { "calls": [{ "write": { "path": "b.txt", "content": "hello\n" } }] },
//!         { "json": { "id": "T1", "status": "completed" }, "usage": { "input": 1000 }, "delay_ms": 20 }
//!       ]
//!     },
//!     { "times": 1, "turns": [{ "fail": ["cut"], "text": "never said, the rule is used up" }] },
//!     { "turns": [{ "text": "Done." }] }
//!   ]
//! }
//! ```
//!
//! | field of `when`  | matches if                                                                     |
//! | ---------------- | ------------------------------------------------------------------------------ |
//! | `contains`       | all of these are in the user's words, at any time of the conversation          |
//! | `last_contains`  | all of these are in the user's *last* words (for resumed sessions)             |
//! | `absent`         | none of these is                                                               |
//! | `dialect`        | `responses` (codex), `messages` (claude), `gemini`, `chat` (opencode, qwen)    |
//!
//! | field of a turn | meaning                                                                                    |
//! | --------------- | ------------------------------------------------------------------------------------------ |
//! | `fail`          | goes wrong first, each entry once (counted over all conversations)                         |
//! | `text`, `calls` | text, and tools to run: `shell`, `read`, `write`, `edit`, `tool`                           |
//! | `json`          | the final result, by the agent's own way of structured output, else as text                |
//! | `usage`         | tokens: `input`, `cached`, `output`, `reasoning`                                           |
//! | `delay_ms`      | wait before the first byte                                                                 |
//!
//! After the last turn it is repeated if it makes no calls; else the model says `Done.` A rule with `times` answers so
//! many requests only, and is passed over afterwards.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dialect::Dialect;
use super::lock;
use super::reply::{Call, Failure, Reply, Usage};
use super::request::ModelRequest;

/// Rules in the order of their precedence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The rules.
    pub rules: Vec<Rule>,
}

/// When to say what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Which requests.
    pub when: When,
    /// What is answered, in order.
    pub turns: Vec<Turn>,
    /// How many requests it answers at most.
    pub times: Option<usize>,
}

/// Which requests a rule is for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// All of these are in the user's words.
    pub contains: Vec<String>,
    /// All of these are in the user's last words.
    pub last_contains: Vec<String>,
    /// None of these is in the user's words.
    pub absent: Vec<String>,
    /// Only this protocol.
    pub dialect: Option<Dialect>,
}

/// One answer of a rule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// Goes wrong first, each once.
    pub fail: Vec<Failure>,
    /// Text.
    pub text: Option<String>,
    /// Tools to run.
    pub calls: Vec<Call>,
    /// The final result.
    pub json: Option<Value>,
    /// Tokens.
    pub usage: Usage,
    /// Milliseconds before the first byte.
    pub delay_ms: u64,
}

impl Script {
    /// A script without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule; earlier ones go before it.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

impl Rule {
    /// For conversations in which the user's words contain a text.
    #[must_use]
    pub fn when(marker: impl Into<String>) -> Self {
        Self { when: When { contains: vec![marker.into()], ..When::default() }, ..Self::default() }
    }

    /// For all.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Only if the user's words contain this too.
    #[must_use]
    pub fn and(mut self, marker: impl Into<String>) -> Self {
        self.when.contains.push(marker.into());
        self
    }

    /// Only if the user's last words contain this.
    #[must_use]
    pub fn and_last(mut self, marker: impl Into<String>) -> Self {
        self.when.last_contains.push(marker.into());
        self
    }

    /// Only if the user's words do not contain this.
    #[must_use]
    pub fn without(mut self, marker: impl Into<String>) -> Self {
        self.when.absent.push(marker.into());
        self
    }

    /// Only for agents of this protocol.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.when.dialect = Some(dialect);
        self
    }

    /// Answers so many requests only.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.times = Some(count);
        self
    }

    /// Then: a whole turn.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Then: a text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.turn(Turn { text: Some(text.into()), ..Turn::default() })
    }

    /// Then: a final result.
    #[must_use]
    pub fn json(self, json: Value) -> Self {
        self.turn(Turn { json: Some(json), ..Turn::default() })
    }

    /// Then: a tool call.
    #[must_use]
    pub fn call(self, call: Call) -> Self {
        self.turn(Turn { calls: vec![call], ..Turn::default() })
    }

    /// Then: a shell command through the agent's own tool.
    #[must_use]
    pub fn shell(self, command: impl Into<String>) -> Self {
        self.call(Call::Shell(command.into()))
    }

    /// Then: a new file through the agent's own tool.
    #[must_use]
    pub fn write(self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.call(Call::Write { path: path.into(), content: content.into() })
    }

    /// Then: nothing but a failure, for ever; with [`Rule::times`] the next rule follows.
    #[must_use]
    pub fn always(self, failure: Failure) -> Self {
        self.turn(Turn { fail: vec![failure; 1000], ..Turn::default() })
    }

    /// The last turn goes wrong first, once more.
    #[must_use]
    pub fn failing_first(mut self, failure: Failure) -> Self {
        if let Some(turn) = self.turns.last_mut() {
            turn.fail.push(failure);
        }
        self
    }

    /// What the last turn costs.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        if let Some(turn) = self.turns.last_mut() {
            turn.usage = usage;
        }
        self
    }

    /// The last turn lets wait.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        if let Some(turn) = self.turns.last_mut() {
            turn.delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        }
        self
    }

    /// The place of the words that started it, if the rule matches.
    fn matches(&self, request: &ModelRequest) -> Option<usize> {
        let When { contains, last_contains, absent, dialect } = &self.when;
        let last = request.prompt();
        let fits = contains.iter().all(|marker| request.contains(marker))
            && last_contains.iter().all(|marker| last.contains(marker))
            && !absent.iter().any(|marker| request.contains(marker))
            && dialect.is_none_or(|dialect| dialect == request.dialect);
        let anchor = if last_contains.is_empty() { request.anchor(contains) } else { request.anchor(&[]) };
        fits.then(|| anchor.unwrap_or(0))
    }
}

/// Plays a script: all that it remembers is how often rules answered and which failures are used up.
pub(super) struct Player {
    script: Script,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    answered: HashMap<usize, usize>,
    failed: HashMap<(usize, usize), usize>,
}

impl Player {
    pub(super) fn new(script: Script) -> Self {
        Self { script, counts: Mutex::default() }
    }

    pub(super) fn answer(&self, request: &mut ModelRequest) -> Reply {
        let mut counts = lock(&self.counts);
        for (index, rule) in self.script.rules.iter().enumerate() {
            let Some(anchor) = rule.matches(request) else { continue };
            let answered = counts.answered.entry(index).or_default();
            if rule.times.is_some_and(|times| *answered >= times) {
                continue;
            }
            *answered += 1;
            request.rule = Some(index);
            let at = request.answers_since(anchor);
            let (at, turn) = match (rule.turns.get(at), rule.turns.last()) {
                (Some(turn), _) => (at, turn),
                (None, Some(last)) if last.calls.is_empty() => (rule.turns.len() - 1, last),
                (None, _) => return Reply::text("Done."),
            };
            let failed = counts.failed.entry((index, at)).or_default();
            if let Some(failure) = turn.fail.get(*failed) {
                *failed += 1;
                return Reply::failure(failure.clone());
            }
            return Reply {
                text: turn.text.clone(),
                calls: turn.calls.clone(),
                json: turn.json.clone(),
                usage: turn.usage,
                delay: Duration::from_millis(turn.delay_ms),
                failure: None,
            };
        }
        Reply::text("No rule of the script matches.")
    }
}
