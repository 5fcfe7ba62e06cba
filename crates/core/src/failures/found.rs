//! What one reader found.

use std::collections::BTreeSet;

/// Between the parts of a name.
pub(super) const SEPARATOR: &str = " › ";

/// The group of what could not be compiled or loaded.
pub(super) const BUILD: &str = "build";

/// What one reader found in the output of its runner.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// How often the runner came to its end.
    pub(super) runs: usize,
    /// Names of failing tests.
    pub(super) failed: BTreeSet<String>,
    /// Groups that ran to their end, and tests that passed.
    pub(super) ran: BTreeSet<String>,
    /// Whether tests may have failed, or would have, that are not in `failed`.
    pub(super) stopped: bool,
    /// How often a failing test was named, repetitions in a summary not counted.
    listed: usize,
}

impl Found {
    /// A runner that came to its end once.
    pub(super) fn new() -> Self {
        Self { runs: 1, ..Self::default() }
    }

    /// A failing test.
    pub(super) fn fail(&mut self, group: &str, test: &str) {
        self.listed += 1;
        self.failed.insert(name(group, test));
    }

    /// Something that does not compile or load: what is in it did not run.
    pub(super) fn broken(&mut self, what: &str) {
        self.failed.insert(name(BUILD, what));
        self.stopped = true;
    }

    /// What the runner counted: with fewer names the list is not whole.
    pub(super) fn counted(&mut self, failures: usize) {
        self.stopped |= self.listed != failures;
    }

    /// Takes over what another reader found, `package` before its names.
    pub(super) fn add(&mut self, package: &str, other: Self) {
        let with = |part: String| if package.is_empty() { part } else { name(package, &part) };
        self.stopped |= other.stopped;
        self.failed.extend(other.failed.into_iter().map(|failed| match failed.strip_prefix(BUILD) {
            Some(rest) if !package.is_empty() => format!("{BUILD}{SEPARATOR}{package}{rest}"),
            Some(_) | None => with(failed),
        }));
        self.ran.extend(other.ran.into_iter().map(with));
    }
}

/// `group › test`, or what of it there is.
pub(super) fn name(group: &str, test: &str) -> String {
    match (group.trim(), test.trim()) {
        ("", only) | (only, "") => only.to_owned(),
        (group, test) => format!("{group}{SEPARATOR}{test}"),
    }
}
