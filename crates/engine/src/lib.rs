//! The engine: sessions on disk, gates, the dispatcher, the workflows.
//!
//! One process drives a session and writes all of it. What happens is told as events through one journal; what must be
//! decided is asked through gates. A workflow never prints and never asks a terminal.
//!
//! Rooms: [`store`] (all paths), [`session`], [`journal`], [`gate`], [`requests`] and [`registry`] (a session's files),
//! [`board`] and [`guidelines`] (what agents share and must obey), [`run`] (the dispatcher), [`attribution`] (whose
//! change is it), [`verify`] (commands
//! that planex runs itself), [`project`] and [`trust`] (where planex works), [`engine`] (all of it tied together), [`workflow`].

#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make and break files on purpose"))]

pub mod attribution;
pub mod board;
pub mod cancel;
pub mod demo;
pub mod engine;
mod error;
pub mod gate;
pub mod ground;
pub mod guidelines;
pub mod journal;
pub mod native;
pub mod notes;
pub mod project;
pub mod registry;
pub mod requests;
pub mod run;
pub mod session;
pub mod single;
pub mod store;
pub mod trust;
pub mod usage;
pub mod verify;
pub mod workflow;

pub use cancel::Cancel;
pub use engine::{Driver, Engine};
pub use error::{EngineError, ErrorKind, Result};
