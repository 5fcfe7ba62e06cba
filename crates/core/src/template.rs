//! Instructions of `planex fanout` with `{column}` placeholders (spec 10, *fanout*).
//!
//! - `{name}` stands for the row's value. It is put in once: a value that itself holds `{other}` stays as it is.
//! - `{{` and `}}` are literal braces.
//! - Instructions often show JSON or code, and people forget to double its braces. Braces on one line around something
//!   that looks like a name (letters, digits, `_`, `-`, `.`, spaces) are a placeholder, and must be a column. Braces
//!   around anything else (`{ "a": 1 }`, `{}`, `{ f(x) }`, a brace without its partner on the line) stand for
//!   themselves, unless exactly that is the name of a column. A lone `}` stands for itself.

use std::collections::HashSet;
use std::fmt;

use crate::suggest;
use crate::text;

/// Characters of an unknown name that are shown.
const SHOWN: usize = 60;

/// A parsed instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Hole(Hole),
}

/// Something in single braces.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hole {
    name: String,
    line: u64,
    column: u64,
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct TemplateError {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// What is wrong and how to mend it.
    pub message: String,
}

/// A placeholder that no column is there for. Displayed as `LINE:COLUMN: message`, to stand behind the file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPlaceholder {
    /// What stands between the braces.
    pub name: String,
    /// Line of the opening brace, from 1.
    pub line: u64,
    /// Column of the opening brace in characters, from 1.
    pub column: u64,
    /// The column that was probably meant.
    pub nearest: Option<String>,
}

impl fmt::Display for UnknownPlaceholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Blanks at its ends are part of a name, and may be all that is wrong with it.
        let blanks = |rest: usize| if rest > 0 { " " } else { "" };
        let before = blanks(self.name.len() - self.name.trim_start().len());
        let after = blanks(self.name.len() - self.name.trim_end().len());
        let shown = text::truncate_chars(&text::one_line(&self.name), SHOWN);
        write!(f, "{}:{}: there is no column for `{{{before}{shown}{after}}}`", self.line, self.column)?;
        match &self.nearest {
            Some(nearest) if nearest == self.name.trim() => {
                write!(f, "; write `{{{}}}`, without spaces inside the braces", text::one_line(nearest))?;
            }
            Some(nearest) => write!(f, "; did you mean `{{{}}}`?", text::one_line(nearest))?,
            None => {}
        }
        write!(f, " — literal braces are written `{{{{` and `}}}}`")
    }
}

impl std::error::Error for UnknownPlaceholder {}

impl Template {
    /// Parses an instruction.
    ///
    /// # Errors
    /// When it is empty: every job would be asked nothing.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.trim().is_empty() {
            let message = "the instruction is empty; say what each row's job is to do".to_owned();
            return Err(TemplateError { line: 1, column: 1, message });
        }
        Ok(Parser { rest: text, line: 1, column: 1, text: String::new(), parts: Vec::new() }.run())
    }

    /// Names of the placeholders, each once, in order of appearance. Braces that need not be one are not among them.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.holes().map(|hole| hole.name.as_str()).filter(|name| is_name(name) && seen.insert(*name)).collect()
    }

    /// Checks that there is a column for every placeholder.
    ///
    /// # Errors
    /// Each place that names none, with the nearest column.
    pub fn check<S: AsRef<str>>(&self, columns: &[S]) -> Result<(), Vec<UnknownPlaceholder>> {
        let known: HashSet<&str> = columns.iter().map(AsRef::as_ref).collect();
        let unknown: Vec<UnknownPlaceholder> = self
            .holes()
            .filter(|hole| is_name(&hole.name) && !known.contains(hole.name.as_str()))
            .map(|hole| UnknownPlaceholder {
                name: hole.name.clone(),
                line: hole.line,
                column: hole.column,
                nearest: nearest(&hole.name, columns).map(str::to_owned),
            })
            .collect();
        if unknown.is_empty() { Ok(()) } else { Err(unknown) }
    }

    /// The instruction for one row. What `value` does not know stays as it was written, braces included.
    #[must_use]
    pub fn render<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Hole(hole) => match value(&hole.name) {
                    Some(value) => out.push_str(value),
                    None => {
                        out.push('{');
                        out.push_str(&hole.name);
                        out.push('}');
                    }
                },
            }
        }
        out
    }

    fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(hole) => Some(hole),
            Part::Text(_) => None,
        })
    }
}

/// The column that was probably meant: the same name with other blanks around it, else one that is spelled alike.
fn nearest<'c, S: AsRef<str>>(name: &str, columns: &'c [S]) -> Option<&'c str> {
    let same = columns.iter().map(AsRef::as_ref).find(|column| *column == name.trim());
    same.or_else(|| suggest::nearest(name, columns.iter().map(AsRef::as_ref)))
}

