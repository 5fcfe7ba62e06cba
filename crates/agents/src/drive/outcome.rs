//! The outcome of a job while it is being put together.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use planex_core::job::{Cause, CauseKind, Exit, JobOutcome, JobSpec, JobStatus, Role, Usage};
use planex_core::settings::ZoneSetting;
use planex_core::text::{head_tail, truncate_bytes};
use planex_core::time::Zone;
use tokio::time::Instant;

use super::context::DriveContext;
use super::judge::Accepted;
use crate::replay::attempt_of;
use crate::set::Agent;

/// Bytes of the final text that an outcome keeps; the whole is in the run's log.
const MAX_TEXT: usize = 256 * 1024;

/// Bytes of a cause's message that an outcome keeps.
const MAX_MESSAGE: usize = 2000;

/// Notes that an outcome keeps.
const MAX_NOTES: usize = 100;

/// What is known so far.
#[derive(Debug)]
pub(crate) struct Report {
    run_id: String,
    role: Role,
    agent: String,
    started_at: Timestamp,
    begun: Instant,
    status: JobStatus,
    cause: Option<Cause>,
    accepted: Option<Accepted>,
    pub(crate) model: Option<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) text: String,
    pub(crate) agent_session: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) exit: Option<Exit>,
    pub(crate) left_running: Vec<String>,
}

impl Report {
    pub(crate) fn new(agent: &Agent, spec: &JobSpec, context: &DriveContext) -> Self {
        Self {
            run_id: spec.run_id.clone(),
            role: spec.role,
            agent: agent.name().to_owned(),
            started_at: context.clock.now(),
            begun: Instant::now(),
            status: JobStatus::Failed,
            cause: None,
            accepted: None,
            model: spec.model.clone(),
            notes: Vec::new(),
            text: String::new(),
            agent_session: spec.resume.clone(),
            usage: Usage::default(),
            exit: None,
            left_running: Vec::new(),
        }
    }

    /// Time since the job began.
    pub(crate) fn elapsed(&self) -> std::time::Duration {
        self.begun.elapsed()
    }

    pub(crate) fn complete(&mut self, accepted: Accepted) -> &mut Self {
        self.status = JobStatus::Completed;
        self.cause = None;
        self.accepted = Some(accepted);
        self
    }

    pub(crate) fn fail(&mut self, cause: Cause) -> &mut Self {
        self.status = match cause.kind {
            CauseKind::Timeout | CauseKind::Idle => JobStatus::Timeout,
            CauseKind::Cancelled => JobStatus::Cancelled,
            CauseKind::Failed
            | CauseKind::NoResult
            | CauseKind::InvalidResult
            | CauseKind::AgentNotUsable
            | CauseKind::RateLimited
            | CauseKind::Quota
            | CauseKind::Auth
            | CauseKind::Budget => JobStatus::Failed,
        };
        self.cause = Some(cause);
        self
    }

    /// The outcome, secrets masked.
    pub(crate) fn finish(&mut self, context: &DriveContext) -> JobOutcome {
        let masker = &context.masker;
        let mask = |text: &str| masker.mask(text).into_owned();
        let (mut result, source) = match self.accepted.take() {
            Some(accepted) => (Some(accepted.result), Some(accepted.source)),
            None => (None, None),
        };
        if let Some(result) = &mut result {
            masker.mask_json(result);
        }
        self.notes.truncate(MAX_NOTES);
        JobOutcome {
            run_id: self.run_id.clone(),
            role: self.role,
            agent: self.agent.clone(),
            model: self.model.clone(),
            status: self.status,
            cause: self
                .cause
                .take()
                .map(|cause| Cause { message: truncate_bytes(&mask(&cause.message), MAX_MESSAGE), ..cause }),
            result,
            source,
            notes: self.notes.iter().map(|note| mask(note)).collect(),
            text: head_tail(&mask(&self.text), MAX_TEXT),
            agent_session: self.agent_session.clone(),
            usage: self.usage,
            started_at: self.started_at,
            duration_s: self.begun.elapsed().as_secs_f64(),
            exit: self.exit,
            files_changed: Vec::new(),
            attempt: attempt_of(&self.run_id),
            left_running: self.left_running.iter().map(|process| mask(process)).collect(),
        }
    }
}

/// The zone in which agents print times: this machine's.
pub(crate) fn local_zone(now: Timestamp) -> Zone {
    Zone::new(&ZoneSetting::Local, &TimeZone::fixed(planex_sys::clock::local_offset(now)))
}
