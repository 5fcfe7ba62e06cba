//! Commands that planex runs itself, on the real system.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test: a panic is its way to fail")]

mod baseline;
mod bench;
mod checks;
mod ending;
