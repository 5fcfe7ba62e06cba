use proptest::prelude::*;

use super::{OverlapPolicy, WaveFault, WaveInput, compute_levels, plan_waves};
use crate::glob::{Scope, overlap};

type Row<'a> = (&'a str, &'a str, &'a str);

/// Rows of id, dependencies, scope, both separated by `;`.
fn with<T>(rows: &[Row<'_>], test: impl FnOnce(&[WaveInput<'_>]) -> T) -> T {
    let scopes: Vec<Scope> = rows.iter().map(|row| Scope::parse(row.2, |_| false).0).collect();
    let deps = |row: &Row<'_>| row.1.split(';').filter(|dep| !dep.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let deps: Vec<Vec<String>> = rows.iter().map(deps).collect();
    let tasks: Vec<WaveInput<'_>> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| WaveInput {
            id: row.0,
            deps: deps[at].iter().map(String::as_str).collect(),
            scope: &scopes[at],
        })
        .collect();
    test(&tasks)
}

fn plan(rows: &[Row<'_>]) -> (Vec<u32>, Vec<String>) {
    let plan = with(rows, |tasks| plan_waves(tasks, OverlapPolicy::Serialize)).expect("no faults");
    assert_eq!(plan.count(), plan.wave.iter().copied().max().unwrap_or(0));
    (plan.wave.clone(), plan.moved.iter().map(ToString::to_string).collect())
}

#[test]
fn waves_are_the_longest_path() {
    let diamond = [("T1", "", "a"), ("T2", "T1", "b"), ("T3", "T1", "c"), ("T4", "T2;T3;T1", "d")];
    assert_eq!(plan(&diamond), (vec![1, 2, 2, 3], vec![]));
    assert_eq!(plan(&[]), (vec![], vec![]));
}

#[test]
fn the_later_of_two_that_overlap_moves_and_its_dependents_with_it() {
    let rows = [("T1", "", "src/a/**"), ("T2", "", "src/a/x.rs"), ("T3", "T2", "src/c"), ("T4", "", "src/d")];
    let (wave, moved) = plan(&rows);
    assert_eq!(wave, [1, 2, 3, 1]);
    assert_eq!(
        moved,
        [
            "T2 moves from wave 1 to 2: overlaps T1 (src/a/x.rs)",
            "T3 moves from wave 2 to 3: depends on T2, which moved"
        ]
    );
}

#[test]
fn a_moved_task_meets_the_tasks_of_its_new_wave_in_the_order_of_the_list() {
    // T2 moves into wave 2, where T3 stands later and gives way.
    let rows = [("T1", "", "a"), ("T2", "", "a;b"), ("T3", "T1", "b")];
    let (wave, moved) = plan(&rows);
    assert_eq!(wave, [1, 2, 3]);
    assert_eq!(moved[1], "T3 moves from wave 2 to 3: overlaps T2 (b)");
}

#[test]
fn tasks_without_a_scope_run_alone() {
    let rows = [("T1", "", "a"), ("T2", "", ""), ("T3", "", "b"), ("T4", "", ""), ("T5", "T1", "c")];
    let (wave, moved) = plan(&rows);
    assert_eq!(wave, [1, 2, 1, 3, 4]);
    assert_eq!(moved[0], "T2 moves from wave 1 to 2: overlaps T1 (no scope, so any path)");
    assert_eq!(moved[1], "T4 moves from wave 1 to 3: overlaps T2 (no scope, so any path)");
    assert_eq!(moved[2], "T5 moves from wave 2 to 4: overlaps T4 (no scope, so any path)");
}

#[test]
fn overlaps_can_be_refused() {
    let rows = [("T1", "", "a"), ("T2", "", "a/b"), ("T3", "T1", "a"), ("T4", "", "c")];
    let faults = with(&rows, |tasks| plan_waves(tasks, OverlapPolicy::Error)).expect_err("T1 and T2 overlap");
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults, ["`T1` and `T2` overlap in wave 1: a/b"]);
    let rows = [("T1", "", "a"), ("T2", "T1", "a")];
    assert!(with(&rows, |tasks| plan_waves(tasks, OverlapPolicy::Error)).is_ok());
}

#[test]
fn faults_of_the_graph_are_all_reported() {
    let rows = [("T1", "T2", "a"), ("T2", "T1", "b"), ("T3", "unknown-task", "c")];
    let faults = with(&rows, |tasks| plan_waves(tasks, OverlapPolicy::Serialize)).expect_err("cycle and unknown");
    assert!(matches!(faults.as_slice(), [WaveFault::Graph(_), WaveFault::Graph(_)]), "{faults:?}");
}

