//! Values of the configuration: what types there are, and reading each from TOML or from a word.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use super::{Into, ZoneSetting};
use crate::text::one_line;
use crate::time::{human_duration, parse_duration, parse_zone};

/// Largest whole number of the configuration: TOML's own.
const MOST: u64 = i64::MAX.cast_unsigned();

/// What values a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text but an empty one.
    Text,
    /// Name of an agent or model: no spaces, no leading `-` (it becomes an argument of a command).
    Name,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts.
    List,
    /// A table of texts.
    Map,
    /// `90`, `90s`, `10m`.
    Duration,
    /// A whole number.
    Count,
    /// A whole number of at least 1.
    Positive,
    /// A whole number, also with `k`, `M`, `KiB`, `MiB`, `GiB` behind it.
    Size,
    /// An amount of at least 0.
    Money,
    /// `true` or `false`.
    Bool,
    /// `local`, `utc`, `+HH:MM`.
    Zone,
    /// `tree`, `patch`, `branch=NAME`.
    Destination,
}

/// A value of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text, a name or a word.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A table of texts.
    Map(BTreeMap<String, String>),
    /// A time.
    Duration(Duration),
    /// A whole number.
    Number(u64),
    /// An amount.
    Money(f64),
    /// Yes or no.
    Bool(bool),
    /// An offset, with the text it was given as.
    Zone(ZoneSetting, String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Zone(_, text) => f.write_str(text),
            Self::List(items) => write!(f, "{}", toml::Value::from(items.clone())),
            Self::Map(map) => {
                let table: toml::Table = map.iter().map(|(k, v)| (k.clone(), toml::Value::from(v.clone()))).collect();
                // A table of several lines would break the one line that a value is shown on.
                let pairs: Vec<String> =
                    table.iter().map(|(name, value)| format!("{} = {value}", quoted_key(name))).collect();
                write!(f, "{{ {} }}", pairs.join(", "))
            }
            Self::Duration(time) => f.write_str(&human_duration(*time)),
            Self::Number(number) => write!(f, "{number}"),
            Self::Money(amount) => write!(f, "{amount}"),
            Self::Bool(yes) => write!(f, "{yes}"),
        }
    }
}

fn quoted_key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { toml::Value::from(name).to_string() }
}

impl Kind {
    /// What is expected, for messages: `expected …`.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Name => "a name without spaces that does not start with `-`".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::List => "a list of texts, like [\"a\", \"b\"]".to_owned(),
            Self::Map => "a table of texts, like { NAME = \"value\" }".to_owned(),
            Self::Duration => "a duration, like 90, \"90s\" or \"10m\"".to_owned(),
            Self::Count => "a whole number".to_owned(),
            Self::Positive => "a whole number of at least 1".to_owned(),
            Self::Size => "a whole number, also like \"200KiB\" or \"5M\"".to_owned(),
            Self::Money => "an amount of at least 0, like 2.50".to_owned(),
            Self::Bool => "true or false".to_owned(),
            Self::Zone => "\"local\", \"utc\" or an offset like \"+09:00\"".to_owned(),
            Self::Destination => "tree, patch or branch=NAME".to_owned(),
        }
    }

    /// Reads a value given as a word: of a variable, a flag, or `planex config set`.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub fn parse_word(self, word: &str) -> Result<Value, String> {
        let word = word.trim();
        let value = match self {
            Self::Text => Some(word).filter(|text| !text.is_empty()).map(|text| Value::Text(text.to_owned())),
            Self::Name => {
                let fine = !word.is_empty() && !word.starts_with('-') && !word.contains(char::is_whitespace);
                fine.then(|| Value::Text(word.to_owned()))
            }
            Self::Word(words) => {
                let same = |known: &&&str| known.eq_ignore_ascii_case(word);
                words.iter().find(same).map(|&known| Value::Text(known.to_owned()))
            }
            Self::List | Self::Map => return self.parse_inline(word),
            Self::Duration => {
                return parse_duration(word).map(Value::Duration).map_err(|error| error.to_string());
            }
            Self::Count | Self::Positive | Self::Size => {
                let number = if self == Self::Size { size(word) } else { whole(word) };
                let Some(number) = number else { return Err(self.unfit(word)) };
                let number = number.ok_or_else(|| format!("`{}` is too large: at most {MOST}", one_line(word)))?;
                Some(number).filter(|&number| number > 0 || self != Self::Positive).map(Value::Number)
            }
            Self::Money => {
                word.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0).map(Value::Money)
            }
            Self::Bool => word.parse().ok().map(Value::Bool),
            Self::Zone => parse_zone(word).map(|zone| Value::Zone(zone, word.to_owned())),
            Self::Destination => return word.parse::<Into>().map(|into| Value::Text(into.to_string())),
        };
        value.ok_or_else(|| self.unfit(word))
    }

    fn unfit(self, word: &str) -> String {
        format!("expected {}, found `{}`", self.expected(), one_line(word))
    }

    /// Reads a list or table written as TOML; a bare word is a list of one.
    fn parse_inline(self, word: &str) -> Result<Value, String> {
        let line = format!("v = {word}");
        match DeTable::parse(&line) {
            Ok(table) => match table.get_ref().get("v") {
                Some(value) => self.parse_toml(value.get_ref()),
                None => Err(format!("expected {}", self.expected())),
            },
            Err(_) if self == Self::List && !word.is_empty() && !word.starts_with('[') => {
                Ok(Value::List(vec![word.to_owned()]))
            }
            Err(_) => Err(self.unfit(word)),
        }
    }

    /// Reads a value of a TOML file.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub fn parse_toml(self, value: &DeValue<'_>) -> Result<Value, String> {
        match (self, value) {
            (Self::Bool, DeValue::Boolean(yes)) => Ok(Value::Bool(*yes)),
            (Self::List, DeValue::Array(items)) => {
                let texts: Option<Vec<String>> =
                    items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
                texts.map(Value::List).ok_or_else(|| format!("expected {}", self.expected()))
            }
            (Self::Map, DeValue::Table(table)) => {
                let pairs: Option<BTreeMap<String, String>> = table
                    .iter()
                    .map(|(name, value)| Some((name.get_ref().to_string(), value.get_ref().as_str()?.to_owned())))
                    .collect();
                pairs.map(Value::Map).ok_or_else(|| format!("expected {}", self.expected()))
            }
            (Self::List | Self::Map | Self::Bool, _) => {
                Err(format!("expected {}, found {}", self.expected(), type_of(value)))
            }
            (Self::Duration | Self::Count | Self::Positive | Self::Size | Self::Money, DeValue::Integer(number)) => {
                if number.radix() != 10 {
                    return Err(format!("expected {}, found one in base {}", self.expected(), number.radix()));
                }
                self.parse_word(number.as_str())
            }
            (Self::Money | Self::Duration, DeValue::Float(number)) => self.parse_word(number.as_str()),
            (Self::Count | Self::Positive | Self::Money, _) => {
                Err(format!("expected {}, found {}", self.expected(), type_of(value)))
            }
            (_, DeValue::String(text)) => self.parse_word(text),
            (_, _) => Err(format!("expected {}, found {}", self.expected(), type_of(value))),
        }
    }
}

