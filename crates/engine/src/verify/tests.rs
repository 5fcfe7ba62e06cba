//! Verdicts and first words; the running of commands is in `tests/verify`.

use camino::Utf8Path;
use planex_core::job::Exit;
use planex_sys::env::Environment;

use super::{Verdict, idents, is_program};
use crate::store::SessionPaths;

#[test]
fn codes_are_verdicts() {
    for (exit, verdict, said, contradicts) in [
        (Exit::Code(0), Verdict::Passed, "passed", false),
        (Exit::Code(1), Verdict::Failed { code: 1 }, "failed with code 1", true),
        (Exit::Signal(9), Verdict::Failed { code: 137 }, "failed with code 137", true),
    ] {
        assert_eq!(Verdict::of(exit), verdict);
        assert_eq!((verdict.to_string().as_str(), verdict.contradicts()), (said, contradicts));
    }
    for exit in [Exit::Code(126), Exit::Code(127), Exit::Lost] {
        let verdict = Verdict::of(exit);
        assert!(matches!(verdict, Verdict::CouldNotRun { .. }) && !verdict.contradicts(), "{verdict}");
    }
    assert!(Verdict::TimedOut.contradicts() && !Verdict::Interrupted.contradicts());
}

#[test]
fn a_verdict_is_readable_on_disk() {
    let json = |verdict: Verdict| serde_json::to_string(&verdict).unwrap();
    assert_eq!(json(Verdict::Passed), r#""passed""#);
    assert_eq!(json(Verdict::Failed { code: 2 }), r#"{"failed":{"code":2}}"#);
    let back: Verdict = serde_json::from_str(r#""timed_out""#).unwrap();
    assert_eq!(back, Verdict::TimedOut);
}

#[test]
fn programs_and_files_of_the_project_start_commands() {
    let temp = tempfile::tempdir().unwrap();
    let project = Utf8Path::from_path(temp.path()).unwrap().join("p");
    std::fs::create_dir_all(project.join("scripts")).unwrap();
    std::fs::write(project.join("scripts/check.sh"), "true\n").unwrap();
    std::fs::write(temp.path().join("outside.sh"), "true\n").unwrap();
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    for (word, expected) in [
        ("sh", true),
        ("scripts/check.sh", true),
        ("./scripts/check.sh", true),
        ("scripts", false),
        ("../outside.sh", false),
        ("no-such-program", false),
        ("", false),
    ] {
        assert_eq!(is_program(word, &environment, &project), expected, "{word}");
    }
}

#[test]
fn what_a_killed_planex_left_is_found_by_the_next() {
    let temp = tempfile::tempdir().unwrap();
    let paths = SessionPaths::new(Utf8Path::from_path(temp.path()).unwrap());
    assert_eq!(idents(&paths).unwrap(), []);
    let ident = r#"{"boot_id":"b","pid_ns":1,"keeper":{"pid":2,"start":3},"agent":{"pid":4,"start":5}}"#;
    let folder = paths.checks("s-T1");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("check-1.ident.json"), ident).unwrap();
    std::fs::write(folder.join("check-2.ident.json"), "torn").unwrap();
    std::fs::write(folder.join("check-3.log"), ident).unwrap();
    let found = idents(&paths).unwrap();
    assert_eq!(found.iter().map(|ident| ident.agent.pid).collect::<Vec<_>>(), [4]);
}
