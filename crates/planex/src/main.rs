//! Plan, run and check coding-agent work in waves.

fn main() {}
