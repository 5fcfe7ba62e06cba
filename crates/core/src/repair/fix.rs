//! Mending almost-JSON where only one reading is possible.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lex::{Token, token};

/// Why a text is no JSON, at the place where a strict reader stops.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct JsonFault {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What was expected.
    pub message: String,
}

/// Reads a JSON file that a person may have edited: what is certain is mended and named.
///
/// # Errors
/// The fault that a strict reader finds first, if the text cannot be mended with certainty.
pub fn read_tolerant(text: &str) -> Result<(Value, Vec<String>), JsonFault> {
    match serde_json::from_str(text) {
        Ok(value) => Ok((value, Vec::new())),
        Err(error) => fix(text).ok_or_else(|| fault(text, &error)),
    }
}

fn fault(text: &str, error: &serde_json::Error) -> JsonFault {
    let line = error.line().max(1);
    let bytes = error.column().saturating_sub(1);
    let content = text.split('\n').nth(line - 1).unwrap_or("");
    let column = content.char_indices().take_while(|(i, _)| *i < bytes).count() + 1;
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    JsonFault { line, column, message }
}

/// Mends `text`, which is one JSON value and perhaps comments and space around it.
///
/// Mended are: byte order marks and odd spaces, comments, trailing commas, Python's `True`, `False` and `None`, smart
/// quotes around strings, and in strings raw control characters and backslashes that escape nothing. `None`: it is
/// not JSON even then, or a repair would be a guess.
#[must_use]
pub fn fix(text: &str) -> Option<(Value, Vec<String>)> {
    let mut fixer = Fixer { text, out: String::with_capacity(text.len() + 16), repairs: BTreeSet::new() };
    fixer.run()?;
    let value = serde_json::from_str(&fixer.out).ok()?;
    Some((value, fixer.repairs.into_iter().map(str::to_owned).collect()))
}

struct Fixer<'a> {
    text: &'a str,
    out: String,
    repairs: BTreeSet<&'static str>,
}

impl Fixer<'_> {
    fn run(&mut self) -> Option<()> {
        let mut at = 0;
        loop {
            match token(self.text, at) {
                Token::Open(byte) => {
                    self.out.push(char::from(byte));
                    at += 1;
                }
                Token::Mark(byte) => {
                    self.out.push(char::from(byte));
                    at += 1;
                }
                Token::Close(byte) => {
                    self.drop_trailing_comma();
                    self.out.push(char::from(byte));
                    at += 1;
                }
                Token::Text { start, end, next, smart } => {
                    self.string(start, end, smart)?;
                    at = next;
                }
                Token::Comment(next) => {
                    self.repairs.insert("comment removed");
                    self.out.push(' ');
                    at = next;
                }
                Token::Space(next) => {
                    self.space(at, next);
                    at = next;
                }
                Token::Word(next) => {
                    self.word(at, next);
                    at = next;
                }
                Token::Unended => return None,
                Token::End => return Some(()),
            }
        }
    }

    fn drop_trailing_comma(&mut self) {
        let solid = self.out.trim_end().len();
        // `[,]` holds no value before the comma: what was meant there is unknown.
        let before = self.out[..solid].strip_suffix(',').map(str::trim_end);
        if let Some(before) = before
            && !before.ends_with(['[', '{', ',', ':'])
            && !before.is_empty()
        {
            self.out.truncate(solid - 1);
            self.repairs.insert("trailing comma removed");
        }
    }

    fn space(&mut self, from: usize, to: usize) {
        let space = &self.text[from..to];
        if space.bytes().all(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t')) {
            self.out.push_str(space);
        } else {
            self.repairs.insert("byte order mark or odd space removed");
            self.out.push(' ');
        }
    }

    fn word(&mut self, from: usize, to: usize) {
        let word = &self.text[from..to];
        let python = match word {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            _ => {
                self.out.push_str(word);
                return;
            }
        };
        self.repairs.insert("Python constant read as JSON");
        self.out.push_str(python);
    }

    fn string(&mut self, start: usize, end: usize, smart: bool) -> Option<()> {
        let body = &self.text[start..end];
        if smart {
            self.repairs.insert("smart quotes around a string replaced");
        }
        self.out.push('"');
        let mut word_start = 0;
        for (at, c) in body.char_indices() {
            if c.is_whitespace() {
                self.run_of(&body[word_start..at], smart)?;
                self.plain(c, smart);
                word_start = at + c.len_utf8();
            }
        }
        self.run_of(&body[word_start..], smart)?;
        self.out.push('"');
        Some(())
    }

    /// One stretch of a string without white space: the unit in which backslashes are judged.
    fn run_of(&mut self, run: &str, smart: bool) -> Option<()> {
        let raw = match backslashes(run) {
            Backslashes::Escapes => false,
            Backslashes::Raw => true,
            Backslashes::Unclear => return None,
        };
        if raw {
            self.repairs.insert("backslash in a string doubled");
        }
        let mut chars = run.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                self.plain(c, smart);
            } else if raw {
                self.out.push_str("\\\\");
            } else {
                self.out.push('\\');
                self.out.extend(chars.next());
            }
        }
        Some(())
    }

    fn plain(&mut self, c: char, smart: bool) {
        let escaped = match c {
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '"' if smart => "\\\"",
            c if u32::from(c) < 0x20 => {
                self.repairs.insert("control character in a string escaped");
                self.out.push_str(&format!("\\u{:04x}", u32::from(c)));
                return;
            }
            c => {
                self.out.push(c);
                return;
            }
        };
        if c != '"' {
            self.repairs.insert("raw newline or tab in a string escaped");
        }
        self.out.push_str(escaped);
    }
}

/// How the backslashes of a stretch are meant.
enum Backslashes {
    /// As JSON: nothing to do.
    Escapes,
    /// As themselves.
    Raw,
    /// Some escape nothing and some do: a path such as `src\new\Util`, or a newline before a pattern?
    Unclear,
}

fn backslashes(run: &str) -> Backslashes {
    let (mut letters, mut invalid, mut certain) = (false, false, false);
    let mut rest = run;
    while let Some(at) = rest.find('\\') {
        let after = &rest[at + 1..];
        let next = after.chars().next();
        match next {
            Some('"' | '\\' | '/') => certain = true,
            Some('n' | 't' | 'r' | 'b' | 'f') => letters = true,
            Some('u') if after.len() >= 5 && after.bytes().skip(1).take(4).all(|b| b.is_ascii_hexdigit()) => {
                letters = true;
            }
            _ => invalid = true,
        }
        rest = &after[next.map_or(0, char::len_utf8)..];
    }
    match (invalid, letters, certain) {
        (false, _, _) => Backslashes::Escapes,
        (true, false, false) => Backslashes::Raw,
        // `C:\Users\new`: after a drive letter every backslash separates.
        (true, true, false) if has_drive(run) => Backslashes::Raw,
        (true, _, _) => Backslashes::Unclear,
    }
}

/// Whether the stretch is a path with a drive letter, perhaps in brackets or quotes.
fn has_drive(run: &str) -> bool {
    let path = run.trim_start_matches(['\'', '(', '[', '`', '<']);
    let bytes = path.as_bytes();
    bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\'
}
