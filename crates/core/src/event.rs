//! The one vocabulary of events: what the journal holds and every surface shows (spec 00, *State*).
//!
//! An event is on disk before anyone is shown it. The journal is the story, not the state: deleting it loses history.

use serde::{Deserialize, Serialize};

use crate::gate::{Answer, Gate};
use crate::job::{Cause, JobStatus, Role, Usage};

/// One line of `journal.ndjson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// 1 for the first event of a session, then one more each.
    pub seq: u64,
    /// When, RFC 3339 with the session's offset.
    pub ts: String,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is not as wished; the work goes on.
    Warning,
    /// Something failed.
    Error,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// A session was made, or taken up again.
    SessionStarted {
        /// Its id.
        session: String,
        /// `waves`, `fanout`, …
        workflow: String,
        /// The requirement, or the input's name.
        requirement: String,
        /// Whether it existed before.
        resumed: bool,
        /// Version of planex that drives it.
        version: String,
    },
    /// A phase begins.
    PhaseStarted {
        /// `assess`, `explore`, `plan`, `execute`, `aggregate`.
        phase: String,
        /// What is shown for it.
        title: String,
    },
    /// A phase is done.
    PhaseFinished {
        /// The phase.
        phase: String,
        /// One line on what came out.
        summary: String,
    },
    /// A gate is open.
    GateOpened {
        /// The gate.
        gate: Gate,
    },
    /// A gate was answered.
    GateAnswered {
        /// The answer, with who gave it.
        answer: Answer,
    },
    /// A wave begins.
    WaveStarted {
        /// `explore` or `execute`.
        phase: String,
        /// Its number, from 1.
        wave: u32,
        /// Of how many.
        of: u32,
        /// Ids of the rows that run.
        items: Vec<String>,
    },
    /// A wave is merged.
    WaveFinished {
        /// `explore` or `execute`.
        phase: String,
        /// Its number.
        wave: u32,
        /// Rows completed in it.
        completed: u32,
        /// Rows failed in it.
        failed: u32,
        /// Rows skipped in it.
        skipped: u32,
    },
    /// An agent starts.
    JobStarted {
        /// The run's id.
        run: String,
        /// What for.
        role: Role,
        /// The adapter.
        agent: String,
        /// The row or task, if any.
        item: Option<String>,
        /// What is shown for it.
        title: String,
        /// 1 for the first try.
        attempt: u32,
    },
    /// What an agent is doing right now.
    JobActivity {
        /// The run.
        run: String,
        /// One line, masked and made safe to show.
        text: String,
    },
    /// A job waits for a limit to pass.
    JobWaiting {
        /// The run.
        run: String,
        /// Why.
        cause: Cause,
        /// Until when, RFC 3339.
        until: String,
    },
    /// An agent ended.
    JobFinished {
        /// The run.
        run: String,
        /// The row or task, if any.
        item: Option<String>,
        /// How.
        status: JobStatus,
        /// Why not well.
        cause: Option<Cause>,
        /// Its tokens and cost.
        usage: Usage,
        /// Its wall-clock seconds.
        duration_s: f64,
        /// The agent's own session id.
        agent_session: Option<String>,
    },
    /// A row or task got a final status.
    ItemFinished {
        /// Its id.
        item: String,
        /// Its title.
        title: String,
        /// `completed`, `failed`, `skipped`.
        status: String,
        /// The reason, when not completed.
        error: String,
    },
    /// Something the user is told.
    Notice {
        /// How loud.
        level: Level,
        /// The words.
        text: String,
    },
    /// planex stops driving the session.
    SessionFinished {
        /// `completed`, `failed`, `waiting` (at a gate), `cancelled`, `interrupted`.
        status: String,
        /// Exit code of the command.
        exit: u8,
        /// Tokens and cost of the session so far.
        usage: Usage,
    },
}
