//! Skins over the engine for programs: the MCP server of a job.
//!
//! `planex mcp` runs in two settings. Inside a job (`PLANEX_JOB_ID` and `PLANEX_SESSION_DIR` are set) it is bound to that
//! job and offers only the job's own tools. The types of the protocol's crate stay in [`mcp`].

mod job_tools;
mod mcp;

pub use job_tools::{JobBinding, JobTools, Reply, ToolInfo};
pub use mcp::serve_stdio;
