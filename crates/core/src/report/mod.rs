//! Building what people read at the end: `context.md`, and the context that later tasks get.

mod context;
mod waves;

pub use context::prev_context;
pub use waves::{RunLine, Totals, WavesReport, shared_files, synthesis};
