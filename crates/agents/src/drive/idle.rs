//! The idle limit: no output, no open tool call, and no descendant that works (spec 10, *Running*).

use std::time::Duration;

use planex_sys::process::Child;
use tokio::time::Instant;

/// Share of one processor, in clock ticks a second (usually 100 to the second), that counts as work.
const NOTICEABLE: f64 = 2.0;

/// Watches for silence.
#[derive(Debug)]
pub(crate) struct Watchdog {
    /// Zero: off.
    limit: Duration,
    /// The last sign of work beside output.
    worked: Instant,
    /// Processor time of the tools when last looked at.
    seen: Option<(Instant, u64)>,
}

impl Watchdog {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, worked: Instant::now(), seen: None }
    }

    /// The limit, if it is reached. `busy`: a tool call is open.
    pub(crate) fn look(&mut self, last_output: Instant, busy: bool, child: &Child) -> Option<Duration> {
        if self.limit.is_zero() {
            return None;
        }
        if busy {
            self.worked = Instant::now();
        }
        let silent = self.worked.max(last_output).elapsed();
        // Looking at all processes costs something: only once it has been silent for half of the limit.
        if silent < self.limit / 2 {
            self.seen = None;
            return None;
        }
        self.measure(child.tool_ticks());
        (self.worked.max(last_output).elapsed() >= self.limit).then_some(self.limit)
    }

    fn measure(&mut self, ticks: u64) {
        let now = Instant::now();
        match self.seen {
            None => self.seen = Some((now, ticks)),
            Some((at, before)) => {
                let span = now.duration_since(at);
                if span < (self.limit / 10).min(Duration::from_secs(5)) {
                    return;
                }
                if works(ticks.saturating_sub(before), span) {
                    self.worked = now;
                }
                self.seen = Some((now, ticks));
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rough share of a processor")]
fn works(ticks: u64, span: Duration) -> bool {
    ticks > 0 && ticks as f64 >= NOTICEABLE * span.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_processor_time_is_no_work() {
        assert!(!works(0, Duration::from_millis(10)));
        assert!(!works(3, Duration::from_secs(5)));
        assert!(works(10, Duration::from_secs(5)));
        assert!(works(1, Duration::from_millis(100)));
    }
}
