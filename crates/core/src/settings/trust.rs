//! What of a repository's configuration takes effect only after the user trusted it (spec 70, *Security*). The one place
//! that decides it: the loader withholds what [`judge`] names, and trust is bound to [`trusted_parts`].
//!
//! Without trust a repository may lower limits and choose among agents as the user set them up; it may run nothing,
//! widen nothing and raise nothing.

use std::fmt;
use std::time::Duration;

use super::file::Entry;
use super::value::Value;
use super::{AgentSettings, Settings};
use crate::id::sha256_hex;
use crate::job::Role;

/// What a repository may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Anything.
    Free,
    /// Nothing without trust: it runs a command, or widens what an agent may do.
    Trust,
    /// Without trust only lower it.
    Lower,
    /// The same for a time that 0 switches off.
    Limit,
    /// Without trust only set it later: an end that comes by itself instead of by the user.
    Later,
    /// Without trust only choose agents that run as planex starts them.
    Agent,
    /// Without trust only what leaves the user's tree and branches alone.
    Destination,
    /// Only lower it, trusted or not.
    Budget,
}

/// Why a value of a repository is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It runs something, or widens what may be done: nothing is started before the user trusted it.
    Runs,
    /// It raises a limit: the limit stays as it is until the user trusted it.
    Raises,
    /// It raises what a session may use up, which only the user can.
    Budget,
}

/// A value of a repository that is not taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Withheld {
    /// The value and its place.
    pub entry: Entry,
    /// Why.
    pub why: Why,
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { name, place, .. } = &self.entry;
        match self.why {
            Why::Runs => write!(f, "{place}: `{name}` has no effect until it is trusted (`planex trust`)"),
            Why::Raises => {
                write!(f, "{place}: `{name}` raises a limit, and is not taken until it is trusted (`planex trust`)")
            }
            Why::Budget => {
                write!(f, "{place}: `{name}` is not taken: it lies above the limit of your own configuration")
            }
        }
    }
}

/// What of a repository's configuration trust is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedParts {
    /// `key = value`, one each, by key: independent of order, comments and layout. Shown as they are hashed.
    pub lines: Vec<String>,
    /// Hash of them.
    pub hash: String,
}

/// Every value that may need trust, whatever the user's own configuration says: a change of that takes no trust away.
#[must_use]
pub fn trusted_parts(entries: &[Entry]) -> TrustedParts {
    let covered = entries.iter().filter(|entry| !matches!(entry.key.rule, Rule::Free | Rule::Budget));
    let mut lines: Vec<String> = covered.map(|entry| format!("{} = {}", entry.name, written(&entry.value))).collect();
    lines.sort();
    let hash = sha256_hex(lines.join("\n").as_bytes());
    TrustedParts { lines, hash }
}

/// On one line, whatever is in it: no value can pass for another line.
fn written(value: &Value) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    match value {
        Value::Text(text) | Value::Zone(_, text) => quoted(text),
        Value::List(items) => {
            format!("[{}]", items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", "))
        }
        Value::Map(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(name, value)| format!("{} = {}", quoted(name), quoted(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        // To the nanosecond: what is shown short for people must not hide a change.
        Value::Duration(time) => quoted(&format!("{time:?}")),
        Value::Number(_) | Value::Money(_) | Value::Bool(_) => value.to_string(),
    }
}

/// Whether a repository's value is taken without trust. `base` and `known` are what is in force without the repository:
/// defaults and the user's own configuration.
pub(super) fn judge<'a>(entry: &Entry, base: &Settings, known: impl Fn(&str) -> Option<&'a Value>) -> Option<Why> {
    let same = known(&entry.name);
    let raises = match entry.key.rule {
        Rule::Free => false,
        Rule::Trust => return Some(Why::Runs),
        Rule::Agent => return uses_more(entry, base, same).then_some(Why::Runs),
        Rule::Destination => {
            let harmless = matches!(&entry.value, Value::Text(into) if into == "patch") || same == Some(&entry.value);
            return (!harmless).then_some(Why::Runs);
        }
        Rule::Budget => return same.is_some_and(|known| is_less(known, &entry.value)).then_some(Why::Budget),
        Rule::Lower => same.is_none_or(|known| is_less(known, &entry.value)),
        Rule::Later => same.is_none_or(|known| is_less(&entry.value, known)),
        Rule::Limit => match (&entry.value, same) {
            (Value::Duration(new), Some(Value::Duration(old))) => is_longer(*new, *old),
            (Value::Duration(new), _) => is_longer(*new, limit_in_force(&entry.name, base)),
            _ => true,
        },
    };
    raises.then_some(Why::Raises)
}

