//! The tasks of one wave by what their scopes begin with, so that a task is compared with those near it alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::WaveInput;
use crate::glob::{Overlap, Scope, overlap};

/// The limited scopes of one wave.
#[derive(Debug, Default)]
pub(super) struct Near<'a> {
    by_prefix: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Near<'a> {
    pub(super) fn add(&mut self, task: usize, scope: &'a Scope) {
        for prefix in scope.prefixes() {
            self.by_prefix.entry(prefix).or_default().push(task);
        }
    }

    /// Tasks that could overlap the scope, ascending: what one begins with continues what the other begins with.
    pub(super) fn of(&self, scope: &Scope) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for prefix in scope.prefixes() {
            for (_, tasks) in self.by_prefix.range(prefix..).take_while(|(other, _)| other.starts_with(prefix)) {
                found.extend(tasks);
            }
            for (end, _) in prefix.char_indices() {
                found.extend(self.by_prefix.get(&prefix[..end]).into_iter().flatten());
            }
        }
        found
    }
}

/// Scopes by number: plans repeat them, and comparing costs more than looking up.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    number: Vec<usize>,
    scopes: Vec<&'a Scope>,
    known: HashMap<(usize, usize), Option<Overlap>>,
}

impl<'a> Compared<'a> {
    pub(super) fn new(tasks: &[WaveInput<'a>]) -> Self {
        let mut scopes = Vec::new();
        let mut numbers: HashMap<&Scope, usize> = HashMap::new();
        let number = |task: &WaveInput<'a>| {
            *numbers.entry(task.scope).or_insert_with(|| {
                scopes.push(task.scope);
                scopes.len() - 1
            })
        };
        let number = tasks.iter().map(number).collect();
        Self { number, scopes, known: HashMap::new() }
    }

    pub(super) fn overlap(&mut self, a: usize, b: usize) -> Option<&Overlap> {
        let (a, b) = (self.number[a], self.number[b]);
        let scopes = &self.scopes;
        self.known.entry((a.min(b), a.max(b))).or_insert_with(|| overlap(scopes[a], scopes[b])).as_ref()
    }
}
