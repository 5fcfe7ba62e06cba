//! One configuration file: its entries with their places, or every fault in it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, Key};
use super::origin::{Fault, Place};
use super::value::Value;
use crate::job::Role;
use crate::suggest;
use crate::text::one_line;

/// A configuration file's text, and how the file is shown.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The path as it is shown.
    pub file: &'a str,
    /// The text.
    pub text: &'a str,
}

/// One value of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its dotted name, with the real names of role or agent.
    pub name: String,
    /// Its key.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

// Keys are one static table: their name is their identity.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Reads a file.
///
/// # Errors
/// Every fault in it: TOML that cannot be parsed, unknown keys, values of a wrong type.
pub fn parse(source: Source<'_>) -> Result<Vec<Entry>, Vec<Fault>> {
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(source.text);
    let mut reader = Reader { source: Source { text, ..source }, entries: Vec::new(), faults: Vec::new() };
    match DeTable::parse(text) {
        Ok(table) => reader.table("", table.get_ref()),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            reader.fault(at, error.message().replace('\n', "; "));
        }
    }
    if reader.faults.is_empty() { Ok(reader.entries) } else { Err(reader.faults) }
}

struct Reader<'a> {
    source: Source<'a>,
    entries: Vec<Entry>,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn table(&mut self, parent: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let at = name.span().start;
            let part = name.get_ref().as_ref();
            let full = if parent.is_empty() { part.to_owned() } else { format!("{parent}.{part}") };
            if let Some(problem) = bad_part(parent, part) {
                self.fault(at, problem);
            } else if let Some(key) = keys::find(&full) {
                self.value(full, key, value);
            } else if keys::is_table(&full) {
                match value.get_ref() {
                    DeValue::Table(inner) => self.table(&full, inner),
                    _ => self.fault(value.span().start, format!("`{full}` is a table: expected [{full}]")),
                }
            } else {
                self.fault(at, unknown(parent, part));
            }
        }
    }

    fn value(&mut self, name: String, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        let at = value.span().start;
        match key.kind.parse_toml(value.get_ref()) {
            Ok(read) => {
                let place = self.place(at);
                self.entries.push(Entry { name, key, value: read, place });
            }
            Err(problem) => self.fault(at, format!("`{name}`: {problem}")),
        }
    }

    fn place(&self, at: usize) -> Place {
        Place::of_byte(self.source.file, self.source.text, at)
    }

    fn fault(&mut self, at: usize, message: String) {
        let place = self.place(at);
        self.faults.push(Fault::at_place(&place, self.source.text, message));
    }
}

/// What is wrong with the name of a role or agent.
fn bad_part(parent: &str, part: &str) -> Option<String> {
    match parent {
        "roles" if part.parse::<Role>().is_err() => {
            let near = suggest::nearest(part, Role::ALL.iter().map(|role| role.as_str()));
            let known: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
            Some(match near {
                Some(near) => format!("unknown role `{}`; did you mean `{near}`?", one_line(part)),
                None => format!("unknown role `{}`; there are {}", one_line(part), known.join(", ")),
            })
        }
        "agents" if !is_agent_name(part) => {
            Some(format!("`{}` cannot name an agent: letters, digits, `_` and `-`, at most 64 of them", one_line(part)))
        }
        _ => None,
    }
}

/// Whether an agent may be called so: the name becomes part of file names and of `ROLE=NAME`.
#[must_use]
pub fn is_agent_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(char::is_alphanumeric)
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        && name.chars().count() <= 64
}

