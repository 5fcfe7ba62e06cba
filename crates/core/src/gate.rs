//! A gate: questions that stop the workflow until they are answered, as data (spec 80, *Gates*).
//!
//! A gate is written to the session before it is asked, its [`Answer`] before anything acts on it. There is no way
//! through a gate but an answer or `-y`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Questions that stop the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Id, unique in the session: `angles`, `tasks-2`, …
    pub id: String,
    /// One line that says what is to be decided.
    pub title: String,
    /// What the user must see to decide, as plain text with line breaks, already safe to show.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// 1 to 4 questions.
    pub questions: Vec<Question>,
    /// Hash of exactly what an answer approves, where the gate approves something (spec 20, spec 70).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approves: Option<String>,
    /// When it was opened.
    pub opened_at: jiff::Timestamp,
}

/// One question of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Id, unique in the gate: the `q` of `planex answer SESSION q=option`.
    pub id: String,
    /// Short label (12 columns).
    pub header: String,
    /// The question.
    pub question: String,
    /// What can be chosen; empty: only free text.
    pub options: Vec<Choice>,
    /// Id of the option that `-y` takes; the first option unless the gate's text says otherwise.
    pub default: String,
    /// Whether own words are an answer too.
    #[serde(default)]
    pub free_text: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Id: `approve`.
    pub id: String,
    /// What is shown: `Approve`.
    pub label: String,
    /// What choosing it does.
    #[serde(default)]
    pub description: String,
}

impl Choice {
    /// An option from its three texts.
    #[must_use]
    pub fn new(id: &str, label: &str, description: &str) -> Self {
        Self { id: id.to_owned(), label: label.to_owned(), description: description.to_owned() }
    }
}

/// Who answered a gate; the journal names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answerer {
    /// A person at the terminal.
    Terminal,
    /// `-y`: the defaults.
    Yes,
    /// `planex answer`.
    Command,
    /// A host through MCP.
    Mcp,
    /// The page.
    Page,
    /// The TUI.
    Tui,
    /// `gate_timeout` (clarifications only).
    Timeout,
}

/// What was chosen for one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// Id of the option, or `None` for own words alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The answer to a whole gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The gate's id.
    pub gate: String,
    /// By question id; every question has one.
    pub chosen: BTreeMap<String, Chosen>,
    /// Who answered.
    pub by: Answerer,
    /// When.
    pub at: jiff::Timestamp,
    /// [`Gate::approves`] as it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approves: Option<String>,
}

impl Answer {
    /// The option chosen for `question`, if one was.
    #[must_use]
    pub fn option(&self, question: &str) -> Option<&str> {
        self.chosen.get(question).and_then(|chosen| chosen.option.as_deref())
    }
}

/// Why a text answers no question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The gate has no such question.
    #[error("the gate `{gate}` has no question `{question}`; it has {}", .known.join(", "))]
    UnknownQuestion {
        /// The gate.
        gate: String,
        /// What was asked for.
        question: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No option matches, and free text is not taken.
    #[error("`{given}` is no option of `{question}`; choose one of {}", .options.join(", "))]
    UnknownOption {
        /// The question.
        question: String,
        /// What was given.
        given: String,
        /// Ids of the options.
        options: Vec<String>,
    },
    /// Several options match.
    #[error("`{given}` could be any of {}; write it out", .options.join(", "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// Ids of the options that match.
        options: Vec<String>,
    },
    /// A question was left open.
    #[error("the question `{0}` has no answer")]
    Missing(String),
}

impl Question {
    /// Finds the option that `given` means: its id, its label, or a unique prefix of either, in any case.
    ///
    /// # Errors
    /// When none or several match.
    pub fn resolve(&self, given: &str) -> Result<&Choice, AnswerError> {
        let wanted = given.trim().to_lowercase();
        let exact = |c: &&Choice| c.id.to_lowercase() == wanted || c.label.to_lowercase() == wanted;
        if let Some(choice) = self.options.iter().find(exact) {
            return Ok(choice);
        }
        let matches: Vec<&Choice> = self
            .options
            .iter()
            .filter(|c| {
                !wanted.is_empty()
                    && (c.id.to_lowercase().starts_with(&wanted) || c.label.to_lowercase().starts_with(&wanted))
            })
            .collect();
        match matches.as_slice() {
            [one] => Ok(one),
            [] => Err(AnswerError::UnknownOption {
                question: self.id.clone(),
                given: given.to_owned(),
                options: self.options.iter().map(|c| c.id.clone()).collect(),
            }),
            several => Err(AnswerError::Ambiguous {
                given: given.to_owned(),
                options: several.iter().map(|c| c.id.clone()).collect(),
            }),
        }
    }
}

impl Gate {
    /// The answer that `-y` gives: every question's default.
    #[must_use]
    pub fn defaults(&self, by: Answerer, at: jiff::Timestamp) -> Answer {
        let chosen = self
            .questions
            .iter()
            .map(|q| (q.id.clone(), Chosen { option: Some(q.default.clone()), text: None }))
            .collect();
        Answer { gate: self.id.clone(), chosen, by, at, approves: self.approves.clone() }
    }

    /// Builds an answer from `question=option` pairs and own words.
    ///
    /// `text` goes to the one question that takes free text; a pair whose value matches no option of such a question
    /// is taken as own words. With a single question, the pair's name may be left out (`=approve`).
    ///
    /// # Errors
    /// When a question or option is unknown or ambiguous, or a question is left without an answer.
    pub fn answer(
        &self,
        pairs: &[(String, String)],
        text: Option<&str>,
        by: Answerer,
        at: jiff::Timestamp,
    ) -> Result<Answer, AnswerError> {
        let mut chosen: BTreeMap<String, Chosen> = BTreeMap::new();
        for (name, value) in pairs {
            let question = self.question(name)?;
            let picked = match question.resolve(value) {
                Ok(choice) => Chosen { option: Some(choice.id.clone()), text: None },
                Err(AnswerError::UnknownOption { .. }) if question.free_text => {
                    Chosen { option: None, text: Some(value.clone()) }
                }
                Err(error) => return Err(error),
            };
            chosen.insert(question.id.clone(), picked);
        }
        if let Some(words) = text {
            let free = self.questions.iter().find(|q| q.free_text).or_else(|| self.questions.first());
            if let Some(question) = free {
                let entry = chosen.entry(question.id.clone()).or_insert(Chosen { option: None, text: None });
                entry.text = Some(words.to_owned());
            }
        }
        for question in &self.questions {
            match chosen.get(&question.id) {
                Some(picked) if picked.option.is_some() || question.free_text => {}
                _ => return Err(AnswerError::Missing(question.id.clone())),
            }
        }
        Ok(Answer { gate: self.id.clone(), chosen, by, at, approves: self.approves.clone() })
    }

    fn question(&self, name: &str) -> Result<&Question, AnswerError> {
        if let ([only], true) = (self.questions.as_slice(), name.is_empty()) {
            return Ok(only);
        }
        self.questions.iter().find(|q| q.id.eq_ignore_ascii_case(name)).ok_or_else(|| AnswerError::UnknownQuestion {
            gate: self.id.clone(),
            question: name.to_owned(),
            known: self.questions.iter().map(|q| q.id.clone()).collect(),
        })
    }
}
