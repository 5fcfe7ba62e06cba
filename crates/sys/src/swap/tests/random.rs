//! Random trees and changes, stopped again and again, with an edit of the user's in between.

use proptest::prelude::*;

use super::super::{Kept, Recovered, Swap, SwapError, forget};
use super::model::{Change, Ground, Lacks, Node, Tree, add_if_possible, after, changes, killed_at};
use super::races::{Claim, Edit, is_below};

fn name() -> impl Strategy<Value = &'static [u8]> {
    prop::sample::select(vec![&b"a"[..], b"b", b"c \n", b"\xff"])
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join(&b'/'))
}

fn node() -> impl Strategy<Value = Node> {
    let mode = || prop::sample::select(vec![0o644, 0o600, 0o755, 0o640]);
    let text = || prop::sample::select(vec![&b""[..], b"1", b"22"]).prop_map(<[u8]>::to_vec);
    prop_oneof![
        8 => (mode(), text()).prop_map(|(mode, text)| Node::File(mode, text)),
        2 => prop::sample::select(vec![&b"a"[..], b"b/a", b"nowhere"]).prop_map(|target| Node::Link(target.to_vec())),
        1 => prop::sample::select(vec![0o755, 0o700, 0o750]).prop_map(Node::Folder),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    prop::collection::vec((path(), node()), 0..14).prop_map(|nodes| {
        let mut tree = Tree::new();
        for (path, node) in nodes {
            add_if_possible(&mut tree, &path, node);
        }
        tree
    })
}

/// How a write ended.
#[derive(Debug)]
struct End {
    done: bool,
    paths: Vec<Vec<u8>>,
    kept: Vec<Kept>,
}

fn end_of(result: Result<Recovered, SwapError>) -> Option<End> {
    match result {
        Ok(Recovered::Nothing) => Some(End { done: false, paths: Vec::new(), kept: Vec::new() }),
        Ok(Recovered::Finished(done)) => Some(End { done: true, paths: Vec::new(), kept: done.kept }),
        Ok(Recovered::RolledBack { paths, kept }) => Some(End { done: false, paths, kept }),
        Err(SwapError::Conflict { paths, kept }) => Some(End { done: false, paths, kept }),
        Err(SwapError::Unfinished { .. } | SwapError::Path(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn run(ground: &Ground, changes: &[Change], kill: usize, lacks: Lacks) -> Option<End> {
    let steps = ground.stage(changes);
    let (watch, _) = killed_at(kill, lacks);
    let result = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run);
    end_of(result.map(Recovered::Finished))
}

fn recover(ground: &Ground, kill: usize, lacks: Lacks) -> Option<End> {
    end_of(Swap::recover_watched(&ground.top, &ground.dir, killed_at(kill, lacks).0))
}

/// Whether a new file has no place: a folder is there that holds something else.
fn is_blocked(before: &Tree, changes: &[Change]) -> bool {
    let deletions: Vec<Change> = changes.iter().filter(|(_, node)| node.is_none()).cloned().collect();
    let tree = after(before, &deletions);
    changes.iter().filter(|(_, node)| node.is_some()).any(|(path, _)| tree.keys().any(|other| is_below(other, path)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn all_or_nothing(before in tree(), wanted in tree(), lacks in prop::sample::select(Lacks::ALL.to_vec())) {
        let changes = changes(&before, &wanted);
        let ground = Ground::new(&before);
        let end = run(&ground, &changes, usize::MAX, lacks).unwrap();
        prop_assert_eq!(end.done, !is_blocked(&before, &changes));
        prop_assert_eq!(end.done, end.paths.is_empty());
        prop_assert_eq!(&end.kept, &[]);
        prop_assert_eq!(ground.read(), if end.done { after(&before, &changes) } else { before });
        forget(&ground.dir).unwrap();
        prop_assert!(!ground.dir.exists());
    }

    #[test]
    fn killed_again_and_again(
        before in tree(),
        wanted in tree(),
        lacks in prop::sample::select(Lacks::ALL.to_vec()),
        kills in prop::collection::vec(0..40_usize, 1..5),
    ) {
        let changes = changes(&before, &wanted);
        let ground = Ground::new(&before);
        let mut end = run(&ground, &changes, kills[0], lacks);
        for kill in kills[1..].iter().copied().chain([usize::MAX]) {
            end = end.or_else(|| recover(&ground, kill, lacks));
        }
        let end = end.unwrap();
        prop_assert!(!end.done || !is_blocked(&before, &changes));
        prop_assert_eq!(&end.kept, &[]);
        prop_assert_eq!(ground.read(), if end.done { after(&before, &changes) } else { before });
    }

    #[test]
    fn killed_and_edited(
        before in tree(),
        wanted in tree(),
        lacks in prop::sample::select(Lacks::ALL.to_vec()),
        kills in prop::collection::vec(0..40_usize, 2..6),
        turn in any::<prop::sample::Index>(),
        pick in any::<prop::sample::Index>(),
        edit in prop::sample::select(Edit::ALL.to_vec()),
    ) {
        let changes = changes(&before, &wanted);
        prop_assume!(!changes.is_empty());
        let path = &changes[pick.index(changes.len())].0;
        let ground = Ground::new(&before);
        let mut end = run(&ground, &changes, kills[0], lacks);
        let turn = 1 + turn.index(kills.len() - 1);
        let mut made = false;
        for (number, kill) in kills.iter().enumerate().skip(1) {
            if number == turn {
                made = edit.make(ground.top.as_std_path(), path);
            }
            end = end.or_else(|| recover(&ground, *kill, lacks));
        }
        // Said anew: what the user did after the end is not in what was said at the end.
        let end = recover(&ground, usize::MAX, lacks).unwrap_or_else(|| end.unwrap());
        if made {
            Claim { before: &before, changes: &changes, path, edit, lacks }.check(&ground, &end.kept, end.done);
        }
    }
}
