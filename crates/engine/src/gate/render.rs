//! A gate as plain text, for where nobody can be asked.

use std::fmt::Write as _;

use planex_core::gate::Gate;

/// The gate as text: title, body, questions with their options, and one unwrapped line that answers it.
#[must_use]
pub fn render_text(gate: &Gate, session: &str) -> String {
    let mut out = format!("{}\n", gate.title);
    if !gate.body.is_empty() {
        let _ = writeln!(out, "\n{}", gate.body.trim_end());
    }
    for question in &gate.questions {
        let _ = writeln!(out, "\n{}: {}", question.id, question.question);
        for option in &question.options {
            let mark = if option.id == question.default { " (default)" } else { "" };
            let _ = write!(out, "  {}{mark}: {}", option.id, option.label);
            let _ = match option.description.is_empty() {
                true => writeln!(out),
                false => writeln!(out, " - {}", option.description),
            };
        }
        if question.free_text {
            out.push_str("  or your own words: --text WORDS\n");
        }
    }
    let _ = writeln!(out, "\n{}", answer_line(gate, session));
    let _ = writeln!(out, "planex resume {}", shell_word(session));
    out
}

/// `planex answer SESSION q=OPTION [q2=OPTION …]`, on one line, with the defaults filled in.
#[must_use]
pub fn answer_line(gate: &Gate, session: &str) -> String {
    let mut line = format!("planex answer {}", shell_word(session));
    for question in &gate.questions {
        let value = if question.options.is_empty() { "WORDS" } else { question.default.as_str() };
        let _ = write!(line, " {}", shell_word(&format!("{}={value}", question.id)));
    }
    line
}

/// A word as a POSIX shell takes it. Session ids of any form are accepted when read, so they may need quotes.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '=' | '/' | ':' | ',' | '+');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
