//! What the driver is given beside the job, and what it tells while the job runs.

use std::sync::Arc;

use planex_core::job::Usage;
use planex_core::mask::Masker;
use planex_core::text::truncate_bytes;
use planex_sys::clock::Clock;
use planex_sys::env::Environment;
use planex_sys::process::{Guardian, Ident};
use tokio_util::sync::CancellationToken;

use crate::adapter::McpServer;

/// Bytes of one line of activity.
const MAX_ACTIVITY: usize = 300;

/// What a run needs beside its job.
#[derive(Debug, Clone)]
pub struct DriveContext {
    /// Below which all processes run.
    pub guardian: Arc<Guardian>,
    /// Takes secrets out of everything that is written or told.
    pub masker: Arc<Masker>,
    /// What agents inherit.
    pub environment: Arc<Environment>,
    /// Planex's MCP server for this run, for agents that take one.
    pub mcp: Option<McpServer>,
    /// The time.
    pub clock: Clock,
    /// Bytes of a run's log on disk.
    pub log_cap: u64,
    /// When this is cancelled too, a job that is being ended is killed at once (a second Ctrl-C).
    pub kill: CancellationToken,
    /// What the resumed session had used before, for agents that count the whole thread (codex).
    pub usage_before: Option<Usage>,
}

/// What a job tells while it runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// Its process runs; `ident.json` is written.
    Started {
        /// How its processes are found again.
        ident: Ident,
    },
    /// The agent's own session id.
    Session(String),
    /// What it is doing right now: one line, masked, safe to show.
    Activity(String),
    /// Tokens and cost of this run so far.
    Usage(Usage),
}

/// `text` as one line of bounded length, safe to show.
pub(crate) fn one_line(text: &str) -> String {
    truncate_bytes(&planex_core::text::one_line(&truncate_bytes(text, 4 * MAX_ACTIVITY)), MAX_ACTIVITY)
}
