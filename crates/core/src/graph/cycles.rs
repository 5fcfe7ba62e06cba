//! Cycles: the knots by Tarjan's algorithm, in each knot the shortest way round by breadth-first search.

use std::collections::VecDeque;

use super::build::Graph;

/// For each strongly connected component of more than one node the shortest cycle through its first node, as indices
/// each of which depends on the next. Ordered by that first node.
pub(super) fn find(graph: &Graph) -> Vec<Vec<usize>> {
    let component = components(graph);
    let count = component.iter().max().map_or(0, |most| most + 1);
    let mut size = vec![0usize; count];
    let mut first = vec![usize::MAX; count];
    for (node, part) in component.iter().enumerate() {
        size[*part] += 1;
        first[*part] = first[*part].min(node);
    }
    let mut from = vec![usize::MAX; graph.len()];
    let mut starts: Vec<usize> = (0..count).filter(|part| size[*part] > 1).map(|part| first[part]).collect();
    starts.sort_unstable();
    starts.into_iter().map(|start| round(graph, &component, start, &mut from)).collect()
}

/// The shortest cycle through `start`. `from` is scratch space, clean for every node of this component.
fn round(graph: &Graph, component: &[usize], start: usize, from: &mut [usize]) -> Vec<usize> {
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &next in graph.deps(node) {
            if next == start {
                let mut path = vec![node];
                let mut here = node;
                while here != start {
                    here = from[here];
                    path.push(here);
                }
                path.reverse();
                return path;
            }
            if component[next] == component[start] && from[next] == usize::MAX {
                from[next] = node;
                queue.push_back(next);
            }
        }
    }
    vec![start]
}

const UNSEEN: usize = usize::MAX;

/// Tarjan's algorithm with its own stack: the component of each node.
fn components(graph: &Graph) -> Vec<usize> {
    let mut tarjan = Tarjan {
        order: vec![UNSEEN; graph.len()],
        low: vec![0; graph.len()],
        component: vec![UNSEEN; graph.len()],
        stack: Vec::new(),
        next: 0,
        found: 0,
    };
    for node in 0..graph.len() {
        if tarjan.order[node] == UNSEEN {
            tarjan.walk(graph, node);
        }
    }
    tarjan.component
}

struct Tarjan {
    order: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    stack: Vec<usize>,
    next: usize,
    found: usize,
}

impl Tarjan {
    fn enter(&mut self, node: usize) {
        self.order[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
    }

    fn walk(&mut self, graph: &Graph, root: usize) {
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        self.enter(root);
        while let Some(top) = path.last_mut() {
            let (node, edge) = *top;
            if let Some(&next) = graph.deps(node).get(edge) {
                top.1 += 1;
                if self.order[next] == UNSEEN {
                    self.enter(next);
                    path.push((next, 0));
                } else if self.component[next] == UNSEEN {
                    self.low[node] = self.low[node].min(self.order[next]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if self.low[node] == self.order[node] {
                self.close(node);
            }
        }
    }

    fn close(&mut self, root: usize) {
        while let Some(node) = self.stack.pop() {
            self.component[node] = self.found;
            if node == root {
                break;
            }
        }
        self.found += 1;
    }
}
