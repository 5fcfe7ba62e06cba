use std::collections::HashSet;

use proptest::prelude::*;

use super::{GraphFault, check, dependents, levels, ready};

type Nodes<'a> = Vec<(&'a str, Vec<&'a str>)>;

fn borrow<'a>(nodes: &'a Nodes<'a>) -> Vec<(&'a str, &'a [&'a str])> {
    nodes.iter().map(|(id, deps)| (*id, deps.as_slice())).collect()
}

fn faults(nodes: &Nodes<'_>) -> Vec<String> {
    check(&borrow(nodes)).iter().map(ToString::to_string).collect()
}

#[test]
fn every_fault_is_named() {
    let nodes = vec![
        ("T1", vec!["T1", "T1", "setpu"]),
        ("T2", vec!["T3"]),
        ("T3", vec!["T2"]),
        ("T3", vec![]),
        ("T4", vec!["T5", "T2"]),
        ("T5", vec!["T6"]),
        ("T6", vec!["T4", "T5"]),
        ("setup", vec!["nowhere-near"]),
    ];
    let found = faults(&nodes);
    assert_eq!(found.len(), 6, "{found:?}");
    assert_eq!(found[0], "`T3` is there twice");
    assert_eq!(found[1], "`T1` depends on itself");
    assert_eq!(found[2], "`T1` depends on unknown `setpu` (did you mean `setup`?)");
    assert_eq!(found[3], "`setup` depends on unknown `nowhere-near`");
    assert_eq!(found[4], "cycle: T2 -> T3 -> T2");
    assert_eq!(found[5], "cycle: T4 -> T5 -> T6 -> T4");
}

/// Seed fault: a cycle that can be reached from a root goes unnoticed.
#[test]
fn a_cycle_behind_a_root_is_found() {
    let nodes = vec![("T1", vec![]), ("T2", vec!["T1", "T3"]), ("T3", vec!["T2"])];
    assert_eq!(faults(&nodes), ["cycle: T2 -> T3 -> T2"]);
    assert!(levels(&borrow(&nodes)).is_err());
}

#[test]
fn a_long_cycle_is_shortened_when_shown() {
    let ids: Vec<String> = (0..100).map(|n| format!("T{n}")).collect();
    let nodes: Nodes<'_> = (0..100).map(|n| (ids[n].as_str(), vec![ids[(n + 1) % 100].as_str()])).collect();
    let found = faults(&nodes);
    assert!(found[0].ends_with("T19 -> … (80 more) -> T0"), "{found:?}");
}

#[test]
fn levels_are_the_longest_path() {
    let nodes = vec![("a", vec!["c", "b"]), ("b", vec!["c"]), ("c", vec![]), ("d", vec!["c", "c"])];
    assert_eq!(levels(&borrow(&nodes)), Ok(vec![3, 2, 1, 2]));
    assert_eq!(levels::<&str>(&[]), Ok(vec![]));
}

#[test]
fn what_hangs_on_what() {
    let nodes = vec![("a", vec![]), ("b", vec!["a"]), ("c", vec!["b"]), ("d", vec![])];
    assert_eq!(dependents(&borrow(&nodes), &["a"]), [1, 2]);
    assert_eq!(dependents(&borrow(&nodes), &["d", "unknown"]), [0usize; 0]);
    assert_eq!(ready(&borrow(&nodes), &HashSet::from(["a"])), [1, 3]);
}

#[test]
fn depth_does_not_matter() {
    let ids: Vec<String> = (0..200_000).map(|n| format!("T{n}")).collect();
    let mut nodes: Nodes<'_> =
        (0..ids.len()).map(|n| (ids[n].as_str(), if n == 0 { vec![] } else { vec![ids[n - 1].as_str()] })).collect();
    assert_eq!(levels(&borrow(&nodes)).map(|l| l.last().copied()), Ok(Some(200_000)));
    nodes[0].1.push(ids[199_999].as_str());
    let found = check(&borrow(&nodes));
    assert!(matches!(found.as_slice(), [GraphFault::Cycle(path)] if path.0.len() == 200_000));
}

proptest! {
    /// Against the definitions: every reported cycle is one; without any fault the levels are the longest paths.
    #[test]
    fn agrees_with_the_definitions(edges in prop::collection::vec((0usize..12, 0usize..12), 0..30)) {
        let ids: Vec<String> = (0..12).map(|n| format!("T{n}")).collect();
        let mut nodes: Nodes<'_> = ids.iter().map(|id| (id.as_str(), vec![])).collect();
        for (from, to) in &edges {
            if from != to {
                nodes[*from].1.push(ids[*to].as_str());
            }
        }
        let found = check(&borrow(&nodes));
        let deps = |id: &str| nodes.iter().find(|n| n.0 == id).map(|n| n.1.clone()).unwrap_or_default();
        for fault in &found {
            let GraphFault::Cycle(path) = fault else { return Err(TestCaseError::fail(fault.to_string())) };
            for (at, id) in path.0.iter().enumerate() {
                let next = &path.0[(at + 1) % path.0.len()];
                prop_assert!(deps(id).contains(&next.as_str()));
            }
        }
        match levels(&borrow(&nodes)) {
            Ok(levels) => {
                prop_assert!(found.is_empty());
                for (at, (_, deps)) in nodes.iter().enumerate() {
                    let level = |id: &str| levels[ids.iter().position(|known| known == id).unwrap_or(0)];
                    let highest = deps.iter().map(|dep| level(dep)).max().unwrap_or(0);
                    prop_assert_eq!(levels[at], highest + 1);
                }
            }
            Err(faults) => {
                prop_assert!(!faults.is_empty());
                prop_assert_eq!(faults, found);
            }
        }
    }
}
