//! `planex config set`: one value written into the text of a file, comments and order kept.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table};

use super::load::require_key;
use super::origin::{Fault, Place};
use super::value::{Kind, Value};

/// Why a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// No such key.
    #[error("{0}")]
    UnknownKey(String),
    /// The value does not fit the key.
    #[error("`{key}`: {problem}")]
    BadValue {
        /// The key.
        key: String,
        /// What was expected.
        problem: String,
    },
    /// The file cannot be edited as it is.
    #[error("{0}")]
    BadFile(Box<Fault>),
}

/// The text of `file` with `name` set to `word`.
///
/// # Errors
/// An unknown key, a value that does not fit it, a file that is no TOML or has something else in the key's place.
pub fn set(file: &str, text: &str, name: &str, word: &str) -> Result<String, SetError> {
    let key = require_key(name).map_err(SetError::UnknownKey)?;
    let value = key.kind.parse_word(word).map_err(|problem| SetError::BadValue { key: name.to_owned(), problem })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let place = Place::of_byte(file, text, error.span().map_or(0, |span| span.start));
        SetError::BadFile(Box::new(Fault::at_place(&place, text, error.message().replace('\n', "; "))))
    })?;
    let parts: Vec<&str> = name.split('.').collect();
    let Some((last, parents)) = parts.split_last() else {
        return Err(SetError::UnknownKey(format!("unknown key `{name}`")));
    };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for part in parents {
        let item = table.entry(part).or_insert_with(|| {
            let mut made = Table::new();
            made.set_implicit(true);
            Item::Table(made)
        });
        table = item
            .as_table_like_mut()
            .ok_or_else(|| SetError::BadFile(Box::new(Fault::elsewhere(file, format!("`{part}` is not a table")))))?;
    }
    let mut new = item(key.kind, &value, word);
    match table.get_mut(last) {
        // In place: the key keeps the comments above it, the value the one behind it.
        Some(old) => {
            if let (Some(before), Some(value)) = (old.as_value(), new.as_value_mut()) {
                *value.decor_mut() = before.decor().clone();
            }
            *old = new;
        }
        None => {
            table.insert(last, new);
        }
    }
    Ok(document.to_string())
}

fn item(kind: Kind, value: &Value, word: &str) -> Item {
    match value {
        Value::Text(text) | Value::Zone(_, text) => toml_edit::value(text.as_str()),
        Value::List(items) => toml_edit::value(items.iter().map(String::as_str).collect::<Array>()),
        Value::Map(map) => {
            let pairs = map.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            toml_edit::value(pairs.collect::<InlineTable>())
        }
        // As it was written: `10m` says more than 600.
        Value::Duration(_) => match word.trim().parse::<i64>() {
            Ok(seconds) => toml_edit::value(seconds),
            Err(_) => toml_edit::value(word.trim()),
        },
        Value::Number(number) => match (kind, word.trim().parse::<i64>(), i64::try_from(*number)) {
            (Kind::Size, Err(_), _) | (_, _, Err(_)) => toml_edit::value(word.trim()),
            (_, _, Ok(number)) => toml_edit::value(number),
        },
        Value::Money(amount) => toml_edit::value(*amount),
        Value::Bool(yes) => toml_edit::value(*yes),
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::{Source, parse};
    use super::*;

    #[test]
    fn comments_and_order_stay() {
        let text = "# mine\nlang = \"en\" # spoken here\n\n[limits]\n# patience\nidle = 60\n";
        let text = set("f", text, "lang", "ja").unwrap();
        let text = set("f", &text, "limits.idle", "10m").unwrap();
        let text = set("f", &text, "roles.plan.agent", "claude").unwrap();
        assert_eq!(
            text,
            "# mine\nlang = \"ja\" # spoken here\n\n[limits]\n# patience\nidle = \"10m\"\n\n[roles.plan]\nagent = \"claude\"\n"
        );
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (name, word) in [
            ("concurrency", "8"),
            ("limits.log_bytes", "64MiB"),
            ("limits.max_cost", "2.5"),
            ("timezone", "+09:00"),
            ("protect", "[\".env\", \"secrets/**\"]"),
            ("agents.mine.env", "{ A = \"1\" }"),
            ("agents.mine.full_access", "true"),
            ("test.command", "cargo test --all"),
        ] {
            let text = set("f", "", name, word).unwrap();
            let entries = parse(Source { file: "f", text: &text }).unwrap();
            assert_eq!(entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), [name], "{text}");
        }
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(
            set("f", "", "limits.idel", "1").unwrap_err().to_string(),
            "unknown key `limits.idel`; did you mean `limits.idle`?"
        );
        assert!(set("f", "", "concurrency", "0").unwrap_err().to_string().starts_with("`concurrency`: expected"));
        assert!(set("f", "limits = 1", "limits.idle", "1").unwrap_err().to_string().contains("not a table"));
        assert!(set("f", "a = ", "lang", "ja").unwrap_err().to_string().starts_with("f:1:"));
        assert!(set("f", "", "roles.nobody.agent", "x").is_err());
    }
}