/// Whether something in braces looks like the name of a column.
fn is_name(name: &str) -> bool {
    name.chars().any(char::is_alphanumeric)
        && name.chars().all(|c| {
            c.is_alphanumeric()
                || unicode_normalization::char::is_combining_mark(c)
                || matches!(c, '_' | '-' | '.' | ' ')
        })
}

struct Parser<'t> {
    rest: &'t str,
    line: u64,
    column: u64,
    text: String,
    parts: Vec<Part>,
}

impl Parser<'_> {
    fn run(mut self) -> Template {
        while let Some(at) = self.rest.find(['{', '}']) {
            self.take_text(at);
            if self.rest.starts_with("{{") || self.rest.starts_with("}}") {
                self.take_text(1);
                self.skip(1);
            } else if let Some(end) = closing(self.rest) {
                self.hole(end);
            } else {
                self.take_text(1);
            }
        }
        self.take_text(self.rest.len());
        self.flush();
        Template { parts: self.parts }
    }

    fn hole(&mut self, end: usize) {
        self.flush();
        let name = self.rest.get(1..end).unwrap_or_default().to_owned();
        self.parts.push(Part::Hole(Hole { name, line: self.line, column: self.column }));
        self.skip(end + 1);
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }

    fn take_text(&mut self, bytes: usize) {
        self.text.push_str(self.rest.get(..bytes).unwrap_or_default());
        self.skip(bytes);
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for c in skipped.chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
    }
}

/// Where the brace that opens `text` is closed, on the same line and with no other brace before.
fn closing(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('{')?;
    let at = inner.find(['{', '}', '\n', '\r'])?;
    inner.get(at..)?.starts_with('}').then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Template;

    const COLUMNS: [&str; 4] = ["id", "file name", "説明", "a:b"];

    fn value(name: &str) -> Option<&'static str> {
        match name {
            "id" => Some("7"),
            "file name" => Some("{id}"),
            "説明" => Some("${HOME} {{x}}"),
            "a:b" => Some("colon"),
            _ => None,
        }
    }

    #[test]
    fn values_are_put_in_once() {
        for (text, expected) in [
            ("Do {id} in {file name}.", "Do 7 in {id}."),
            ("{説明}", "${HOME} {{x}}"),
            ("{a:b}", "colon"),
            ("{{id}} {{{id}}} }} {{", "{id} {7} } {"),
            ("Reply {\"status\": \"ok\", \"id\": \"{id}\"}", "Reply {\"status\": \"ok\", \"id\": \"7\"}"),
            ("{ \"a\": {\"b\": {}}}", "{ \"a\": {\"b\": {}}"),
            ("fn f() { g(); }\nif x {\n  y\n}", "fn f() { g(); }\nif x {\n  y\n}"),
            ("} {", "} {"),
            ("{", "{"),
        ] {
            let template = Template::parse(text).expect("parses");
            assert_eq!(template.check(&COLUMNS), Ok(()), "{text}");
            assert_eq!(template.render(value), expected, "{text}");
        }
    }

    #[test]
    fn unknown_placeholders_are_named_with_place_and_nearest() {
        let template = Template::parse("Read {id}\n  and {file_name} or { id } or {nothing here}").expect("parses");
        let said: Vec<String> =
            template.check(&COLUMNS).expect_err("unknown").iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "2:7: there is no column for `{file_name}`; did you mean `{file name}`? — literal braces are written `{{` and `}}`",
                "2:22: there is no column for `{ id }`; write `{id}`, without spaces inside the braces — literal braces are written `{{` and `}}`",
                "2:32: there is no column for `{nothing here}` — literal braces are written `{{` and `}}`",
            ]
        );
        assert_eq!(template.columns(), ["id", "file_name", " id ", "nothing here"]);
    }

    #[test]
    fn an_empty_instruction_is_refused() {
        let error = Template::parse(" \n").expect_err("empty");
        assert_eq!((error.line, error.column), (1, 1));
    }

    proptest! {
        #[test]
        fn any_text_parses_and_text_without_braces_stays(text in "\\PC{1,60}", braces in "[{}a\n\" ]{1,40}") {
            prop_assume!(!text.trim().is_empty() && !braces.trim().is_empty());
            if !text.contains(['{', '}']) {
                prop_assert_eq!(Template::parse(&text).expect("parses").render(|_| None), text);
            }
            let template = Template::parse(&braces).expect("parses");
            let _ = template.check(&["a"]);
            let _ = template.render(|_| Some("x"));
        }

        #[test]
        fn doubled_braces_stand_for_themselves(text in "[{}a-c\n]{1,40}") {
            prop_assume!(!text.trim().is_empty());
            let doubled = text.replace('{', "{{").replace('}', "}}");
            prop_assert_eq!(Template::parse(&doubled).expect("parses").render(|_| Some("!")), text);
        }

        #[test]
        fn values_are_taken_as_they_are(value in "[{}a-c]{0,20}") {
            let template = Template::parse("<{id}|{id}>").expect("parses");
            prop_assert_eq!(template.render(|_| Some(&value)), format!("<{value}|{value}>"));
        }
    }
}
