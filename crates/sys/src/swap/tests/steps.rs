//! Every kind of change, undisturbed.

use super::super::{Done, Recovered, Swap, SwapError, forget};
use super::model::{Change, Ground, Node, Tree, after, file, gone, set, tree};

fn link(target: &str) -> Node {
    Node::Link(target.as_bytes().to_vec())
}

/// One tree and changes of every kind in it.
pub(super) fn everything() -> (Tree, Vec<Change>) {
    let before = tree([
        (&b"keep"[..], file(0o644, "keep")),
        (b"edit", file(0o600, "old")),
        (b"run.sh", file(0o750, "old")),
        (b"make-run", file(0o640, "same")),
        (b"make-plain", file(0o755, "same")),
        (b"drop", file(0o644, "x")),
        (b"deep/a/b/c", file(0o644, "x")),
        (b"deep/a/d", link("b/c")),
        (b"half/gone", file(0o644, "x")),
        (b"half/stays", file(0o644, "x")),
        (b"to-folder", file(0o644, "x")),
        (b"to-file/x/y", file(0o644, "x")),
        (b"to-link", file(0o644, "x")),
        (b"link", link("keep")),
        (b"link-to-file", link("keep")),
        (b"link-to-folder", link("half")),
        (b"line\nfeed", file(0o644, "x")),
        (b"\xff\xfe", file(0o644, "x")),
    ]);
    let changes = vec![
        set("edit", file(0o644, "new")),
        set("run.sh", file(0o755, "new")),
        set("make-run", file(0o755, "same")),
        set("make-plain", file(0o644, "same")),
        gone("drop"),
        gone("deep/a/b/c"),
        gone("deep/a/d"),
        gone("half/gone"),
        gone("to-folder"),
        set("to-folder/x/y", file(0o644, "new")),
        gone("to-file/x/y"),
        set("to-file", file(0o644, "new")),
        set("to-link", link("keep")),
        set("link", link("edit")),
        set("link-to-file", file(0o644, "new")),
        gone("link-to-folder"),
        set("link-to-folder/x", file(0o644, "new")),
        set("line\nfeed", file(0o644, "new")),
        set(b"\xff\xfe", file(0o644, "new")),
        set("fresh/\u{e9}/f", file(0o755, "new")),
        set("fresh/l", link("nowhere")),
    ];
    (before, changes)
}

#[test]
fn every_kind_of_change_is_carried_out() {
    let (before, changes) = everything();
    let ground = Ground::new(&before);
    let steps = ground.stage(&changes);
    let swap = Swap::prepare(&ground.top, &ground.dir, steps).unwrap();
    assert_eq!(ground.read(), before, "nothing is written before `run`");
    assert_eq!(swap.run().unwrap(), Done::default());
    assert_eq!(ground.read(), after(&before, &changes));
    for _ in 0..2 {
        assert_eq!(Swap::recover(&ground.top, &ground.dir).unwrap(), Recovered::Finished(Done::default()));
    }
    let error = Swap::prepare(&ground.top, &ground.dir, Vec::new()).unwrap_err();
    assert!(matches!(error, SwapError::Busy { .. }), "{error}");
    forget(&ground.dir).unwrap();
    assert!(!ground.dir.exists());
    forget(&ground.dir).unwrap();
    assert_eq!(Swap::recover(&ground.top, &ground.dir).unwrap(), Recovered::Nothing);
}
