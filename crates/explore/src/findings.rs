//! Explorations in short: for a row of explore.csv, and for the board.

use planex_core::discovery::{Discovery, DiscoveryKind};
use planex_core::exploration::{Exploration, FileRole, RelevantFile};
use planex_core::text::{one_line, truncate_chars};
use serde_json::{Map, Value, json};

use crate::angle::{Angle, Family};

/// Longest findings of a row. Characters (spec 20, *Files of the session*).
const MAX_FINDINGS: usize = 800;
/// Most key files of a row.
const MAX_KEY_FILES: usize = 8;

/// Findings (at most 800 characters) and key files of an exploration, for a row of explore.csv.
///
/// What to change comes first, then how it connects, tests, conditions and patterns, as far as there is room.
#[must_use]
pub fn findings(exploration: &Exploration) -> (String, Vec<String>) {
    let files = &exploration.relevant_files;
    let role = |wanted: FileRole| files.iter().filter(move |f| f.role == wanted);
    let mut parts: Vec<String> = Vec::new();
    let targets: Vec<String> = role(FileRole::ModifyTarget).take(4).map(with_places).collect();
    if targets.is_empty() {
        let starts: Vec<String> = files.iter().take(3).map(with_places).collect();
        parts.push(if starts.is_empty() {
            "The project has no files yet.".to_owned()
        } else {
            format!("Nothing stands out; begin at {}.", starts.join("; "))
        });
    } else {
        parts.push(format!("Change: {}.", targets.join("; ")));
    }
    for wanted in order(Angle::new(&exploration.metadata.exploration_angle).family()) {
        match wanted {
            Section::Connects => section(&mut parts, "Connects", &exploration.integration_points, 3),
            Section::Keep => section(&mut parts, "Keep", &exploration.constraints, 3),
            Section::Follow => section(&mut parts, "Follow", &exploration.patterns, 3),
            Section::Depends => section(&mut parts, "Depends", &exploration.dependencies, 2),
            Section::Tests => {
                let tests: Vec<String> = role(FileRole::TestTarget).take(3).map(with_places).collect();
                if !tests.is_empty() {
                    parts.push(format!("Tests: {}.", tests.join("; ")));
                }
            }
        }
    }
    let mut text = String::new();
    for part in parts {
        let room = MAX_FINDINGS.saturating_sub(text.chars().count() + 1);
        // A part that would be cut to a stump is left out.
        if part.chars().count() <= room || text.is_empty() {
            text = if text.is_empty() { part } else { format!("{text} {part}") };
        }
    }
    let key_files = files.iter().filter(|f| f.relevance >= 0.4).take(MAX_KEY_FILES).map(|f| f.path.clone()).collect();
    (truncate_chars(&one_line(&text), MAX_FINDINGS), key_files)
}

#[derive(Debug, Clone, Copy)]
enum Section {
    Connects,
    Tests,
    Keep,
    Follow,
    Depends,
}

/// What the point of view asks for comes first; what there is no room for is left out at the end.
fn order(family: Family) -> [Section; 5] {
    use Section::{Connects, Depends, Follow, Keep, Tests};
    match family {
        Family::Testing => [Tests, Keep, Follow, Connects, Depends],
        Family::Patterns => [Follow, Keep, Connects, Tests, Depends],
        Family::Dependencies | Family::Architecture => [Depends, Connects, Keep, Tests, Follow],
        Family::Errors | Family::EdgeCases | Family::Validation => [Follow, Tests, Connects, Keep, Depends],
        Family::Integration
        | Family::Security
        | Family::Performance
        | Family::State
        | Family::DataFlow
        | Family::Other => [Connects, Keep, Tests, Depends, Follow],
    }
}

fn with_places(file: &RelevantFile) -> String {
    let places: Vec<String> = file.key_code.iter().take(2).map(|k| format!("{} {}", k.symbol, k.location)).collect();
    if places.is_empty() { file.path.clone() } else { format!("{} ({})", file.path, places.join(", ")) }
}

fn lines(value: &Value) -> Vec<&str> {
    value.as_str().unwrap_or_default().lines().map(str::trim).filter(|l| !l.is_empty()).collect()
}

fn section(parts: &mut Vec<String>, name: &str, value: &Value, count: usize) {
    let said: Vec<&str> = lines(value).into_iter().take(count).map(|l| l.trim_end_matches('.')).collect();
    if !said.is_empty() {
        parts.push(format!("{name}: {}.", said.join("; ")));
    }
}

/// A few lines for the board: the best pattern, the busiest connection, the test commands.
///
/// `worker` is the row's id, `ts` RFC 3339.
#[must_use]
pub fn discoveries(exploration: &Exploration, worker: &str, ts: &str) -> Vec<Discovery> {
    let mut found = Vec::new();
    let mut add = |kind: DiscoveryKind, data: Value| {
        let data = data.as_object().cloned().unwrap_or_else(Map::new);
        found.push(Discovery { ts: ts.to_owned(), worker: worker.to_owned(), kind, data });
    };
    if let Some(target) = exploration.relevant_files.iter().find(|f| f.role == FileRole::ModifyTarget) {
        let points = lines(&exploration.integration_points);
        let description = points.first().map_or_else(|| target.rationale.clone(), |p| (*p).to_owned());
        add(
            DiscoveryKind::IntegrationPoint,
            json!({"file": target.path, "description": description, "exports": target.key_symbols}),
        );
        if let Some(pattern) = lines(&exploration.patterns).first() {
            add(DiscoveryKind::CodePattern, json!({"name": "neighbours", "file": target.path, "description": pattern}));
        }
    }
    for line in lines(&exploration.constraints) {
        if let Some((module, command)) = line.strip_prefix("Tests of ").and_then(|l| l.split_once(" must pass: `")) {
            add(
                DiscoveryKind::TestCommand,
                json!({"command": command.trim_end_matches(['`', '.']).trim_end_matches('`'), "framework": "", "scope": module}),
            );
        }
    }
    found
}