/// What a TOML value is, for messages.
fn type_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{}\"", one_line(text)),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(yes) => format!("{yes}"),
        DeValue::Datetime(time) => format!("the time {time}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// `200`, `200k`, `5M`, `64MiB`; `Some(None)`: it is one of these, but too large.
fn size(word: &str) -> Option<Option<u64>> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let scale: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    let number = whole(number)?;
    Some(number.and_then(|number| number.checked_mul(scale)).filter(|&number| number <= MOST))
}

/// A whole number; `Some(None)`: it is one, but too large.
fn whole(word: &str) -> Option<Option<u64>> {
    let digits = word.strip_prefix('+').unwrap_or(word);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok().filter(|&number| number <= MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_by_their_kind() {
        let table: [(Kind, &str, Option<&str>); 26] = [
            (Kind::Positive, "3", Some("3")),
            (Kind::Positive, "0", None),
            (Kind::Positive, "-1", None),
            (Kind::Count, "0", Some("0")),
            (Kind::Count, "99999999999999999999", None),
            (Kind::Size, "64MiB", Some("67108864")),
            (Kind::Size, "5M", Some("5000000")),
            (Kind::Size, "18446744073709551615k", None),
            (Kind::Size, "9007199254740992KiB", None),
            (Kind::Positive, "9223372036854775807", Some("9223372036854775807")),
            (Kind::Size, "5x", None),
            (Kind::Duration, "10m", Some("10m 00s")),
            (Kind::Duration, "soon", None),
            (Kind::Word(&["ask", "defer"]), "DEFER", Some("defer")),
            (Kind::Word(&["ask", "defer"]), "yes", None),
            (Kind::Name, "claude", Some("claude")),
            (Kind::Name, "--dangerous", None),
            (Kind::Name, "a b", None),
            (Kind::Bool, "true", Some("true")),
            (Kind::Bool, "yes", None),
            (Kind::Money, "2.50", Some("2.5")),
            (Kind::Money, "NaN", None),
            (Kind::Zone, "+09:00", Some("+09:00")),
            (Kind::Zone, "Tokyo", None),
            (Kind::List, "[\"a\", \"b c\"]", Some("[\"a\", \"b c\"]")),
            (Kind::Map, "{ A = \"1\" }", Some("{ A = \"1\" }")),
        ];
        for (kind, word, expected) in table {
            let read = kind.parse_word(word);
            assert_eq!(read.as_ref().ok().map(ToString::to_string).as_deref(), expected, "{kind:?} {word}: {read:?}");
        }
    }

    #[test]
    fn a_bare_word_is_a_list_of_one() {
        assert_eq!(Kind::List.parse_word(".env"), Ok(Value::List(vec![".env".into()])));
        assert!(Kind::List.parse_word("[\"a\", 1]").is_err());
        assert!(Kind::List.parse_word("[").is_err());
    }

    #[test]
    fn messages_name_both_sides() {
        let table =
            DeTable::parse("a = \"x\"\nb = 1\nc = {}\nd = 1.5\ne = 99_999_999_999_999_999_999\nf = 0x10").unwrap();
        let value = |name: &str| table.get_ref().get(name).unwrap().get_ref().clone();
        for (kind, name, expected) in [
            (Kind::Positive, "a", "expected a whole number of at least 1, found the text \"x\""),
            (Kind::Text, "b", "expected a text, found the number 1"),
            (Kind::Duration, "c", "expected a duration, like 90, \"90s\" or \"10m\", found a table"),
            (Kind::Bool, "b", "expected true or false, found the number 1"),
            (Kind::Count, "d", "expected a whole number, found the number 1.5"),
            (Kind::Count, "e", "`99999999999999999999` is too large: at most 9223372036854775807"),
            (Kind::Count, "f", "expected a whole number, found one in base 16"),
        ] {
            assert_eq!(kind.parse_toml(&value(name)), Err(expected.to_owned()));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_word_panics(word in ".{0,40}") {
            for kind in [Kind::List, Kind::Map, Kind::Size, Kind::Duration, Kind::Zone, Kind::Name, Kind::Money] {
                let _ = kind.parse_word(&word);
            }
        }
    }
}
