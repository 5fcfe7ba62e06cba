//! Dependencies: licences, origin, banned ones, their number.

use super::Fault;
use super::metadata::{Metadata, Package};
use super::rules::{BANNED, LICENCES, LOCK_CAP};

/// Every dependency that breaks a rule.
pub(super) fn check(metadata: &Metadata) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    let count = metadata.packages.len();
    if count > LOCK_CAP {
        faults.push(format!("dependencies: {count} packages, {LOCK_CAP} at most (xtask/src/check/rules.rs)"));
    }
    for package in metadata.packages.iter().filter(|package| !metadata.workspace_members.contains(&package.id)) {
        faults.extend(faults_of(package));
    }
    faults
}

fn faults_of(package: &Package) -> Vec<Fault> {
    let name = format!("{} {}", package.name, package.version);
    let mut faults = Vec::new();
    match package.license.as_deref().map(|licence| (licence, is_allowed(licence))) {
        Some((_, Some(true))) => {}
        Some((licence, Some(false))) => faults.push(format!("licences: {name} has {licence}, which is not allowed")),
        Some((licence, None)) => faults.push(format!("licences: {name}: cannot read `{licence}`")),
        None => faults.push(format!("licences: {name} names none")),
    }
    if !package.source.as_deref().is_some_and(|source| source.starts_with("registry+") && source.contains("crates.io"))
    {
        faults.push(format!("dependencies: {name} does not come from crates.io"));
    }
    if let Some((_, reason)) = BANNED.iter().find(|(banned, _)| *banned == package.name) {
        faults.push(format!("dependencies: {name} is banned: {reason}"));
    }
    faults
}

/// Whether an SPDX expression can be fulfilled with allowed licences only; `None`: not an expression.
/// `/` is read as OR, as old packages write it.
fn is_allowed(expression: &str) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { tokens: &tokens, at: 0 };
    let value = parser.any()?;
    (parser.at == tokens.len()).then_some(value)
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    at: usize,
}

impl Parser<'_> {
    fn accept(&mut self, word: &str) -> bool {
        let found = self.tokens.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.accept("OR") {
            value |= self.all()?;
        }
        Some(value)
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.accept("AND") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        if self.accept("(") {
            let value = self.any()?;
            return self.accept(")").then_some(value);
        }
        let id = *self.tokens.get(self.at)?;
        if matches!(id, "OR" | "AND" | "WITH" | ")") {
            return None;
        }
        self.at += 1;
        if self.accept("WITH") {
            let exception = self.tokens.get(self.at)?;
            self.at += 1;
            return Some(LICENCES.contains(&format!("{id} WITH {exception}").as_str()) || LICENCES.contains(&id));
        }
        Some(LICENCES.contains(&id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let table = [
            ("MIT", Some(true)),
            ("GPL-3.0-only", Some(false)),
            ("MIT OR GPL-3.0-only", Some(true)),
            ("MIT AND GPL-3.0-only", Some(false)),
            ("MIT/Apache-2.0", Some(true)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(true)),
            ("(GPL-2.0-only OR MIT) AND LGPL-2.1-only", Some(false)),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", Some(true)),
            ("GPL-2.0-only WITH Classpath-exception-2.0", Some(false)),
            ("", None),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT Apache-2.0", None),
        ];
        for (expression, expected) in table {
            assert_eq!(is_allowed(expression), expected, "{expression}");
        }
    }
}
