//! Times as planex writes and reads them. Pure: "now" and the machine's zone are handed in.

mod duration;
mod retry;
mod zone;

pub use duration::{DurationError, human_duration, parse_duration};
pub use retry::retry_hint;
pub use zone::{Zone, parse_zone};