fn large(nodes: usize, edges: usize, scope: &Scope, test: impl FnOnce(&[WaveInput<'_>])) {
    let ids: Vec<String> = (0..nodes).map(|n| format!("T{n}")).collect();
    let mut tasks: Vec<WaveInput<'_>> = ids.iter().map(|id| WaveInput { id, deps: Vec::new(), scope }).collect();
    let mut seed = 7u64;
    for _ in 0..edges {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let to = 1 + usize::try_from(seed >> 33).unwrap_or(0) % (nodes - 1);
        let from = usize::try_from(seed >> 20).unwrap_or(0) % to;
        tasks[to].deps.push(&ids[from]);
    }
    test(&tasks);
}

/// Spec 90 wants 100,000 tasks with 500,000 edges in under 0.5 s: anything but linear would not come to an end here.
#[test]
fn size_does_not_matter() {
    large(100_000, 500_000, &Scope::Everything, |tasks| {
        let levels = compute_levels(tasks).expect("no cycle");
        assert!(levels.iter().all(|level| *level >= 1));
        let plan = plan_waves(tasks, OverlapPolicy::Serialize).expect("no cycle");
        assert_eq!(plan.count(), 100_000, "without scopes each runs alone");
    });
}

/// 10,000 tasks with a scope each: those in separate folders are not compared with each other.
#[test]
fn many_scopes_cost_little() {
    let ids: Vec<String> = (0..10_000).map(|n| format!("T{n}")).collect();
    let cell = |n: usize| format!("src/m{}/**;!src/m{}/gen;tests/t{n}.rs", n / 2, n / 2);
    let scopes: Vec<Scope> = (0..ids.len()).map(|n| Scope::parse(&cell(n), |_| false).0).collect();
    let tasks: Vec<WaveInput<'_>> =
        ids.iter().zip(&scopes).map(|(id, scope)| WaveInput { id, deps: Vec::new(), scope }).collect();
    let plan = plan_waves(&tasks, OverlapPolicy::Serialize).expect("no cycle");
    assert_eq!((plan.count(), plan.moved.len()), (2, 5_000));
    assert_eq!(plan_waves(&tasks, OverlapPolicy::Error).map_err(|faults| faults.len()), Err(100));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_invariants_hold(
        scopes in prop::collection::vec(prop::sample::select(vec!["", "a", "b", "a/x;b", "*/x", "c/**", "!a"]), 1..14),
        edges in prop::collection::vec((0usize..14, 0usize..14), 0..16),
    ) {
        let ids: Vec<String> = (0..scopes.len()).map(|n| format!("T{n}")).collect();
        let parsed: Vec<Scope> = scopes.iter().map(|cell| Scope::parse(cell, |_| false).0).collect();
        let mut tasks: Vec<WaveInput<'_>> =
            ids.iter().zip(&parsed).map(|(id, scope)| WaveInput { id, deps: Vec::new(), scope }).collect();
        for (a, b) in edges.iter().filter(|(a, b)| a < b && *b < scopes.len()) {
            tasks[*b].deps.push(&ids[*a]);
        }
        let plan = plan_waves(&tasks, OverlapPolicy::Serialize).expect("no cycle");
        let levels = compute_levels(&tasks).expect("no cycle");
        for (at, task) in tasks.iter().enumerate() {
            prop_assert!(plan.wave[at] >= levels[at]);
            for dep in &task.deps {
                let dep = ids.iter().position(|id| id == dep).expect("known");
                prop_assert!(plan.wave[dep] < plan.wave[at]);
            }
            for (other, wave) in tasks.iter().zip(&plan.wave).take(at) {
                prop_assert!(*wave != plan.wave[at] || overlap(task.scope, other.scope).is_none());
            }
        }
        for moved in &plan.moved {
            let because = ids.iter().position(|id| *id == moved.because_of).expect("known");
            prop_assert_eq!(plan.wave[because] + 1, moved.to, "{}", moved);
        }
        prop_assert_eq!(plan.moved.len(), (0..tasks.len()).filter(|at| plan.wave[*at] > levels[*at]).count());
        let used: std::collections::BTreeSet<u32> = plan.wave.iter().copied().collect();
        prop_assert_eq!(used.len(), plan.count() as usize, "no wave is empty");
        prop_assert_eq!(plan_waves(&tasks, OverlapPolicy::Serialize).expect("no cycle"), plan);
        let pairs = |a: usize, b: usize| levels[a] == levels[b] && overlap(tasks[a].scope, tasks[b].scope).is_some();
        let count = (0..tasks.len()).flat_map(|b| (0..b).map(move |a| (a, b))).filter(|(a, b)| pairs(*a, *b)).count();
        let refused = plan_waves(&tasks, OverlapPolicy::Error).map_or_else(|faults| faults.len(), |_| 0);
        prop_assert_eq!(refused, count.min(100));
    }
}
