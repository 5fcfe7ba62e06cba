//! The exploration file (spec 15).
use planex_core::exploration::{Exploration, ExplorationMetadata};
use serde_json::{Map, Value};
use crate::explorer::Explorer;
use crate::rank::Query;
/// When and as which of how many it was made.
pub(crate) struct Stamp<'a> { pub(crate) index: u32, pub(crate) total: u32, pub(crate) now: &'a str, pub(crate) duration: f64 }
pub(crate) fn exploration(_explorer: &Explorer, query: &Query, stamp: &Stamp<'_>) -> Exploration {
    Exploration { project_structure: Value::Null, relevant_files: Vec::new(), patterns: Value::Null, dependencies: Value::Null, integration_points: Value::Null, constraints: Value::Null, clarification_needs: Vec::new(),
        metadata: ExplorationMetadata { timestamp: stamp.now.to_owned(), task_description: query.text.clone(), source: "native".to_owned(), exploration_angle: query.angle.as_ref().map_or_else(String::new, ToString::to_string), exploration_index: stamp.index, total_explorations: stamp.total, duration_seconds: stamp.duration, dropped: Vec::new(), extra: Map::new() }, extra: Map::new() }
}