fn unknown(parent: &str, part: &str) -> String {
    let siblings = keys::children(parent);
    let shown = one_line(part);
    if let Some(near) = suggest::nearest(part, siblings.iter().copied().filter(|name| *name != "*")) {
        return format!("unknown key `{shown}`; did you mean `{near}`?");
    }
    // The right word at the wrong place: `idle` at the top instead of in [limits].
    let elsewhere = keys::KEYS.iter().find(|key| key.name.rsplit('.').next() == Some(part));
    match elsewhere {
        Some(key) => format!("unknown key `{shown}` here; did you mean `{}`?", key.name),
        None if parent.is_empty() => format!("unknown key `{shown}`; there are {}", siblings.join(", ")),
        None => format!("unknown key `{shown}` in [{}]; there are {}", one_line(parent), siblings.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let faults = parse(Source { file: "planex.toml", text }).unwrap_err();
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn entries_have_names_and_places() {
        let text = "concurrency = 2\n[roles.plan]\nagent = \"claude\"\n[agents.mine]\ncommand = [\"sh\", \"a b\"]\nenv = { K = \"v\" }\n";
        let entries = parse(Source { file: "f", text }).unwrap();
        let shown: Vec<String> = entries.iter().map(|e| format!("{} {} = {}", e.place, e.name, e.value)).collect();
        assert_eq!(
            shown,
            [
                "f:1:15 concurrency = 2",
                "f:3:9 roles.plan.agent = claude",
                "f:5:11 agents.mine.command = [\"sh\", \"a b\"]",
                "f:6:7 agents.mine.env = { K = \"v\" }",
            ]
        );
    }

    #[test]
    fn every_fault_has_its_place_and_its_mend() {
        let table: [(&str, &str); 12] = [
            ("concurency = 2", "planex.toml:1:1: unknown key `concurency`; did you mean `concurrency`?"),
            ("idle = 3", "planex.toml:1:1: unknown key `idle` here; did you mean `limits.idle`?"),
            ("[limits]\nidel = 3", "planex.toml:2:1: unknown key `idel`; did you mean `idle`?"),
            ("[roles.plam]\nagent = \"x\"", "planex.toml:1:8: unknown role `plam`; did you mean `plan`?"),
            ("roles = 1", "planex.toml:1:9: `roles` is a table: expected [roles]"),
            (
                "[agents.\"../x\"]\ncommand = []",
                "planex.toml:1:9: `../x` cannot name an agent: letters, digits, `_` and `-`, at most 64 of them",
            ),
            (
                "concurrency = \"x\"",
                "planex.toml:1:15: `concurrency`: expected a whole number of at least 1, found the text \"x\"",
            ),
            (
                "timeout = \"soon\"",
                "planex.toml:1:11: `timeout`: `soon` is no duration: a number is missing; write for example 90, 90s, 10m or 1h30m",
            ),
            (
                "timezone = \"Tokyo\"",
                "planex.toml:1:12: `timezone`: expected \"local\", \"utc\" or an offset like \"+09:00\", found `Tokyo`",
            ),
            (
                "[agents.a]\ncommand = \"sh x\"",
                "planex.toml:2:11: `agents.a.command`: expected a list of texts, like [\"a\", \"b\"], found the text \"sh x\"",
            ),
            (
                "[limits]\nexecute = true",
                "planex.toml:2:11: `limits.execute`: expected a duration, like 90, \"90s\" or \"10m\", found true",
            ),
            ("[test]\nzzz = 1", "planex.toml:2:1: unknown key `zzz` in [test]; there are command"),
        ];
        for (text, expected) in table {
            assert_eq!(faults(text), [expected], "{text}");
        }
    }

    #[test]
    fn all_faults_are_listed_and_broken_toml_too() {
        assert_eq!(faults("x_1 = 1\nlang = \"fr\"\n").len(), 2);
        let broken = faults("a = \n");
        assert!(broken.first().is_some_and(|fault| fault.starts_with("planex.toml:1:")), "{broken:?}");
        assert!(faults("lang = \"en\"\nlang = \"ja\"").first().is_some_and(|fault| fault.contains(":2:1:")));
    }

    #[test]
    fn a_byte_order_mark_and_windows_lines_are_read() {
        let entries = parse(Source { file: "f", text: "\u{feff}lang = \"ja\"\r\ntimezone = \"utc\"\r\n" }).unwrap();
        assert_eq!(entries.len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[a-z\\[\\]{}=\".\n #0-9日]{0,80}") {
            let _ = parse(Source { file: "f", text: &text });
        }
    }
}
