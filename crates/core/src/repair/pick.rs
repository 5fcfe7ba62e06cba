//! Choosing the one value of a text that passes a test.

use crate::schema::{Fault, Fitted};

use super::spans::{Candidate, Level, scan};

/// What a text turned out to hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Picked {
    /// A value that passes.
    Found {
        /// The value, as the test returned it.
        fitted: Fitted,
        /// How much was needed to read it.
        level: Level,
        /// What was mended in the text, one phrase each.
        repairs: Vec<String>,
    },
    /// JSON is there, but none passes: the faults of the one that has the fewest.
    Unfit(Vec<Fault>),
    /// The text breaks off inside of its last value.
    CutOff,
    /// Something looks like JSON and is broken beyond certain repair.
    Broken(String),
    /// There is no JSON at all.
    Nothing,
}

impl Picked {
    /// One sentence for the agent that is asked again, or for a log; `None` if a value was found.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::Found { .. } => None,
            Self::Unfit(faults) => {
                let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
                Some(format!("the JSON does not fit the schema: {}", lines.join("; ")))
            }
            Self::CutOff => Some("the answer breaks off inside of its JSON".to_owned()),
            Self::Broken(message) => Some(message.clone()),
            Self::Nothing => Some("the answer holds no JSON".to_owned()),
        }
    }
}

/// The value that counts: of those that `fits` accepts the ones of the lowest level, of these the last in the text.
///
/// A value that stands before one that was cut off does not count: the last one was meant.
pub fn pick(text: &str, fits: impl Fn(&serde_json::Value) -> Result<Fitted, Vec<Fault>>) -> Picked {
    let found = scan(text);
    let mut fewest: Option<Vec<Fault>> = None;
    for candidate in order(found.candidates) {
        match fits(&candidate.value) {
            Ok(_) if found.cut_off.is_some_and(|at| at > candidate.span.1) => return Picked::CutOff,
            Ok(fitted) => return Picked::Found { fitted, level: candidate.level, repairs: candidate.repairs },
            Err(faults) => {
                if fewest.as_ref().is_none_or(|best| faults.len() < best.len()) {
                    fewest = Some(faults);
                }
            }
        }
    }
    match (found.cut_off, found.fault, fewest) {
        (Some(_), _, _) => Picked::CutOff,
        (None, Some(message), _) => Picked::Broken(message),
        (None, None, Some(faults)) => Picked::Unfit(faults),
        (None, None, None) => Picked::Nothing,
    }
}

/// Lowest level first, within a level the last in the text first.
fn order(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| a.level.cmp(&b.level).then(b.span.cmp(&a.span)));
    candidates
}
