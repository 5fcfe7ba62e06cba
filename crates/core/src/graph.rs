//! Graphs of ids and what they depend on (spec 20, *Waves*).
//!
//! Owns: finding every fault of a graph, levels, what is ready, what hangs on what. All of it is linear in nodes and
//! edges, iterative, and in the order in which the nodes were given.

mod build;
mod cycles;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;

use build::Graph;

/// Something that keeps a graph from being run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphFault {
    /// Two nodes carry the same id.
    #[error("`{node}` is there twice")]
    Duplicate {
        /// The id.
        node: String,
        /// Index of the second one.
        index: usize,
    },
    /// A node waits for itself.
    #[error("`{node}` depends on itself")]
    SelfDependency {
        /// The id.
        node: String,
    },
    /// A node waits for one that is not there.
    #[error("`{node}` depends on unknown `{dep}`{}", hint(.nearest.as_ref()))]
    UnknownDependency {
        /// The id of the node.
        node: String,
        /// The unknown id.
        dep: String,
        /// The known id that is most alike.
        nearest: Option<String>,
    },
    /// Nodes wait for each other.
    #[error("cycle: {0}")]
    Cycle(CyclePath),
}

fn hint(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |id| format!(" (did you mean `{id}`?)"))
}

/// A cycle, each id depending on the next; the first is not repeated at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CyclePath(pub Vec<String>);

/// Ids that are printed of a long cycle.
const SHOWN: usize = 20;

impl fmt::Display for CyclePath {
    /// `T2 -> T3 -> T2`; the middle of a long one is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in self.0.iter().take(SHOWN) {
            write!(f, "{id} -> ")?;
        }
        if self.0.len() > SHOWN {
            write!(f, "… ({} more) -> ", self.0.len() - SHOWN)?;
        }
        f.write_str(self.0.first().map_or("", String::as_str))
    }
}

/// Every fault: duplicates, self-dependencies, unknown ids, then for each knot of nodes that wait for each other its
/// shortest cycle through the node that stands first.
#[must_use]
pub fn check<S: AsRef<str>>(nodes: &[(&str, &[S])]) -> Vec<GraphFault> {
    let (graph, mut faults) = Graph::build(nodes);
    faults.extend(cycles::find(&graph).into_iter().map(|path| {
        let ids = path.into_iter().filter_map(|node| nodes.get(node)).map(|(id, _)| (*id).to_owned());
        GraphFault::Cycle(CyclePath(ids.collect()))
    }));
    faults
}

/// The level of each node: 1 without dependencies, else one more than its highest dependency.
///
/// # Errors
/// Every fault of the graph, as [`check`].
pub fn levels<S: AsRef<str>>(nodes: &[(&str, &[S])]) -> Result<Vec<u32>, Vec<GraphFault>> {
    let (graph, faults) = Graph::build(nodes);
    if faults.is_empty()
        && let Some(levels) = graph.levels()
    {
        return Ok(levels);
    }
    Err(check(nodes))
}

/// Indices of the nodes that depend on a seed, directly or not, seeds not included unless on a cycle; ascending.
#[must_use]
pub fn dependents<S: AsRef<str>>(nodes: &[(&str, &[S])], seeds: &[&str]) -> Vec<usize> {
    let (graph, _) = Graph::build(nodes);
    let wanted: HashSet<&str> = seeds.iter().copied().collect();
    let mut queue: Vec<usize> = (0..nodes.len()).filter(|node| wanted.contains(nodes[*node].0)).collect();
    let mut seen = vec![false; nodes.len()];
    while let Some(node) = queue.pop() {
        for next in graph.dependents(node) {
            if !std::mem::replace(&mut seen[next], true) {
                queue.push(next);
            }
        }
    }
    (0..nodes.len()).filter(|node| seen[*node]).collect()
}

/// Indices of the nodes that are not `done` and whose dependencies all are; unknown ones never are.
#[must_use]
pub fn ready<S: AsRef<str>>(nodes: &[(&str, &[S])], done: &HashSet<&str>) -> Vec<usize> {
    let is_ready = |(id, deps): &(&str, &[S])| !done.contains(id) && deps.iter().all(|dep| done.contains(dep.as_ref()));
    nodes.iter().enumerate().filter(|(_, node)| is_ready(node)).map(|(index, _)| index).collect()
}

// Waves fill by index; everyone else speaks in ids.
pub(crate) use build::Graph as IndexedGraph;