/// The limit that a time-out for all roles, or for one, would replace.
fn limit_in_force(name: &str, base: &Settings) -> Duration {
    let role = name.split('.').nth(1).and_then(|word| word.parse::<Role>().ok());
    let limits: Vec<Duration> = match role {
        Some(role) => vec![base.limit_of(role)],
        None => Role::ALL.iter().map(|role| base.limit_of(*role)).collect(),
    };
    // Off only where all are.
    limits.iter().copied().filter(|limit| !limit.is_zero()).min().unwrap_or_default()
}

/// Whether limit `new` allows more than `old`; zero is none.
fn is_longer(new: Duration, old: Duration) -> bool {
    !old.is_zero() && (new.is_zero() || new > old)
}

/// Whether `a` is smaller than `b`.
fn is_less(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Money(a), Value::Money(b)) => a < b,
        (Value::Number(a), Value::Number(b)) => a < b,
        (Value::Duration(a), Value::Duration(b)) => a < b,
        _ => false,
    }
}

/// Whether a choice of agents brings in one that the user gave more than planex would.
fn uses_more(entry: &Entry, base: &Settings, same: Option<&Value>) -> bool {
    let chosen: Vec<&String> = match &entry.value {
        Value::Text(name) => vec![name],
        Value::List(names) => names.iter().collect(),
        _ => return true,
    };
    let is_known = |choice: &String| match same {
        Some(Value::Text(name)) => name == choice,
        Some(Value::List(names)) => names.contains(choice),
        _ => false,
    };
    let name = |choice: &String| choice.split(':').next().unwrap_or_default().to_owned();
    chosen.into_iter().any(|choice| !is_known(choice) && base.agents.get(&name(choice)).is_some_and(has_more))
}

/// Full access, a command of its own, or arguments that may say either.
fn has_more(agent: &AgentSettings) -> bool {
    agent.full_access
        || [&agent.command, &agent.analysis_args, &agent.write_args].iter().any(|args| !args.is_empty())
        || agent.resume_args.is_some()
}

#[cfg(test)]
mod tests {
    use super::super::file::{Source, parse};
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        trusted_parts(&parse(Source { file: "planex.toml", text }).unwrap()).lines
    }

    #[test]
    fn the_parts_follow_the_content_not_the_layout() {
        let one = lines("lang = \"en\"\n[test]\ncommand = \"make\"\n[agents.a]\ncommand = [\"c\"]\n");
        assert_eq!(one, ["agents.a.command = [\"c\"]", "test.command = \"make\""]);
        assert_eq!(lines("# hello\nagents.a.command = ['c']\ntest = { command = 'make' }\n"), one);
        assert_ne!(lines("[test]\ncommand = \"make all\"\n[agents.a]\ncommand = [\"c\"]\n"), one);
        assert_eq!(lines("lang = \"en\"\nprotect = [\"x\"]\nlimits.max_cost = 5\n"), [""; 0]);
        assert_ne!(lines("limits.idle = 1.001"), lines("limits.idle = 1.002"));
    }

    #[test]
    fn values_cannot_fake_lines() {
        let sly = "[agents.a]\ncommand = [\"c\\\"]\\ntest.command = \\\"x\"]\nenv = { \"A\\nB\" = \"c\\nd\" }\n";
        let lines = lines(sly);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.lines().count() == 1), "{lines:?}");
    }
}
