//! Which tests failed, out of what a test runner printed; and which of them failed before (spec 70, *Truth over claims*:
//! only new failures count against a task where the project was red already).
//!
//! A name is `group › test`, without durations and line numbers, so that the same test has the same name tomorrow. Each
//! reader looks for the closing line that only its runner prints, so that several runners in one output (a `make test`)
//! do no harm, and counts what it found against what that line says. Output of `pnpm -r` and `turbo`, where every line
//! starts with its package, is taken apart first.
//!
//! Nothing is guessed: where names are missing, or a run stopped early, the answer is "not decisive". Code that no longer
//! compiles is a failure with a name of its own.

mod found;
mod go;
mod jvm;
mod lines;
mod node;
mod others;
mod python;
mod ruby;
mod runtimes;
mod rust;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::text::strip_controls;
use found::{BUILD, Found, SEPARATOR};

/// The tests that failed in one run of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failures {
    /// Their names; `None` where the runner does not tell (or is none).
    pub known: Option<BTreeSet<String>>,
    /// Whether these are all: the run was not stopped early, and as many are named as counted.
    pub whole: bool,
    /// Which runners were seen, and how often each came to its end: of `jest && pytest` only the first where it is red.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub runs: BTreeMap<String, usize>,
    /// Where not all: groups that ran to their end, and single tests that are known to have passed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub ran: BTreeSet<String>,
}

/// What failing tests say about a change, compared with the run before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// These did not fail before.
    NewFailures(BTreeSet<String>),
    /// All failed before.
    NoNew,
    /// The names are not known, or not all of them.
    NotDecisive,
}

impl Failures {
    /// Reads the output of a command that failed, standard output and errors together, in their order. `cut`: something
    /// of it is missing.
    #[must_use]
    pub fn read(output: &str, cut: bool) -> Self {
        let plain = strip_controls(output);
        let mut all = Found::default();
        let mut runs = BTreeMap::new();
        for (package, lines) in lines::streams(&plain) {
            for (runner, read) in READERS {
                if let Some(found) = read(&lines) {
                    runs.insert(found::name(package, runner), found.runs);
                    all.add(package, found);
                }
            }
        }
        let whole = !all.stopped && !cut && !runs.is_empty();
        Self {
            known: Some(all.failed).filter(|failed| !failed.is_empty()),
            whole,
            runs,
            ran: if whole { BTreeSet::new() } else { all.ran },
        }
    }

    /// What these failures say, `before` being those of the same command before the change.
    #[must_use]
    pub fn compared_with(&self, before: &Self) -> Compared {
        let (Some(now), Some(then)) = (&self.known, &before.known) else { return Compared::NotDecisive };
        let new: BTreeSet<String> = now.difference(then).cloned().collect();
        let certain: BTreeSet<String> = new.iter().filter(|name| before.would_name(name, self)).cloned().collect();
        if !certain.is_empty() {
            Compared::NewFailures(certain)
        } else if new.is_empty() && self.saw_all_of(before) && (self.whole || !before.whole) {
            Compared::NoNew
        } else {
            Compared::NotDecisive
        }
    }

    /// Whether this run would have named the test of the run `later`, had it failed.
    fn would_name(&self, name: &str, later: &Self) -> bool {
        let is_build = name.strip_prefix(BUILD).is_some_and(|rest| rest.starts_with(SEPARATOR));
        let groups = || name.match_indices(SEPARATOR).filter_map(|(at, _)| name.get(..at));
        ((self.whole || is_build) && self.saw_all_of(later))
            || self.ran.contains(name)
            || groups().any(|group| self.ran.contains(group))
    }

    /// Whether every runner of the run `other` came to its end here as often as there.
    fn saw_all_of(&self, other: &Self) -> bool {
        other.runs.iter().all(|(runner, times)| self.runs.get(runner).is_some_and(|own| own >= times))
    }
}

/// Reads the lines of one package; `None` where its runner is not recognised.
type Reader = fn(&[&str]) -> Option<Found>;

const READERS: [(&str, Reader); 19] = [
    ("cargo", rust::cargo),
    ("nextest", rust::nextest),
    ("pytest", python::pytest),
    ("unittest", python::unittest),
    ("go", go::go),
    ("jest", node::jest),
    ("vitest", node::vitest),
    ("mocha", node::mocha),
    ("node", node::spec),
    ("bun", runtimes::bun),
    ("deno", runtimes::deno),
    ("tap", others::tap),
    ("surefire", jvm::surefire),
    ("gradle", jvm::gradle),
    ("dotnet", others::dotnet),
    ("phpunit", others::phpunit),
    ("exunit", others::exunit),
    ("rspec", ruby::rspec),
    ("minitest", ruby::minitest),
];

#[cfg(test)]
mod tests;
