//! The workflows, one room each.

pub mod fanout;
pub mod waves;
