//! Isolation over real repositories: for each situation a repository made with git itself, a wave of tasks, the merge
//! into the user's tree and its undo; after each step everything of the user's is compared with what it was before.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod round;
mod state;
mod user;

mod contents;
mod index;
mod meanwhile;
