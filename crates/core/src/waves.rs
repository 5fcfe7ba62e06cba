//! Which wave each task runs in (spec 20, *Waves* and *Overlap*).
//!
//! Owns: the longest path from 1, then moving tasks whose scopes meet into later waves. The invariants, whatever goes
//! in: a task's wave is later than those of all its dependencies, and under [`OverlapPolicy::Serialize`] no two tasks
//! of one wave overlap. Deterministic, and linear while there is nothing to compare.

mod near;
mod place;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use crate::glob::{Overlap, Scope};
use crate::graph::{self, GraphFault};
pub use crate::settings::OverlapPolicy;
use near::{Compared, Near};

/// A task, as far as waves care.
#[derive(Debug, Clone)]
pub struct WaveInput<'a> {
    /// Its id.
    pub id: &'a str,
    /// Ids of the tasks that must be done before.
    pub deps: Vec<&'a str>,
    /// What it may change.
    pub scope: &'a Scope,
}

/// When everything runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WavePlan {
    /// The wave of each task, counted from 1, in the order of the tasks.
    pub wave: Vec<u32>,
    /// What runs later than its dependencies alone would have it, in the order of the tasks.
    pub moved: Vec<Moved>,
}

impl WavePlan {
    /// How many waves there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.wave.iter().copied().max().unwrap_or(0)
    }
}

/// One task that moved to a later wave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The task.
    pub id: String,
    /// The wave that its dependencies alone would give.
    pub from: u32,
    /// The wave it got.
    pub to: u32,
    /// The task of the wave before `to` that keeps it out of there.
    pub because_of: String,
    /// How they overlap; `None`: it depends on that task, which moved itself.
    pub witness: Option<Overlap>,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, from, to, because_of, witness } = self;
        write!(f, "{id} moves from wave {from} to {to}: ")?;
        match witness {
            Some(overlap) => write!(f, "overlaps {because_of} ({overlap})"),
            None => write!(f, "depends on {because_of}, which moved"),
        }
    }
}

/// Why there are no waves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaveFault {
    /// The dependencies are at fault.
    #[error(transparent)]
    Graph(#[from] GraphFault),
    /// Two tasks of one wave overlap, and that is not to be mended by moving.
    #[error("`{a}` and `{b}` overlap in wave {wave}: {witness}")]
    Overlap {
        /// The task that stands earlier.
        a: String,
        /// The task that stands later.
        b: String,
        /// Their wave.
        wave: u32,
        /// How they overlap.
        witness: Overlap,
    },
}

/// The waves by dependencies alone.
///
/// # Errors
/// Every fault of the dependencies.
pub fn compute_levels(tasks: &[WaveInput<'_>]) -> Result<Vec<u32>, Vec<GraphFault>> {
    graph::levels(&nodes(tasks))
}

/// The waves by dependencies and scopes.
///
/// # Errors
/// Every fault of the dependencies; under [`OverlapPolicy::Error`] the overlaps, at most 100 of them.
pub fn plan_waves(tasks: &[WaveInput<'_>], policy: OverlapPolicy) -> Result<WavePlan, Vec<WaveFault>> {
    let levels = match compute_levels(tasks) {
        Ok(levels) => levels,
        Err(faults) => return Err(faults.into_iter().map(WaveFault::Graph).collect()),
    };
    match policy {
        OverlapPolicy::Serialize => Ok(place::serialize(tasks, &levels)),
        OverlapPolicy::Error => match overlaps(tasks, &levels) {
            faults if faults.is_empty() => Ok(WavePlan { wave: levels, moved: Vec::new() }),
            faults => Err(faults),
        },
    }
}

fn nodes<'a>(tasks: &'a [WaveInput<'a>]) -> Vec<(&'a str, &'a [&'a str])> {
    tasks.iter().map(|task| (task.id, task.deps.as_slice())).collect()
}

/// Overlaps that are reported before the search stops.
const MOST_REPORTED: usize = 100;

fn overlaps(tasks: &[WaveInput<'_>], levels: &[u32]) -> Vec<WaveFault> {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|task| (levels[*task], *task));
    let mut compared = Compared::new(tasks);
    let mut faults = Vec::new();
    for wave in order.chunk_by(|a, b| levels[*a] == levels[*b]) {
        let mut near = Near::default();
        let mut unlimited = BTreeSet::new();
        for (at, &second) in wave.iter().enumerate() {
            let scope = tasks[second].scope;
            let others =
                if scope.is_limited() { &near.of(scope) | &unlimited } else { wave[..at].iter().copied().collect() };
            for first in others {
                if let Some(witness) = compared.overlap(first, second) {
                    let (a, b) = (tasks[first].id.to_owned(), tasks[second].id.to_owned());
                    faults.push(WaveFault::Overlap { a, b, wave: levels[second], witness: witness.clone() });
                    if faults.len() == MOST_REPORTED {
                        return faults;
                    }
                }
            }
            near.add(second, scope);
            if !scope.is_limited() {
                unlimited.insert(second);
            }
        }
    }
    faults
}
