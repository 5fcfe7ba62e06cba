//! Nothing runs before its gate is passed; every way of passing one gives the same.

use planex_core::gate::Answerer;
use planex_core::settings::GatePolicy;
use planex_engine::gate::{answer_gate, load_answer};
use planex_engine::store::SessionPaths;
use planex_engine::workflow::waves::Resume;

use crate::bench::{Bench, diamond, failed, script};

fn asking() -> Bench {
    let mut bench = Bench::new();
    bench.settings.gates = GatePolicy::Ask;
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gates_come_in_order_and_cancel_ends() {
    let bench = asking();
    let script = script(diamond(), |_, _| None);
    let end = bench.start(&script, vec!["approve", "cancel"]).await.unwrap();
    assert_eq!((end.exit, end.status), (4, "cancelled"));
    assert_eq!(bench.ran("execute T1"), 0);
    let gates = bench.gates.lock().unwrap().clone();
    assert_eq!(gates.iter().map(|gate| gate.id.as_str()).collect::<Vec<_>>(), ["angles", "tasks"]);
    assert!(
        gates[1].body.contains("Wave 2: 2 task(s)") && gates[1].body.contains("scope src/b/**"),
        "{}",
        gates[1].body
    );
    assert!(gates[1].body.contains("isolation none"), "what is not isolated is said");

    let refused = bench.resume(&script, vec!["execute"], Resume::default()).await.unwrap_err();
    assert_eq!(refused.exit_code(), 4);
    let end = bench.resume(&script, vec!["execute"], Resume { reopen: true, ..Resume::default() }).await.unwrap();
    assert_eq!(end.exit, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn deferred_gates_are_answered_from_outside_and_go_on() {
    let mut bench = Bench::new();
    bench.settings.gates = GatePolicy::Defer;
    let script = script(diamond(), |_, _| None);
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!((end.exit, end.gate.as_ref().map(|gate| gate.id.as_str())), (4, Some("angles")));
    assert!(end.next[0].starts_with("planex answer "), "{:?}", end.next);
    assert_eq!(bench.ran("explore E1"), 0);
    let paths = SessionPaths::new(bench.found().dir);
    let answer = |option: &str| {
        let pairs = [("confirm".to_owned(), option.to_owned())];
        answer_gate(&paths, &bench.approvals().of(&paths), &pairs, None, Answerer::Command, planex_sys::clock::now())
            .unwrap();
    };
    answer("Approve");
    let end = bench.resume(&script, vec![], Resume::default()).await.unwrap();
    assert_eq!(end.gate.map(|gate| gate.id), Some("tasks".to_owned()));
    assert_eq!((bench.ran("explore E1"), bench.ran("execute T1")), (1, 0));
    answer("exe");
    let end = bench.resume(&script, vec![], Resume::default()).await.unwrap();
    assert_eq!((end.exit, bench.ran("explore E1"), bench.ran("execute T4")), (0, 1, 1));
    assert_eq!(load_answer(&paths, "tasks").unwrap().unwrap().by, Answerer::Command);
    let journal = bench.read(".planex/journal.ndjson");
    assert!(journal.contains("\"by\":\"command\""), "the journal names who approved");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_holds_for_exactly_what_was_shown() {
    let mut bench = Bench::new();
    bench.settings.gates = GatePolicy::Defer;
    let script = script(diamond(), |_, _| None);
    bench.start(&script, vec![]).await.unwrap();
    let paths = SessionPaths::new(bench.found().dir);
    let answer = |option: &str| {
        let pairs = [("confirm".to_owned(), option.to_owned())];
        answer_gate(&paths, &bench.approvals().of(&paths), &pairs, None, Answerer::Command, planex_sys::clock::now())
            .unwrap();
    };
    answer("approve");
    bench.resume(&script, vec![], Resume::default()).await.unwrap();
    answer("execute");
    let changed = bench.read("tasks.csv").replace("Do T3 well", "Do T3 and delete everything");
    std::fs::write(paths.tasks_csv(), changed).unwrap();
    let end = bench.resume(&script, vec![], Resume::default()).await.unwrap();
    assert_eq!((end.exit, bench.ran("execute T1")), (4, 0), "the gate comes back");
    // A changed state column is no change of what was approved.
    answer("execute");
    let changed = bench.read("tasks.csv").replacen("\"pending\"", "\"completed\"", 1);
    std::fs::write(paths.tasks_csv(), changed).unwrap();
    let end = bench.resume(&script, vec![], Resume::default()).await.unwrap();
    assert_eq!((end.exit, bench.ran("execute T1"), bench.ran("execute T4")), (0, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn modify_stops_and_continue_shows_the_edited_plan() {
    let bench = asking();
    let script = script(diamond(), |_, _| None);
    let end = bench.start(&script, vec!["approve", "modify"]).await.unwrap();
    assert_eq!(end.exit, 4);
    assert!(end.next[0].contains("tasks.csv") && end.next[1].contains("--continue"), "{:?}", end.next);
    let edited = bench.read("tasks.csv").replace("Do T1", "Begin T1");
    std::fs::write(bench.file("tasks.csv"), edited).unwrap();
    let options = Resume { confirm: true, ..Resume::default() };
    let end = bench.resume(&script, vec!["execute"], options).await.unwrap();
    assert_eq!(end.exit, 0);
    let last = bench.gates.lock().unwrap().last().cloned().unwrap();
    assert!(last.body.contains("Begin T1"), "{}", last.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_at_the_last_gate_shows_the_report_first() {
    let bench = asking();
    let tries = std::sync::atomic::AtomicU32::new(0);
    let script = script(diamond(), move |id, _| {
        let first = id == "T2" && tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        first.then(|| Ok(failed("T2", "flaky")))
    });
    let end = bench.start(&script, vec!["approve", "execute", "report", "retry"]).await.unwrap();
    assert_eq!((end.exit, end.totals.completed), (0, 4));
    let ids: Vec<String> = bench.gates.lock().unwrap().iter().map(|gate| gate.id.clone()).collect();
    assert_eq!(ids, ["angles", "tasks", "failed", "failed-2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_copied_carries_no_approvals() {
    let mut bench = Bench::new();
    let script = script(diamond(), |id, _| (id == "T1").then(|| Ok(failed("T1", "broken"))));
    assert_eq!(bench.start(&script, vec![]).await.unwrap().exit, 5);
    assert_eq!(bench.ran("execute T1"), 1);
    bench.settings.gates = GatePolicy::Defer;
    let retry = || Resume { retry: Some(Vec::new()), ..Resume::default() };
    // Where it was approved it goes on; where it was brought to, the gate comes back.
    assert_eq!(bench.resume(&script, vec![], retry()).await.unwrap().exit, 5);
    assert_eq!(bench.ran("execute T1"), 2);
    let moved = bench.root.with_file_name("elsewhere");
    std::fs::rename(&bench.root, &moved).unwrap();
    bench.root = moved;
    let end = bench.resume(&script, vec![], retry()).await.unwrap();
    assert_eq!((end.exit, end.gate.map(|gate| gate.id)), (4, Some("tasks".to_owned())));
    assert_eq!(bench.ran("execute T1"), 2);
}
