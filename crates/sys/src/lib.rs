//! The only door to the system: files, locks, processes, git, clock.
//!
//! Everything outside this crate (and the pure `planex-core`) takes the environment, the time and the disk as values or
//! through the functions here, so that every error names its path or its argv, every write is atomic, and every process
//! that planex starts is ended with all that it started.

pub mod clock;
pub mod env;
pub mod fs;
pub mod git;
pub mod lock;
pub mod observe;
pub mod process;
pub mod program;
pub mod swap;
pub mod terminal;
