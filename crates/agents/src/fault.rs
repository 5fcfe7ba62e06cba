//! Telling an agent's failures apart: limits, overload, quota and credentials from real failures (spec 10, *Running*).

use std::sync::LazyLock;

use jiff::Timestamp;
use planex_core::job::{Cause, CauseKind};
use planex_core::text::truncate_bytes;
use planex_core::time::{Zone, retry_hint};
use regex::Regex;

/// Bytes of a fault's message that are kept.
const MAX_MESSAGE: usize = 1000;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// 429, "too many requests", a usage limit that says when it ends.
    RateLimited,
    /// 529, 503, "overloaded".
    Overload,
    /// A quota that does not come back soon: credits, billing, a plan's limit without a time.
    Quota,
    /// Not logged in, or credentials refused.
    Auth,
    /// Anything else.
    Other,
}

impl FaultKind {
    /// The cause that a job's outcome carries for it.
    #[must_use]
    pub fn cause(self) -> CauseKind {
        match self {
            Self::RateLimited | Self::Overload => CauseKind::RateLimited,
            Self::Quota => CauseKind::Quota,
            Self::Auth => CauseKind::Auth,
            Self::Other => CauseKind::Failed,
        }
    }
}

/// A failure as the agent told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// What the agent said (capped; what adapters read is masked already).
    pub message: String,
}

impl Fault {
    /// Reads the kind from the agent's words, and from the HTTP status where it tells one.
    #[must_use]
    pub fn classify(status: Option<u16>, message: &str) -> Self {
        let message = truncate_bytes(message.trim(), MAX_MESSAGE);
        let kind = kind_of(status.or_else(|| status_in(&message)), &message.to_lowercase());
        Self { kind, message }
    }

    /// A failure of no special kind.
    #[must_use]
    pub fn other(message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Other, message: message.into() }
    }

    /// The cause for a job's outcome, with the time to try again where the agent named one. `zone` is that of this
    /// machine: agents print local times. A plan's limit that says when it ends is waited for like a rate limit.
    #[must_use]
    pub fn to_cause(&self, now: Timestamp, zone: &Zone) -> Cause {
        let retry_at = match self.kind {
            FaultKind::RateLimited | FaultKind::Overload | FaultKind::Quota => retry_hint(&self.message, now, zone),
            FaultKind::Auth | FaultKind::Other => None,
        };
        let kind = match (self.kind, retry_at) {
            (FaultKind::Quota, Some(_)) => CauseKind::RateLimited,
            (kind, _) => kind.cause(),
        };
        Cause { kind, message: self.message.clone(), retry_at }
    }
}

const AUTH: [&str; 13] = [
    "not logged in",
    "please run /login",
    "unauthorized",
    "unauthenticated",
    "authentication_failed",
    "authentication_error",
    "authentication failed",
    "invalid api key",
    "invalid x-api-key",
    "incorrect api key",
    "api key not valid",
    "missing environment variable",
    "token has expired",
];
const QUOTA: [&str; 7] = [
    "insufficient_quota",
    "credit balance",
    "billing",
    "payment required",
    "usage limit",
    "out of credits",
    "hit your limit",
];
const RATE: [&str; 6] =
    ["rate limit", "rate_limit", "ratelimit", "too many requests", "resource_exhausted", "exceeded your current quota"];
const OVERLOAD: [&str; 5] = ["overloaded", "at capacity", "service unavailable", "server is busy", "model is busy"];

fn kind_of(status: Option<u16>, words: &str) -> FaultKind {
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    if has(&QUOTA) {
        return FaultKind::Quota;
    }
    match status {
        Some(401 | 403) => return FaultKind::Auth,
        Some(402) => return FaultKind::Quota,
        Some(429) => return FaultKind::RateLimited,
        Some(503 | 529) => return FaultKind::Overload,
        _ => {}
    }
    if has(&RATE) {
        FaultKind::RateLimited
    } else if has(&OVERLOAD) {
        FaultKind::Overload
    } else if has(&AUTH) {
        FaultKind::Auth
    } else {
        FaultKind::Other
    }
}

/// A regular expression that is a constant of this crate; one that does not compile matches nothing.
fn pattern(source: &'static str) -> Option<Regex> {
    Regex::new(source).ok()
}

static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b(?:status|code|error|http)\b(?: code)?[ :=/(\x22]{1,3}([1-5]\d\d)\b|^\s*([1-5]\d\d)\b|\b([45]\d\d) (?:unauthorized|forbidden|too many requests|internal server error|service unavailable|payment required))",
    )
});
fn status_in(message: &str) -> Option<u16> {
    let found = STATUS.as_ref()?.captures(message)?;
    (1..=3).find_map(|group| found.get(group))?.as_str().parse().ok()
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
