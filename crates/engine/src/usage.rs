//! What was used: tokens, money and time per agent, model, role and session (spec 10, *Budget*).

use std::collections::BTreeMap;

use planex_core::job::{JobOutcome, Usage};

use crate::error::Result;
use crate::registry;
use crate::store::SessionPaths;

/// A sum of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Sum {
    /// How many runs.
    pub runs: u32,
    /// Of them, how many told no cost.
    pub without_cost: u32,
    /// Tokens and money.
    #[serde(flatten)]
    pub usage: Usage,
    /// Wall-clock seconds of all runs together.
    pub seconds: f64,
}

impl Sum {
    /// Adds one run.
    pub fn add(&mut self, outcome: &JobOutcome) {
        self.runs = self.runs.saturating_add(1);
        self.without_cost = self.without_cost.saturating_add(u32::from(outcome.usage.cost_usd.is_none()));
        self.usage.add(&outcome.usage);
        self.seconds += outcome.duration_s;
    }
}

/// Sums by several keys.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Report {
    /// Of all runs.
    pub total: Sum,
    /// By agent.
    pub by_agent: BTreeMap<String, Sum>,
    /// By model; `default` where none is known.
    pub by_model: BTreeMap<String, Sum>,
    /// By role.
    pub by_role: BTreeMap<String, Sum>,
    /// By session.
    pub by_session: BTreeMap<String, Sum>,
}

impl Report {
    /// Adds one run of `session`.
    pub fn add(&mut self, session: &str, outcome: &JobOutcome) {
        self.total.add(outcome);
        self.by_agent.entry(outcome.agent.clone()).or_default().add(outcome);
        let model = outcome.model.clone().unwrap_or_else(|| "default".to_owned());
        self.by_model.entry(model).or_default().add(outcome);
        self.by_role.entry(outcome.role.to_string()).or_default().add(outcome);
        self.by_session.entry(session.to_owned()).or_default().add(outcome);
    }
}

/// Sums over sessions.
///
/// # Errors
/// Runs cannot be read.
pub fn report<'a>(sessions: impl IntoIterator<Item = (&'a str, &'a SessionPaths)>) -> Result<Report> {
    let mut report = Report::default();
    for (id, paths) in sessions {
        for outcome in registry::outcomes(paths)?.values() {
            report.add(id, outcome);
        }
    }
    Ok(report)
}

/// Tokens and money of one session.
///
/// # Errors
/// Runs cannot be read.
pub fn of_session(paths: &SessionPaths) -> Result<Usage> {
    let mut usage = Usage::default();
    registry::outcomes(paths)?.values().for_each(|outcome| usage.add(&outcome.usage));
    Ok(usage)
}
