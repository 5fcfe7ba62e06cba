//! `planex fanout` with real processes: agents that are shell scripts.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test: a panic is its way to fail"
)]

mod asked;
mod bench;
mod kept;
mod many;
mod resume;
mod rows;
mod rules;
