//! The built-in code explorer and planner: no model, no network (spec 15).
//!
//! How a text becomes a ranking, room by room:
//!
//! ```text
//! walk -> document (tokens, symbols) -> index (+ cache) -> rank (text clues, BM25F, graph) -> report, findings, plan
//! ```
//!
//! - [`walk`] lists the files and says which are binary, huge or unreadable; [`classify`] tells source, tests, docs,
//!   generated, vendored and data apart.
//! - [`tokens`] splits code into terms, [`symbols`] finds definitions and imports (tree-sitter stays in there).
//! - [`index`] holds what is known of each file, [`cache`] keeps it on disk, [`graph`] resolves imports to files.
//! - [`text`] reads what the task says: identifiers, paths, stack traces, foreign-language words.
//! - [`rank`] orders the files; [`report`], [`findings`], [`plan`] and [`tech`] turn that into what planex needs.
//!
//! Nothing here runs a program, and nothing outside the cache folder is written.

pub mod angle;
pub mod assess;
mod cache;
mod claims;
mod classify;
mod document;
mod error;
mod explorer;
pub mod findings;
mod graph;
mod index;
mod plan;
mod rank;
mod report;
mod symbols;
mod tech;
mod text;
mod tokens;
mod walk;

pub use angle::Angle;
pub use assess::{assess, plan_angles};
pub use claims::{Claim, check_claims};
pub use classify::FileClass;
pub use error::ExploreError;
pub use explorer::{ExploreOptions, Explorer};
pub use findings::{discoveries, findings};
pub use plan::{ExploredRow, plan_tasks};
pub use rank::{LineRange, Query, RankStats, RankedFile, Ranking, Why, WhyKind};
pub use symbols::{Symbol, SymbolKind};
pub use tech::{project_tech, test_command_for};
pub use walk::WalkStats;
