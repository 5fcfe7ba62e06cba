//! Building prompts: pure functions from rows and findings to text (spec 10, *A job*; spec 20).
//!
//! A prompt is a list of [`Section`]s. [`assemble`] fits them into the cap: whole texts first, then digests, then paths
//! to read, in a fixed order of importance. Nothing is ever pasted into a shell; prompts go by standard input or file.

mod assemble;
mod overrides;
pub mod waves;

pub use assemble::{Section, assemble};
pub use overrides::{OverrideError, apply_override};
