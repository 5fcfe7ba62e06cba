//! `planex fanout` with real processes: agents that are shell scripts.

#![cfg(unix)]

mod bench;
mod resume;
mod rows;
mod rules;
