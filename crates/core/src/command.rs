//! Which lines of a text are commands that planex runs to verify, and which are advice (spec 70, *Truth over claims*).
//!
//! One entry a line; a bullet or a number in front is no part of it. Marked as a command is a line that starts with `$ `
//! or stands in backticks as a whole; the marks are no part of the command. An unmarked line is one if its first word,
//! after `VAR=value`, is a program or a file of the project, and no later word is ordinary prose. Everything else is
//! advice for the agent. A command is kept exactly as written: it is one line for a shell, and the same text is shown,
//! approved and run.
//!
//! What decides the doubtful cases: quoted words are data and never prose, and a comment (`# …`) is not looked at; a
//! backtick or a quote without its end in an unmarked line makes it prose; `.`, `./...` and `parser::` are arguments, no
//! ends of sentences; `cd`, `.` and `[` are known to every shell, so they count as programs everywhere. A line with
//! control, invisible or bidirectional characters is never a command, marked or not: what people approve would not be
//! what runs.

mod prose;
mod words;

use serde::{Deserialize, Serialize};

use crate::text::safe;
use words::Words;

/// Of the words that a shell knows by itself, those that start real commands and no sentence.
const OF_THE_SHELL: [&str; 3] = ["cd", ".", "["];

/// A text read as entries: what planex runs, and what is said to the agent only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directives {
    /// Commands, each one shell line exactly as written, in the order of the text.
    pub commands: Vec<String>,
    /// Everything else, each a line without the white space around it.
    pub advice: Vec<String>,
}

impl Directives {
    /// Reads `text`, for example `execution_directives` of a row. `is_program` says of a first word whether it is a
    /// program on the search path or a file of the project.
    ///
    /// Every line that is not blank is in exactly one of the lists; only the fences of a code block are in none.
    #[must_use]
    pub fn read(text: &str, is_program: impl Fn(&str) -> bool) -> Self {
        let mut read = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_fence(line)) {
            match command(line, &is_program) {
                Some(command) => read.commands.push(command.to_owned()),
                None => read.advice.push(line.to_owned()),
            }
        }
        read
    }

    /// Reads several entries, for example `convergence.verification` where it is a list: each is one line or more.
    #[must_use]
    pub fn read_all<T: AsRef<str>>(entries: &[T], is_program: impl Fn(&str) -> bool) -> Self {
        let mut all = Self::default();
        for entry in entries {
            let mut read = Self::read(entry.as_ref(), &is_program);
            all.commands.append(&mut read.commands);
            all.advice.append(&mut read.advice);
        }
        all
    }
}

/// The command in one line, if it is one.
fn command<'l>(line: &'l str, is_program: &impl Fn(&str) -> bool) -> Option<&'l str> {
    let entry = without_bullet(line);
    let found = match marked(entry) {
        Some(command) => Some(command),
        None => Some(entry).filter(|entry| reads_as_command(entry, is_program)),
    };
    found.filter(|command| !command.is_empty() && safe(command) == **command)
}

/// What a mark encloses: `$ …`, or backticks around the whole entry (after which a sentence may end).
fn marked(entry: &str) -> Option<&str> {
    if let Some(rest) = entry.strip_prefix('$')
        && rest.starts_with(char::is_whitespace)
    {
        let rest = rest.trim();
        // Both marks at once: nobody wants to run what the command prints.
        return Some(in_backticks(rest).unwrap_or(rest));
    }
    let inner = in_backticks(entry).or_else(|| in_backticks(entry.trim_end_matches(['.', ',', ';'])))?;
    Some(inner.strip_prefix("$ ").map_or(inner, str::trim))
}

/// What stands between two equal runs of backticks, without such a run in it (as in Markdown).
fn in_backticks(text: &str) -> Option<&str> {
    let inner = text.trim_start_matches('`');
    let run = text.get(..text.len() - inner.len()).filter(|run| !run.is_empty())?;
    let inner = inner.strip_suffix(run).filter(|inner| !inner.contains(run) && !inner.ends_with('`'))?;
    Some(inner.trim()).filter(|inner| !inner.is_empty())
}

/// The opening or closing line of a code block.
fn is_fence(line: &str) -> bool {
    line.strip_prefix("```").is_some_and(|info| info.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// The entry behind `- `, `* `, `+ `, `• `, `1. `, `1) `, and behind a check box after one of these.
fn without_bullet(line: &str) -> &str {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = if number.len() < line.len() {
        number.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+', '•'])
    };
    let Some(entry) = behind.filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim_start) else {
        return line;
    };
    let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| entry.strip_prefix(mark));
    boxed.map_or(entry, str::trim_start)
}

/// Whether an unmarked entry is a command.
fn reads_as_command(entry: &str, is_program: &impl Fn(&str) -> bool) -> bool {
    let Some(words) = Words::read(entry) else { return false };
    let mut words = words.iter().skip_while(|word| word.is_assignment() || word.text == "!");
    let Some(first) = words.next() else { return false };
    let starts = OF_THE_SHELL.contains(&first.text.as_str()) || is_program(&first.text);
    starts && !words.any(|word| !word.quoted && prose::is_prose(&word.text))
}

#[cfg(test)]
mod tests;
