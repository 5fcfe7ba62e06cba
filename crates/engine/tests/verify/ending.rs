//! How commands end, and that nothing of them is left.

use std::time::Duration;

use planex_engine::verify::Verdict;
use planex_sys::process::Ident;

use crate::bench::{Bench, alive, until, within};

/// Ignores SIGTERM, in a session of its own, and says who it is.
const STUBBORN: &str = "setsid sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 0.1; done' & wait";

#[tokio::test]
async fn the_time_limit_ends_all_that_the_command_started() {
    let mut bench = Bench::new();
    bench.context.limit = Duration::from_secs(1);
    let checks = within(bench.run(&[STUBBORN, "echo next"])).await;
    assert_eq!(checks[0].verdict, Verdict::TimedOut);
    assert!(!alive(&std::fs::read_to_string(bench.path("child")).unwrap()));
    assert_eq!(checks[1].verdict, Verdict::Passed, "a limit of one is none of the next");
}

#[tokio::test]
async fn cancelling_ends_the_command_and_begins_no_other() {
    let bench = Bench::new();
    let cancel = async {
        let pid = bench.written("child").await;
        bench.cancel.cancel();
        pid
    };
    let (checks, pid) = within(async { tokio::join!(bench.run(&["true", STUBBORN, "touch third"]), cancel) }).await;
    let verdicts: Vec<&Verdict> = checks.iter().map(|check| &check.verdict).collect();
    assert_eq!(verdicts, [&Verdict::Passed, &Verdict::Interrupted, &Verdict::Interrupted]);
    assert!(!alive(&pid));
    assert!(!bench.path("third").exists() && !checks[2].log.exists());
}

#[tokio::test]
async fn a_second_cancel_kills_at_once() {
    let mut bench = Bench::new();
    // Longer than the test may take: without the kill it fails.
    bench.context.grace = Duration::from_secs(600);
    let cancel = async {
        let pid = bench.written("child").await;
        bench.cancel.cancel();
        bench.context.kill.cancel();
        pid
    };
    let (check, pid) = within(async { tokio::join!(bench.one(STUBBORN), cancel) }).await;
    assert_eq!(check.verdict, Verdict::Interrupted);
    assert!(!alive(&pid));
}

#[tokio::test]
async fn what_is_left_in_the_background_is_ended_and_holds_nothing() {
    let bench = Bench::new();
    let check = within(bench.one("(setsid sleep 600 & echo $! > child); echo done")).await;
    assert_eq!((check.verdict, check.tail.as_str()), (Verdict::Passed, "done"));
    assert!(!alive(&std::fs::read_to_string(bench.path("child")).unwrap()));
}

#[tokio::test]
async fn a_running_command_is_known_to_a_later_planex() {
    let bench = Bench::new();
    let look = async {
        let pid = bench.written("pid").await;
        let path = bench.context.logs.join("check-1.ident.json");
        let ident: Ident = serde_json::from_slice(&until(|| std::fs::read(&path).ok()).await).unwrap();
        bench.cancel.cancel();
        assert_eq!(ident.agent.pid.to_string(), pid.trim());
        assert_eq!(ident.mark, Some(format!("PLANEX_CHECK_LOG={}", bench.context.log(1))));
    };
    let (check, ()) = within(async { tokio::join!(bench.one("echo $$ > pid; exec sleep 600"), look) }).await;
    assert_eq!(check.verdict, Verdict::Interrupted);
    let names: Vec<_> = std::fs::read_dir(&bench.context.logs).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["check-1.log"], "nothing is left to look for");
}
