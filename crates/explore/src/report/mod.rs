//! The exploration file (spec 15, *Exploration file*), from a ranking.

mod connections;
mod conventions;
mod files;
mod questions;

pub(crate) use files::{is_test_file, tests_of};
use planex_core::exploration::{Exploration, ExplorationMetadata};
use serde_json::{Map, Value};

use crate::angle::Angle;
use crate::explorer::Explorer;
use crate::rank::{Query, RankedFile};

/// Files that an exploration looks at before it chooses.
const LOOKED_AT: usize = 24;

/// When and as which of how many it was made.
pub(crate) struct Stamp<'a> {
    pub(crate) index: u32,
    pub(crate) total: u32,
    pub(crate) now: &'a str,
    pub(crate) duration: f64,
}

/// See [`Explorer::exploration`].
pub(crate) fn exploration(explorer: &Explorer, query: &Query, stamp: &Stamp<'_>) -> Exploration {
    let angle = query.angle.clone().unwrap_or_else(|| Angle::new("patterns"));
    let limit = query.limit.clamp(3, LOOKED_AT);
    let ranking = explorer.rank(&Query { limit: LOOKED_AT, ..query.clone() });
    let chosen = files::choose(&ranking.files, limit);
    let relevant_files = files::relevant(explorer, &chosen, &angle);
    let targets: Vec<&RankedFile> = chosen.iter().copied().filter(|f| files::is_target(f)).take(4).collect();
    Exploration {
        project_structure: text(&structure(explorer, &targets)),
        patterns: text(&conventions::patterns(explorer, &targets)),
        dependencies: text(&connections::dependencies(explorer, &targets)),
        integration_points: text(&connections::integration_points(explorer, &targets)),
        constraints: text(&conventions::constraints(explorer, &targets)),
        // The same questions from every angle would only tire: the first one asks.
        clarification_needs: if stamp.index <= 1 {
            questions::questions(explorer, query, &ranking)
        } else {
            Vec::new()
        },
        relevant_files,
        metadata: ExplorationMetadata {
            timestamp: stamp.now.to_owned(),
            task_description: query.text.clone(),
            source: "native".to_owned(),
            exploration_angle: angle.to_string(),
            exploration_index: stamp.index,
            total_explorations: stamp.total,
            duration_seconds: stamp.duration,
            dropped: Vec::new(),
            extra: Map::new(),
        },
        extra: Map::new(),
    }
}

/// The five text fields are strings: one statement a line.
fn text(lines: &[String]) -> Value {
    Value::String(lines.join("\n"))
}

fn structure(explorer: &Explorer, targets: &[&RankedFile]) -> Vec<String> {
    let tech = explorer.tech();
    let mut lines = vec![tech.architecture.clone()];
    let mut folders: Vec<&str> =
        targets.iter().map(|f| f.path.rsplit_once('/').map_or(".", |(folder, _)| folder)).collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        let inside = |path: &str| path.rsplit_once('/').map_or(".", |(f, _)| f) == folder;
        let names: Vec<&str> = explorer
            .index
            .entries
            .iter()
            .filter(|e| e.class.is_code() && inside(&e.path))
            .filter_map(|e| e.path.rsplit('/').next())
            .collect();
        let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 8 { format!(" and {} more", names.len() - 8) } else { String::new() };
        lines.push(format!("{folder}/ holds {shown}{more}."));
    }
    let stats = explorer.stats();
    let unseen = stats.unreadable + stats.non_utf8.len();
    if unseen > 0 {
        lines.push(format!("{unseen} files or folders could not be read and are not covered."));
    }
    lines
}
