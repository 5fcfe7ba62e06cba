//! The pure heart of planex: no I/O, no async, no clock, no environment.
//!
//! Everything here is a value or a function from values to values, so all of it can be tested without a machine around
//! it. What a room outside needs to agree on (jobs, events, gates, settings, rows) is defined here.

pub mod command;
pub mod csv;
pub mod discovery;
pub mod event;
pub mod exploration;
pub mod failures;
pub mod gate;
pub mod glob;
pub mod graph;
pub mod guide;
pub mod id;
pub mod job;
pub mod lang;
pub mod mask;
pub mod prompt;
pub mod repair;
pub mod report;
pub mod rows;
pub mod schema;
pub mod settings;
pub mod suggest;
pub mod tech;
pub mod template;
pub mod text;
pub mod time;
pub mod waves;
