//! The time, as a value that tests can fix.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// The present instant by the system's clock.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// The offset of the system's time zone at `at`; UTC where the zone cannot be found out.
#[must_use]
pub fn local_offset(at: Timestamp) -> Offset {
    TimeZone::system().to_offset(at)
}

/// Where the time comes from: the system, or a hand that tests move.
///
/// Clones of a fixed clock share their hand.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    fixed: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands at `at` until it is moved.
    #[must_use]
    pub fn fixed(at: Timestamp) -> Self {
        Self { fixed: Some(Arc::new(Mutex::new(at))) }
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match &self.fixed {
            Some(hand) => *hand.lock().unwrap_or_else(PoisonError::into_inner),
            None => now(),
        }
    }

    /// Moves a fixed clock by `by`, stopping at the ends of representable time; does nothing to the system's clock.
    pub fn advance(&self, by: SignedDuration) {
        if let Some(hand) = &self.fixed {
            let mut hand = hand.lock().unwrap_or_else(PoisonError::into_inner);
            let end = if by.is_negative() { Timestamp::MIN } else { Timestamp::MAX };
            *hand = hand.checked_add(by).unwrap_or(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_stands_until_it_is_moved() {
        let at: Timestamp = "2026-02-28T02:00:00Z".parse().unwrap();
        let clock = Clock::fixed(at);
        let other = clock.clone();
        assert_eq!(clock.now(), at);
        other.advance(SignedDuration::from_secs(90));
        assert_eq!(clock.now().to_string(), "2026-02-28T02:01:30Z");
        clock.advance(SignedDuration::MAX);
        assert_eq!(clock.now(), Timestamp::MAX);
    }

    #[test]
    fn the_system_clock_goes_on() {
        let clock = Clock::system();
        clock.advance(SignedDuration::from_hours(10_000));
        let seen = clock.now();
        assert!((now().as_second() - seen.as_second()).abs() < 60);
        assert!(local_offset(seen).seconds().abs() < 25 * 3600);
    }
}
