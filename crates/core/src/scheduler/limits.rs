//! Limits, and what an agent's behaviour makes of them.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::job::CauseKind;

/// How much at once and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Jobs at once; at least 1.
    pub concurrency: usize,
    /// Jobs at once per agent, where there is a limit.
    pub per_agent: BTreeMap<String, usize>,
    /// Times that a failed item is tried again, on each of its agents.
    pub retries: u32,
    /// Times that an item waits for a limit before it is given up.
    pub waits: u32,
    /// How long to wait before trying again.
    pub backoff: Backoff,
    /// Makes the waits of different runs differ.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 4, per_agent: BTreeMap::new(), retries: 0, waits: 6, backoff: Backoff::default(), seed: 0 }
    }
}

/// Exponential waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait; doubles each time.
    pub base: Duration,
    /// The longest.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { base: Duration::from_secs(5), most: Duration::from_secs(300) }
    }
}

impl Backoff {
    /// The wait before try `tries + 1`: between half and all of `base · 2^(tries - 1)`, capped; the same for the same
    /// seed, item and try.
    #[must_use]
    pub fn wait(&self, seed: u64, item: usize, tries: u32) -> Duration {
        let factor = 1u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX);
        let full = self.base.saturating_mul(factor).min(self.most);
        let mixed = mix(seed ^ mix(item as u64) ^ u64::from(tries).rotate_left(32));
        // The upper 32 bits as a fraction of 2^32.
        let fraction = f64::from(u32::try_from(mixed >> 32).unwrap_or(0)) / f64::from(u32::MAX);
        full.mul_f64(0.5 + fraction / 2.0)
    }
}

/// SplitMix64: every bit of the input moves about half of the output.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One agent as the scheduler sees it.
#[derive(Debug)]
pub(super) struct Lane {
    /// The configured limit.
    most: usize,
    /// The limit now: halved by a rate limit, one more with each success.
    now: usize,
    pub(super) running: usize,
    /// When the agent itself said to try again.
    until: Option<Timestamp>,
    /// Why nothing more may start.
    pub(super) dead: Option<CauseKind>,
}

impl Lane {
    pub(super) fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { most, now: most, running: 0, until: None, dead: None }
    }

    pub(super) fn has_room(&self, now: Timestamp) -> bool {
        self.dead.is_none() && self.running < self.now && self.limited_until(now).is_none()
    }

    /// The time that the agent named, if it is still to come.
    pub(super) fn limited_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.until.filter(|until| *until > now)
    }

    pub(super) fn limit(&mut self, until: Option<Timestamp>) {
        self.now = (self.now / 2).max(1);
        self.until = self.until.max(until);
    }

    pub(super) fn recover(&mut self) {
        self.now = (self.now + 1).min(self.most);
    }
}
