//! Agent adapters: pure command builders and line readers, one shared driver (spec 10).
//!
//! - [`adapter`]: what an agent is to planex. [`adapters`]: one file per agent.
//! - [`AgentSet`] knows which agents there are and finds out which are usable ([`Probe`]).
//! - [`drive`](fn@drive::drive) runs one job on one [`Agent`] and judges how it ended. It never writes `result.json`:
//!   that is its caller's last step.
//! - [`InProcess`] agents (`native` from the engine, [`replay`]) run inside planex.
//!
//! No job's failure, garbage or silence takes down anything else: readers never panic, memory is bounded, every failure
//! is an outcome.

pub mod adapter;
pub mod adapters;
pub mod drive;
pub mod fault;
mod inprocess;
mod known;
mod probe;
pub mod replay;
mod set;

pub use adapter::{Adapter, Capabilities, McpServer};
pub use drive::{DriveContext, Update};
pub use inprocess::{Control, InProcess, InProcessAnswer};
pub use known::{KNOWN, Known, LoginBase};
pub use probe::{Login, PROBE_LIMIT, Probe};
pub use set::{ANY_AGENT, Agent, AgentRef, AgentSet, ResolveError};
