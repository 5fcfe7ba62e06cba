//! The driver with real processes: agents that hang, flood, lie, crash, and leave children behind.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test: a panic is its way to fail"
)]

mod ending;
mod inside;
mod results;
mod support;
