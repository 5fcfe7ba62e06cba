//! Which job starts when: a pure state machine (spec 10, *Running*).
//!
//! Events go in with the time at which they happened, actions come out; a driver does what they say. Owns slots, limits
//! per agent, retries, waiting for rate limits, and stopping. Must not know processes, files or clocks.
//!
//! Invariants: never more jobs at once than the limits allow (a limit that shrinks ends nothing that runs); among the
//! jobs that may start, the one that stands first starts first; every item ends exactly once; a job that waits holds
//! no slot. Each event costs about the logarithm of the number of items.
//!
//! ```text
//!            dependencies done            slot
//!  Blocked ─────────────────────> Ready ───────> Running ──> Ended
//!     │                             ^  ^            │          ^
//!     │ a dependency did not        │  └─ retry ────┤          │
//!     │ complete                    └── time ── Waiting        │
//!     └────────────────────────────────────────────────────────┘
//! ```

mod limits;
mod run;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

pub use limits::{Backoff, Limits};
pub use run::Scheduler;

use crate::job::CauseKind;

/// One job to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name; unique, else later ones are left out.
    pub key: String,
    /// The agents that can do it, best first; the next is taken when one is not usable, limited, or failed for good.
    pub agents: Vec<String>,
    /// Keys of items that must complete first; unknown ones count as not completed.
    pub deps: Vec<String>,
    /// Not before, if an earlier planex was told to wait.
    pub not_before: Option<Timestamp>,
}

impl Item {
    /// An item for one agent, without dependencies.
    #[must_use]
    pub fn new(key: impl Into<String>, agent: impl Into<String>) -> Self {
        Self { key: key.into(), agents: vec![agent.into()], deps: Vec::new(), not_before: None }
    }
}

/// How one run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Well.
    Done,
    /// Not, for this reason. Those of [`CauseKind`] that have a verdict of their own are read as that.
    Failed(CauseKind),
    /// The agent is overloaded or its limit is reached, perhaps until then.
    RateLimited {
        /// When the agent says to try again.
        retry_at: Option<Timestamp>,
    },
    /// The agent is not logged in.
    AuthFailed,
    /// The agent is not there, or cannot be started.
    NotUsable,
    /// Someone ended it.
    Cancelled,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The beginning.
    Begin,
    /// A run ended.
    Finished {
        /// The item.
        key: String,
        /// How.
        verdict: Verdict,
    },
    /// Time went by.
    Timer,
    /// End everything.
    CancelAll,
    /// End one item.
    CancelItem {
        /// The item.
        key: String,
    },
    /// A worker asked to stop the rest: what runs finishes, nothing else starts.
    StopRest,
    /// Start nothing for now (pause, budget); what runs finishes.
    Hold,
    /// Go on after [`Event::Hold`].
    Release,
}

/// What the driver is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Start a run.
    Start {
        /// The item.
        key: String,
        /// The agent to run it.
        agent: String,
        /// From 1.
        attempt: u32,
    },
    /// End this run; its end is to be reported as usual.
    Abort {
        /// The item.
        key: String,
    },
    /// Send [`Event::Timer`] then. The latest one counts.
    Wake {
        /// When.
        at: Timestamp,
    },
    /// The item is over; once for each.
    Ended {
        /// The item.
        key: String,
        /// How.
        end: End,
        /// Runs that were started.
        attempts: u32,
    },
    /// Held, and nothing runs any more, but items are left.
    Idle,
    /// Every item is over; once, last.
    Finished,
}

/// How an item ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Completed.
    Completed,
    /// Given up.
    Failed(CauseKind),
    /// A dependency did not complete.
    Skipped {
        /// The key of that dependency.
        because: String,
    },
    /// Cancelled.
    Cancelled,
    /// Stopped before it could complete; it stays pending.
    Stopped,
}
