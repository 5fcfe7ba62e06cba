//! What a session may use up, and the gate that can raise it (spec 10, *Budget*).

use std::time::{Duration, Instant};

use jiff::Timestamp;
use planex_core::gate::{Choice, Gate, Question};
use planex_core::job::{Cause, CauseKind, Usage};
use planex_core::settings::Budget;

/// A budget and what of it is used.
#[derive(Debug, Clone)]
pub struct BudgetState {
    budget: Budget,
    used: Usage,
    runs_without_cost: u32,
    before: Duration,
    started: Instant,
}

impl BudgetState {
    /// A budget of which `used` (by earlier runs of the session) and `before` (its time so far) are gone.
    #[must_use]
    pub fn new(budget: Budget, used: Usage, before: Duration) -> Self {
        Self { budget, used, runs_without_cost: 0, before, started: Instant::now() }
    }

    /// Adds one run.
    pub fn add(&mut self, usage: &Usage) {
        self.used.add(usage);
        self.runs_without_cost += u32::from(usage.cost_usd.is_none());
    }

    /// Tokens and money so far.
    #[must_use]
    pub fn used(&self) -> Usage {
        self.used
    }

    /// Time left of `--max-time`.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.budget.max_time.map(|max| max.saturating_sub(self.before + self.started.elapsed()))
    }

    /// Why no new job may start.
    #[must_use]
    pub fn exceeded(&self) -> Option<Cause> {
        let cost = self.budget.max_cost.zip(self.used.cost_usd).filter(|(max, used)| used >= max);
        let tokens = self.budget.max_tokens.filter(|max| self.used.total_tokens() >= *max);
        let words = if let Some((max, used)) = cost {
            format!("{used:.2} of {max:.2} US dollars are used")
        } else if let Some(max) = tokens {
            format!("{} of {max} tokens are used", self.used.total_tokens())
        } else if self.time_left().is_some_and(|left| left.is_zero()) {
            let max = self.budget.max_time.unwrap_or_default();
            format!("the session's time of {} is over", planex_core::time::human_duration(max))
        } else {
            return None;
        };
        Some(Cause::new(CauseKind::Budget, words))
    }

    /// Doubles whatever is used up.
    pub fn raise(&mut self) {
        if let (Some(max), Some(used)) = (self.budget.max_cost, self.used.cost_usd)
            && used >= max
        {
            self.budget.max_cost = Some(used.max(max) + max.max(0.01));
        }
        if let Some(max) = self.budget.max_tokens
            && self.used.total_tokens() >= max
        {
            self.budget.max_tokens = Some(self.used.total_tokens().saturating_add(max.max(1)));
        }
        if self.time_left().is_some_and(|left| left.is_zero()) {
            let max = self.budget.max_time.unwrap_or_default();
            let spent = self.before + self.started.elapsed();
            self.budget.max_time = Some(spent.max(max) + max.max(Duration::from_secs(60)));
        }
    }

    /// The gate that asks whether to go on. `-y` never passes it.
    #[must_use]
    pub fn gate(&self, id: String, cause: &Cause, at: Timestamp) -> Gate {
        let mut body = format!("Used so far: {} tokens", self.used.total_tokens());
        if let Some(cost) = self.used.cost_usd {
            body.push_str(&format!(", {cost:.2} US dollars"));
        }
        if self.runs_without_cost > 0 {
            body.push_str(&format!("\n{} runs told no cost, so the real sum is higher", self.runs_without_cost));
        }
        Gate {
            id,
            title: format!("The budget is used up: {}", cause.message),
            body,
            questions: vec![Question {
                id: "budget".to_owned(),
                header: "Budget".to_owned(),
                question: "Go on?".to_owned(),
                options: vec![
                    Choice::new("stop", "Stop", "start nothing new; `planex resume` goes on later"),
                    Choice::new("raise", "Raise", "allow as much again"),
                ],
                default: "stop".to_owned(),
                free_text: false,
            }],
            approves: None,
            opened_at: at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(tokens: u64, cost: Option<f64>) -> Usage {
        Usage { input_tokens: tokens, cost_usd: cost, ..Usage::default() }
    }

    #[test]
    fn each_limit_stops_and_can_be_raised() {
        let cases = [
            (Budget { max_tokens: Some(100), ..Budget::default() }, usage(99, None), usage(1, None)),
            (Budget { max_cost: Some(0.5), ..Budget::default() }, usage(1, Some(0.4)), usage(1, Some(0.1))),
        ];
        for (budget, first, second) in cases {
            let mut state = BudgetState::new(budget, first, Duration::ZERO);
            assert_eq!(state.exceeded(), None);
            state.add(&second);
            let cause = state.exceeded().unwrap();
            assert_eq!(cause.kind, CauseKind::Budget);
            state.raise();
            assert_eq!(state.exceeded(), None);
        }
        let budget = Budget { max_time: Some(Duration::from_secs(10)), ..Budget::default() };
        let mut state = BudgetState::new(budget, Usage::default(), Duration::from_secs(11));
        assert!(state.exceeded().is_some());
        state.raise();
        assert_eq!(state.exceeded(), None);
        assert!(BudgetState::new(Budget::default(), usage(u64::MAX, Some(1e9)), Duration::MAX).exceeded().is_none());
    }

    #[test]
    fn the_gate_says_where_no_cost_is_told() {
        let mut state =
            BudgetState::new(Budget { max_tokens: Some(1), ..Budget::default() }, Usage::default(), Duration::ZERO);
        state.add(&usage(5, None));
        let gate = state.gate("budget".into(), &state.exceeded().unwrap(), Timestamp::UNIX_EPOCH);
        assert!(gate.body.contains("told no cost"), "{}", gate.body);
        assert_eq!(gate.questions[0].default, "stop");
    }
}
