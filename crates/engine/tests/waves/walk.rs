//! From start to end.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::bench::{Bench, diamond, done, failed, item, script, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_diamond_runs_in_three_waves_and_is_reported() {
    let bench = Bench::new();
    let root = bench.root.clone();
    let script = script(diamond(), move |id, spec| {
        let folder = match id {
            "T1" => "a",
            "T2" => "b",
            "T3" => "c",
            _ => "d",
        };
        write(&root, &format!("src/{folder}/made.rs"), id);
        let context = spec.item.as_ref().unwrap()["prev_context"].as_str().unwrap().to_owned();
        assert!(context.contains("[Explore architecture] found by E1\n  Key files: src/lib.rs"), "{context}");
        assert!(!spec.item.as_ref().unwrap().contains_key("status"), "no state column reaches an agent");
        None
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!((end.exit, end.status), (0, "completed"));
    assert_eq!((end.totals.completed, end.totals.waves, end.totals.explored), (4, 3, 2));
    assert_eq!(end.usage.total_tokens(), 8 * 15);

    let log = bench.log.lock().unwrap().clone();
    assert_eq!(log[0], "assess assess");
    let place = |what: &str| log.iter().position(|line| line == what).unwrap();
    assert!(place("explore E1") < place("plan plan") && place("plan plan") < place("execute T1"));
    assert!(place("execute T1") < place("execute T2").min(place("execute T3")));
    assert!(place("execute T4") > place("execute T2").max(place("execute T3")));

    assert_eq!(bench.column("tasks.csv", "files_modified")["T2"], "src/b/made.rs", "observed, not claimed");
    assert_eq!(bench.column("tasks.csv", "tests_passed")["T4"], "true");
    assert_eq!(bench.column("explore.csv", "key_files")["E1"], "src/lib.rs", "what does not exist is dropped");
    assert_eq!(bench.read("results.csv"), bench.read("tasks.csv"));
    let report = bench.read("context.md");
    for part in [
        "## Summary",
        "## Exploration Results",
        "### T4: Do T4 (completed)",
        "## All Modified Files",
        "src/d/made.rs",
        "$0.08",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let left: Vec<_> = std::fs::read_dir(bench.file("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("wave")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_skips_what_depends_on_it_and_retry_mends_it() {
    let bench = Bench::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let prompts = Arc::clone(&seen);
    let first = script(diamond(), |id, _| (id == "T2").then(|| Ok(failed("T2", "no such table"))));
    let end = bench.start(&first, vec![]).await.unwrap();
    assert_eq!((end.exit, end.totals.completed, end.totals.failed, end.totals.skipped), (5, 2, 1, 1));
    assert_eq!(bench.column("tasks.csv", "error")["T2"], "no such table");
    assert_eq!(bench.column("tasks.csv", "error")["T4"], "Dependency failed or skipped");
    assert_eq!(end.next, [format!("planex resume {} --retry", end.session)]);

    // Resuming without --retry runs nothing again.
    let end = bench.resume(&first, vec![], Default::default()).await.unwrap();
    assert_eq!((end.exit, bench.ran("execute T2")), (5, 1));

    let second = script(diamond(), move |id, spec| {
        prompts.lock().unwrap().push((id.to_owned(), spec.run_id.clone(), spec.prompt.clone()));
        None
    });
    let retry = planex_engine::workflow::waves::Resume { retry: Some(vec![]), ..Default::default() };
    let end = bench.resume(&second, vec![], retry).await.unwrap();
    assert_eq!((end.exit, end.totals.completed, end.totals.failed), (0, 4, 0));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.iter().map(|(id, ..)| id.as_str()).collect::<Vec<_>>(), ["T2", "T4"]);
    assert!(seen[0].1.ends_with("T2-retry"), "{}", seen[0].1);
    assert!(seen[0].2.contains("no such table"), "the earlier error is in the prompt");
    assert_eq!(bench.ran("execute T1"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_claims_does_not_make_it_so() {
    let bench = Bench::new();
    let script = script(diamond(), |id, _| {
        let mut report = done(id);
        report["tests_passed"] = json!(id != "T3");
        Some(Ok(report))
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!((end.exit, end.totals.failed, end.totals.skipped), (5, 1, 1));
    assert!(bench.column("tasks.csv", "error")["T3"].contains("tests do not pass"));
}

#[tokio::test(flavor = "multi_thread")]
async fn discoveries_of_one_task_reach_the_next() {
    let bench = Bench::new();
    let prompts = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&prompts);
    let script = script(diamond(), move |id, spec| {
        if id == "T4" {
            *seen.lock().unwrap() = spec.prompt.clone();
        }
        let mut report = done(&item(spec));
        report["discoveries"] = json!([{"type": "blocker", "data": {"issue": "port 5432 is taken"}}, {"type": "?"}]);
        Some(Ok(report))
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!(end.exit, 0);
    assert!(prompts.lock().unwrap().contains("port 5432 is taken"));
    assert_eq!(bench.read("discoveries.ndjson").lines().count(), 1, "the same thing once");
}

#[tokio::test(flavor = "multi_thread")]
async fn exploring_that_fails_altogether_does_not_end_the_session() {
    let bench = Bench::new();
    let inner = script(diamond(), |_, _| None);
    let script: crate::bench::Script = Arc::new(move |spec| match spec.role {
        planex_core::job::Role::Explore => {
            Err(planex_core::job::Cause::new(planex_core::job::CauseKind::Timeout, "too slow"))
        }
        _ => inner(spec),
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!((end.exit, end.totals.explored, end.totals.completed), (0, 0, 4));
    assert_eq!(bench.column("explore.csv", "error")["E2"], "timeout: too slow");
    assert!(bench.read("context.md").contains("every exploration failed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_exploring_there_is_no_explore_csv_and_no_link_is_missed() {
    let bench = Bench::new();
    let mut plan = diamond();
    for task in plan["tasks"].as_array_mut().unwrap() {
        task["context_from"] = json!([]);
    }
    let script = script(plan, |_, _| None);
    let start = planex_engine::workflow::waves::Start { requirement: "do it".to_owned(), explore: false };
    let end = planex_engine::workflow::waves::start(&bench.engine(&script, vec![]), start).await.unwrap();
    assert_eq!(end.exit, 0);
    assert!(!bench.file("explore.csv").exists());
    assert_eq!(bench.ran("assess assess"), 0);
    assert!(!bench.read("context.md").contains("linked to no exploration"));
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_the_configuration_are_masked_in_what_is_kept() {
    let mut bench = Bench::new();
    let env = [("MY_API_KEY".to_owned(), "hunter2hunter2".to_owned())].into();
    let agent = planex_core::settings::AgentSettings { env, ..Default::default() };
    bench.settings.agents.insert("mine".to_owned(), agent);
    let engine = bench.engine(&script(diamond(), |_, _| None), vec![]);
    assert_eq!(engine.masker.mask("key hunter2hunter2 end"), "key *** end");
}
