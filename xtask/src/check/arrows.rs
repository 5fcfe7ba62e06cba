//! Arrows between rooms, against the table of allowed ones.

use super::Fault;
use super::metadata::{Metadata, Package};
use super::rules::{ARROWS, FOR_TESTS};

/// Every arrow that is not allowed, and every room that the table does not know.
pub(super) fn check(metadata: &Metadata) -> Vec<Fault> {
    let rooms: Vec<&str> = metadata.members().map(|package| package.name.as_str()).collect();
    let mut faults: Vec<Fault> = metadata.members().flat_map(|package| arrows_of(package, &rooms)).collect();
    let gone = ARROWS.iter().filter(|(name, _)| !rooms.contains(name));
    faults.extend(gone.map(|(name, _)| format!("arrows: {name} is in the table, but not in the workspace")));
    faults
}

fn arrows_of(package: &Package, rooms: &[&str]) -> Vec<Fault> {
    let name = &package.name;
    let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| room == name) else {
        return vec![format!("arrows: {name} is not in the table of rooms (xtask/src/check/rules.rs)")];
    };
    let inner = package.dependencies.iter().filter(|dependency| rooms.contains(&dependency.name.as_str()));
    let wrong = inner.filter(|dependency| {
        let is_test = dependency.kind.as_deref() == Some("dev") && dependency.name == FOR_TESTS;
        !is_test && !allowed.contains(&dependency.name.as_str())
    });
    wrong.map(|dependency| format!("arrows: {name} must not depend on {}", dependency.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::metadata::Dependency;
    use super::*;

    fn room(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: kind.map(str::to_owned) })
            .collect();
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            license: None,
            source: None,
            dependencies,
        }
    }

    #[test]
    fn allowed_arrows_and_tests_pass() {
        let rooms = ["planex-core", "planex-sys", "planex-testkit"];
        let package = room("planex-sys", &[("planex-core", None), ("planex-testkit", Some("dev")), ("serde", None)]);
        assert_eq!(arrows_of(&package, &rooms), Vec::<String>::new());
    }

    #[test]
    fn arrows_upwards_and_testkit_outside_tests_are_faults() {
        let rooms = ["planex-core", "planex-sys", "planex-testkit"];
        let package = room("planex-core", &[("planex-sys", None), ("planex-testkit", None)]);
        assert_eq!(
            arrows_of(&package, &rooms),
            [
                "arrows: planex-core must not depend on planex-sys",
                "arrows: planex-core must not depend on planex-testkit"
            ]
        );
    }

    #[test]
    fn a_room_that_nobody_listed_is_a_fault() {
        assert_eq!(arrows_of(&room("planex-new", &[]), &[]).len(), 1);
    }

    #[test]
    fn the_table_has_no_circle() {
        // Each room may use only rooms that stand above it in the table.
        for (index, (name, allowed)) in ARROWS.iter().enumerate() {
            for used in *allowed {
                let place = ARROWS.iter().position(|(room, _)| room == used).unwrap();
                assert!(place < index, "{name} -> {used}");
            }
        }
    }
}
