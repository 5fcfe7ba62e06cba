//! The waves workflow over a scripted executor: gates, order, cascade, retry, resume, edited files.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod bench;
mod edited;
mod gates;
mod planning;
mod resume;
mod walk;
