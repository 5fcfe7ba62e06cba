//! One line of the shared board `discoveries.ndjson` (spec 20, *The board*).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The kinds of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the documentation; spec 20 lists their fields")]
pub enum DiscoveryKind {
    CodePattern,
    IntegrationPoint,
    Convention,
    Blocker,
    TechStack,
    TestCommand,
}

/// One line of the board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Discovery {
    /// RFC 3339 with offset.
    pub ts: String,
    /// Id of the row or task whose agent found it.
    pub worker: String,
    /// Kind.
    #[serde(rename = "type")]
    pub kind: DiscoveryKind,
    /// Fields of the kind, kept as they came.
    pub data: Map<String, Value>,
}

/// What a board holds and what of it could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Board {
    /// Valid lines, in order, exact repetitions (same kind and data) once.
    pub entries: Vec<Discovery>,
    /// How many lines were skipped as malformed.
    pub malformed: usize,
}

impl Board {
    /// Reads a board; malformed lines, a torn last one included, are skipped and counted.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut board = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str::<Discovery>(line) {
                Ok(entry) if board.contains(&entry) => {}
                Ok(entry) => board.entries.push(entry),
                Err(_) => board.malformed += 1,
            }
        }
        board
    }

    /// Whether an entry of the same kind and data is on the board already.
    #[must_use]
    pub fn contains(&self, entry: &Discovery) -> bool {
        self.entries.iter().any(|e| e.kind == entry.kind && e.data == entry.data)
    }
}
