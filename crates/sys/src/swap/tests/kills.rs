//! A stop at every call: afterwards the tree is as before or as after, never between.

use super::super::{Done, Recovered, Swap, SwapError, forget};
use super::model::{Change, Ground, Lacks, Someone, Tree, after, file, killed_at, set, tree};
use super::steps::everything;

/// Runs the changes with a kill at the call of this number; `false` if there are fewer calls.
fn run_killed(ground: &Ground, changes: &[Change], number: usize, lacks: Lacks) -> bool {
    let steps = ground.stage(changes);
    let (watch, seen) = killed_at(number, lacks);
    let result = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run);
    if *seen.lock().unwrap() <= number {
        assert_eq!(result.unwrap(), Done::default());
        return false;
    }
    let error = result.unwrap_err();
    assert!(matches!(error, SwapError::Unfinished { .. } | SwapError::Path(_)), "{error}");
    true
}

fn recover(ground: &Ground, before: &Tree, changes: &[Change], lacks: Lacks) {
    let watch = Someone::new(move |call| lacks.answer(call));
    let recovered = Swap::recover_watched(&ground.top, &ground.dir, watch).unwrap();
    match &recovered {
        Recovered::Nothing => assert_eq!(&ground.read(), before),
        Recovered::Finished(done) => {
            assert_eq!(done, &Done::default());
            assert_eq!(ground.read(), after(before, changes));
        }
        Recovered::RolledBack { .. } => panic!("nobody changed anything: {recovered:?}"),
    }
    assert_eq!(Swap::recover(&ground.top, &ground.dir).unwrap(), recovered, "it says the same again");
    forget(&ground.dir).unwrap();
    assert!(!ground.dir.exists());
}

#[test]
fn a_kill_at_any_call_is_mended() {
    let (before, changes) = everything();
    for lacks in Lacks::ALL {
        let calls = (0..)
            .take_while(|number| {
                let ground = Ground::new(&before);
                let killed = run_killed(&ground, &changes, *number, lacks);
                recover(&ground, &before, &changes, lacks);
                killed
            })
            .count();
        assert!(calls > 80, "{calls} calls only");
    }
}

/// One file to replace, and one that finds its path taken: all has to be taken back.
fn blocked() -> (Tree, Vec<Change>) {
    let before = tree([("edit", file(0o644, "old")), ("z/z/other", file(0o644, "x"))]);
    (before, vec![set("edit", file(0o644, "new")), set("z/z", file(0o644, "new"))])
}

#[test]
fn an_edit_stays_in_its_place_though_the_way_back_is_killed() {
    let (before, changes) = blocked();
    let mut edited = 0;
    for lacks in [Lacks::Nothing, Lacks::Exchange] {
        for (first, second) in (10..40).flat_map(|first| (0..12).map(move |second| (first, second))) {
            let ground = Ground::new(&before);
            let path = ground.top.join("edit");
            let watch = killed_at(first, lacks).0;
            let steps = ground.stage(&changes);
            let result = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run);
            assert!(result.is_err());
            if std::fs::read(&path).is_ok_and(|text| text == b"new") {
                edited += 1;
                std::fs::write(&path, "mine").unwrap();
                // Killed or not: what follows is to hold.
                drop(Swap::recover_watched(&ground.top, &ground.dir, killed_at(second, lacks).0));
                let recovered = Swap::recover(&ground.top, &ground.dir).unwrap();
                let Recovered::RolledBack { paths, kept } = recovered else { panic!("{recovered:?}") };
                assert!(paths.contains(&b"edit".to_vec()), "{paths:?}");
                assert_eq!(std::fs::read(&path).unwrap(), b"mine");
                assert_eq!(std::fs::read(&kept[0].at).unwrap(), b"old");
            }
        }
    }
    assert!(edited > 20, "{edited} edits only");
}
