//! A stop at every call: afterwards the tree is as before or as after, never between.

use super::super::{Done, Recovered, Swap, SwapError, forget};
use super::model::{Change, Ground, Lacks, Someone, Tree, after, killed_at};
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
