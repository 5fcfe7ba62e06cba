//! The workflows, one room each.

pub mod fanout;
mod frame;
pub mod waves;
