//! Commands that planex runs itself, because what an agent claims is no proof (spec 70, *Truth over claims*).
//!
//! - [`run_checks`] runs approved commands under the guardian and says what each came to.
//! - [`Baseline`] is the project's own test command, run before anything is changed: what was red then is no fault of a
//!   task.
//! - [`is_program`] is what [`planex_core::command::Directives`] asks about a first word.
//!
//! It must not decide what a verdict means for a task; that is the workflow's.

mod baseline;
mod check;
mod context;
mod verdict;

pub use baseline::Baseline;
pub use check::{run_check, run_checks};
pub use context::{CheckContext, is_program};
pub use verdict::{Check, Verdict};

pub(crate) use context::idents;

#[cfg(test)]
mod tests;
