//! Guidelines: the user's own rules for the work, as Markdown files with front matter (spec 15, *Project knowledge*).
//!
//! Pure: files are read elsewhere; here they are parsed, selected for a phase, and cut to what a prompt can bear.

mod front;
mod select;

pub use front::{GuideFault, parse};
pub use select::{LIMIT, applying, render};

use std::fmt;
use std::str::FromStr;

/// What a guideline is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the documentation; spec 15 lists them")]
pub enum Category {
    #[default]
    General,
    Exploration,
    Planning,
    Execution,
    Debug,
    Test,
    Review,
    Validation,
}

impl Category {
    /// Every category, in the order of the specification.
    pub const ALL: [Self; 8] = [
        Self::General,
        Self::Exploration,
        Self::Planning,
        Self::Execution,
        Self::Debug,
        Self::Test,
        Self::Review,
        Self::Validation,
    ];

    /// The word of the interface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Exploration => "exploration",
            Self::Planning => "planning",
            Self::Execution => "execution",
            Self::Debug => "debug",
            Self::Test => "test",
            Self::Review => "review",
            Self::Validation => "validation",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no category.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown category `{word}`; there are {}", Category::ALL.map(Category::as_str).join(", "))]
pub struct UnknownCategory {
    /// The word.
    pub word: String,
}

impl FromStr for Category {
    type Err = UnknownCategory;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let wanted = word.trim().to_lowercase();
        Self::ALL
            .into_iter()
            .find(|category| category.as_str() == wanted)
            .ok_or_else(|| UnknownCategory { word: crate::text::one_line(word) })
    }
}

/// How much a guideline weighs; heavier ones come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Priority {
    Critical,
    High,
    #[default]
    Medium,
    Low,
}

/// One guideline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guideline {
    /// File name, for messages.
    pub name: String,
    /// Its title; the file's name without one.
    pub title: String,
    /// What it is for.
    pub category: Category,
    /// Words that make an optional one apply.
    pub keywords: Vec<String>,
    /// How much it weighs.
    pub priority: Priority,
    /// Whether it applies without a keyword.
    pub required: bool,
    /// Patterns that must not occur in what is written (checked by later phases).
    pub forbid: Vec<String>,
    /// Paths that must exist (checked by later phases).
    pub require: Vec<String>,
    /// Its text.
    pub body: String,
}
