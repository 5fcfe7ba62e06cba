//! Submodules and dependency folders come along, and are no change of a task's (spec 70, *Isolation*).

use serde_json::json;

use crate::{Place, checked, does, task, writes};

#[test]
fn submodules_and_dependencies_come_along_and_what_is_changed_in_one_is_refused() {
    let tasks = [
        checked("T1", "one.txt", &[], "$ test -f vendor/lib/l && test -f node_modules/m"),
        task("T2", "vendor/lib/**", &[]),
    ];
    let rules = vec![
        does("T1", &json!([writes("one.txt", "1"), writes("node_modules/new", "n")])),
        does("T2", &json!([writes("vendor/lib/l", "changed")])),
    ];
    let place = Place::new(&[(".gitignore", "node_modules/\n"), ("node_modules/m", "m")], &tasks, rules);
    let env = &place.env;
    let _ = env.sh("set -e; git init -q ../lib; cd ../lib; echo l > l; git add l; git commit -qm lib; cd -; \
         git -c protocol.file.allow=always submodule add -q ../lib vendor/lib; git commit -qm module");
    assert!(env.exists("vendor/lib/l"));
    let _ = place.exits(&["waves", "-y", "Modules"], 5);
    place.are("completed", &["T1"]);
    assert_eq!(place.cell("T1", "files_modified"), "one.txt");
    place.error_says("T2", &["vendor/lib/l", "submodule"]);
    assert_eq!(env.read("vendor/lib/l"), "l\n");
    assert!(!env.exists("node_modules/new"), "a copy, not the user's folder");
    assert_eq!(env.git(&["status", "--porcelain"]), "?? one.txt");
    place.is_tidy();
}
