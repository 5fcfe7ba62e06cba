//! Filling one wave after the other.
//!
//! A task is a candidate once all its dependencies have a wave. Each wave takes the candidates in the order of the
//! list, leaving those that overlap one already taken for the next. The first candidate is always taken, so it ends.

use std::collections::{BTreeSet, HashMap};

use super::near::{Compared, Near};
use super::{Moved, WaveInput, WavePlan, nodes};
use crate::glob::Overlap;
use crate::graph::IndexedGraph;

pub(super) fn serialize(tasks: &[WaveInput<'_>], levels: &[u32]) -> WavePlan {
    let (graph, _) = IndexedGraph::build(&nodes(tasks));
    let mut filling = Filling::new(tasks, &graph);
    let mut wave = 0;
    while filling.placed < tasks.len() {
        wave += 1;
        let taken = filling.take(wave);
        if taken.is_empty() {
            // Only a cycle could leave tasks without candidates, and levels exist, so there is none.
            break;
        }
        filling.release(&taken);
    }
    let moved = filling.moved(levels);
    WavePlan { wave: filling.wave, moved }
}

struct Filling<'a> {
    tasks: &'a [WaveInput<'a>],
    graph: &'a IndexedGraph,
    compared: Compared<'a>,
    /// Dependencies without a wave, per task.
    waiting: Vec<usize>,
    /// Candidates with a scope, and without: of the latter only the first matters to a wave.
    scoped: BTreeSet<usize>,
    unlimited: BTreeSet<usize>,
    wave: Vec<u32>,
    placed: usize,
    /// What kept the task out of the wave that was filled last.
    blocked_by: HashMap<usize, (usize, Overlap)>,
    /// The task that a wave holds alone, if it has no scope.
    alone: HashMap<u32, usize>,
    /// The first task of each wave.
    head: Vec<usize>,
}

impl<'a> Filling<'a> {
    fn new(tasks: &'a [WaveInput<'a>], graph: &'a IndexedGraph) -> Self {
        let mut filling = Self {
            tasks,
            graph,
            compared: Compared::new(tasks),
            waiting: (0..tasks.len()).map(|task| graph.deps(task).len()).collect(),
            scoped: BTreeSet::new(),
            unlimited: BTreeSet::new(),
            wave: vec![0; tasks.len()],
            placed: 0,
            blocked_by: HashMap::new(),
            alone: HashMap::new(),
            head: Vec::new(),
        };
        for task in 0..tasks.len() {
            if filling.waiting[task] == 0 {
                filling.offer(task);
            }
        }
        filling
    }

    fn offer(&mut self, task: usize) {
        if self.tasks[task].scope.is_limited() {
            self.scoped.insert(task)
        } else {
            self.unlimited.insert(task)
        };
    }

    /// Fills one wave; the tasks it got.
    fn take(&mut self, wave: u32) -> Vec<usize> {
        let first_scoped = self.scoped.first().copied();
        let first_unlimited = self.unlimited.first().copied();
        let taken = match (first_scoped, first_unlimited) {
            (None, None) => Vec::new(),
            (Some(scoped), Some(unlimited)) if scoped < unlimited => self.compatible(),
            (Some(_), None) => self.compatible(),
            (_, Some(unlimited)) => {
                self.unlimited.remove(&unlimited);
                self.alone.insert(wave, unlimited);
                vec![unlimited]
            }
        };
        for task in &taken {
            self.wave[*task] = wave;
        }
        self.placed += taken.len();
        self.head.extend(taken.first());
        taken
    }

    /// The candidates with a scope that overlap none before them.
    fn compatible(&mut self) -> Vec<usize> {
        let mut taken: Vec<usize> = Vec::new();
        let mut near = Near::default();
        for task in &self.scoped {
            let scope = self.tasks[*task].scope;
            let mut others = near.of(scope).into_iter();
            let compared = &mut self.compared;
            match others.find_map(|other| compared.overlap(other, *task).map(|witness| (other, witness.clone()))) {
                Some(blocker) => {
                    self.blocked_by.insert(*task, blocker);
                }
                None => {
                    near.add(*task, scope);
                    taken.push(*task);
                }
            }
        }
        for task in &taken {
            self.scoped.remove(task);
        }
        taken
    }

    /// Tasks whose last dependency just got its wave become candidates.
    fn release(&mut self, taken: &[usize]) {
        let graph = self.graph;
        for dependent in taken.iter().flat_map(|task| graph.dependents(*task)) {
            self.waiting[dependent] -= 1;
            if self.waiting[dependent] == 0 {
                self.offer(dependent);
            }
        }
    }

    fn moved(&mut self, levels: &[u32]) -> Vec<Moved> {
        let all = 0..self.tasks.len();
        all.filter(|task| self.wave[*task] > levels[*task]).map(|task| self.reason(task, levels[task])).collect()
    }

    fn reason(&self, task: usize, from: u32) -> Moved {
        let to = self.wave[task];
        let by_dependency = self.graph.deps(task).iter().find(|dep| self.wave[**dep] + 1 == to);
        let (because_of, witness) = match by_dependency {
            Some(dep) => (*dep, None),
            None => self.blocker(task, to - 1),
        };
        Moved {
            id: self.tasks[task].id.to_owned(),
            from,
            to,
            because_of: self.tasks[because_of].id.to_owned(),
            witness,
        }
    }

    /// What kept a candidate out of a wave: who holds it alone, the one it was compared with, or, for a task without
    /// a scope, the first of it.
    fn blocker(&self, task: usize, wave: u32) -> (usize, Option<Overlap>) {
        if let Some(alone) = self.alone.get(&wave) {
            return (*alone, Some(Overlap::Unlimited));
        }
        match self.blocked_by.get(&task) {
            Some((other, witness)) => (*other, Some(witness.clone())),
            None => {
                let head = self.head.get(wave as usize - 1).copied().unwrap_or(task);
                (head, Some(Overlap::Unlimited))
            }
        }
    }
}
