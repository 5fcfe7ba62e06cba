//! Where a value comes from.

use std::fmt;

/// Where a value comes from, in rising order of strength.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// planex's own default.
    Default,
    /// The language of the machine's locale, by this variable.
    Locale(&'static str),
    /// A `cli-tools.json` of the reference system, this file; weaker than every configuration.
    Tools(String),
    /// The user's `planex/config.toml`.
    User(Place),
    /// `planex.toml` of the project.
    Project(Place),
    /// A `PLANEX_*` variable.
    Variable(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
}

/// A place in a configuration file; line and column are counted from 1, the column in characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as it is shown.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Place {
    /// The place of byte `at` in `text`.
    #[must_use]
    pub fn of_byte(file: &str, text: &str, at: usize) -> Self {
        let mut end = at.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Locale(name) | Self::Variable(name) => write!(f, "${name}"),
            Self::User(place) | Self::Project(place) => write!(f, "{}:{}", place.file, place.line),
            Self::Tools(file) => f.write_str(file),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Something wrong in a configuration: what, where, and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `FILE:LINE:COLUMN`, `$VARIABLE` or `--flag`.
    pub at: String,
    /// What is wrong, what was expected, how to mend it.
    pub message: String,
    /// The line of the file, and the column in it.
    pub source: Option<(String, usize)>,
}

impl Fault {
    /// A fault at a place of a file.
    #[must_use]
    pub fn at_place(place: &Place, text: &str, message: impl Into<String>) -> Self {
        let line = text.lines().nth(place.line - 1).unwrap_or_default().to_owned();
        Self { at: place.to_string(), message: message.into(), source: Some((line, place.column)) }
    }

    /// A fault of a variable or flag.
    #[must_use]
    pub fn elsewhere(at: impl fmt::Display, message: impl Into<String>) -> Self {
        Self { at: at.to_string(), message: message.into(), source: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_not_bytes() {
        let text = "a = 1\n日本 = x\n";
        for (byte, line, column) in [(0, 1, 1), (4, 1, 5), (6, 2, 1), (12, 2, 3), (8, 2, 1), (999, 3, 1)] {
            let place = Place::of_byte("f", text, byte);
            assert_eq!((place.line, place.column), (line, column), "byte {byte}");
        }
    }

    #[test]
    fn origins_read_well() {
        let place = Place { file: "planex.toml".into(), line: 3, column: 9 };
        assert_eq!(Origin::Project(place.clone()).to_string(), "planex.toml:3");
        assert_eq!(Origin::Variable("PLANEX_LANG").to_string(), "$PLANEX_LANG");
        assert_eq!(Fault::at_place(&place, "a\nb\nc", "bad").to_string(), "planex.toml:3:9: bad");
    }
}
