//! The only door to the system: files, locks, processes, git, clock.
