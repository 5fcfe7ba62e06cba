//! Ids to indices, once.

use std::collections::{HashMap, HashSet};

use super::GraphFault;
use crate::suggest;

/// Unknown ids that get a suggestion; comparing each with all ids is not free.
const SUGGESTIONS: usize = 50;

/// Edges by index, both ways. Faulty edges are left out.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Per node, where its dependencies begin in `edges`; one entry more than nodes.
    starts: Vec<usize>,
    edges: Vec<usize>,
    back_starts: Vec<usize>,
    back_edges: Vec<usize>,
}

impl Graph {
    /// The graph and the faults that are visible from single edges.
    pub(crate) fn build<S: AsRef<str>>(nodes: &[(&str, &[S])]) -> (Self, Vec<GraphFault>) {
        let mut faults = Vec::new();
        let mut index: HashMap<&str, usize> = HashMap::with_capacity(nodes.len());
        for (at, (id, _)) in nodes.iter().enumerate() {
            match index.entry(id) {
                std::collections::hash_map::Entry::Occupied(_) => {
                    faults.push(GraphFault::Duplicate { node: (*id).to_owned(), index: at });
                }
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(at);
                }
            }
        }
        let mut starts = Vec::with_capacity(nodes.len() + 1);
        let mut edges = Vec::new();
        let mut unknown = Vec::new();
        for (at, (id, deps)) in nodes.iter().enumerate() {
            starts.push(edges.len());
            let mut told: HashSet<&str> = HashSet::new();
            for dep in *deps {
                match index.get(dep.as_ref()) {
                    Some(&to) if to != at && dep.as_ref() != *id => edges.push(to),
                    Some(_) if told.insert(dep.as_ref()) => {
                        faults.push(GraphFault::SelfDependency { node: (*id).to_owned() });
                    }
                    None if told.insert(dep.as_ref()) => unknown.push((at, dep.as_ref())),
                    Some(_) | None => {}
                }
            }
        }
        starts.push(edges.len());
        faults.extend(unknown.into_iter().enumerate().map(|(count, (at, dep))| GraphFault::UnknownDependency {
            node: nodes[at].0.to_owned(),
            dep: dep.to_owned(),
            nearest: if count < SUGGESTIONS { nearest(nodes, dep) } else { None },
        }));
        let (back_starts, back_edges) = reverse(&starts, &edges);
        (Self { starts, edges, back_starts, back_edges }, faults)
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// What the node waits for.
    pub(crate) fn deps(&self, node: usize) -> &[usize] {
        &self.edges[self.starts[node]..self.starts[node + 1]]
    }

    /// What waits for the node.
    pub(crate) fn dependents(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.back_edges[self.back_starts[node]..self.back_starts[node + 1]].iter().copied()
    }

    /// Longest path from 1; `None` if there is a cycle.
    pub(super) fn levels(&self) -> Option<Vec<u32>> {
        let mut levels = vec![1u32; self.len()];
        let mut waiting: Vec<usize> = (0..self.len()).map(|node| self.deps(node).len()).collect();
        let mut queue: Vec<usize> = (0..self.len()).filter(|node| waiting[*node] == 0).collect();
        let mut done = 0;
        while let Some(node) = queue.pop() {
            done += 1;
            for next in self.dependents(node) {
                levels[next] = levels[next].max(levels[node].saturating_add(1));
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    queue.push(next);
                }
            }
        }
        (done == self.len()).then_some(levels)
    }
}

fn reverse(starts: &[usize], edges: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let nodes = starts.len().saturating_sub(1);
    let mut back_starts = vec![0usize; nodes + 1];
    for to in edges {
        back_starts[to + 1] += 1;
    }
    for node in 0..nodes {
        back_starts[node + 1] += back_starts[node];
    }
    let mut next = back_starts.clone();
    let mut back = vec![0usize; edges.len()];
    for node in 0..nodes {
        for to in &edges[starts[node]..starts[node + 1]] {
            back[next[*to]] = node;
            next[*to] += 1;
        }
    }
    (back_starts, back)
}

fn nearest<S: AsRef<str>>(nodes: &[(&str, &[S])], dep: &str) -> Option<String> {
    suggest::nearest(dep, nodes.iter().map(|(id, _)| *id)).map(str::to_owned)
}
