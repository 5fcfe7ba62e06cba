//! Plans that are wrong.

use std::sync::Arc;

use planex_core::job::Role;
use planex_core::settings::{GatePolicy, OverlapPolicy};
use serde_json::{Value, json};

use crate::bench::{Bench, Script, diamond, script, task};

/// Answers the first plan with `first`, the second with `second`.
fn twice(first: Value, second: Value) -> Script {
    let inner = script(second, |_, _| None);
    Arc::new(move |spec| match spec.role {
        Role::Plan if !spec.run_id.contains("mended") => Ok(first.clone()),
        _ => inner(spec),
    })
}

fn cyclic() -> Value {
    json!({"tasks": [task("T1", &[], "a/**"), task("T2", &["T3"], "b/**"), task("T3", &["T2", "T9"], "c/**")]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_with_faults_goes_back_once_with_all_of_them() {
    let bench = Bench::new();
    let prompts = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (inner, seen) = (twice(cyclic(), diamond()), Arc::clone(&prompts));
    let script: Script = Arc::new(move |spec| {
        if spec.role == Role::Plan {
            seen.lock().unwrap().push(spec.prompt.clone());
        }
        inner(spec)
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!((end.exit, end.totals.tasks), (0, 4));
    let prompts = prompts.lock().unwrap();
    assert_eq!(prompts.len(), 2);
    for part in ["T2 -> T3 -> T2", "unknown `T9`", "Do T3 well"] {
        assert!(prompts[1].contains(part), "{part}\n{}", prompts[1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_stays_wrong_ends_with_its_faults_and_is_kept() {
    let bench = Bench::new();
    let error = bench.start(&twice(cyclic(), cyclic()), vec![]).await.unwrap_err();
    assert_eq!(error.exit_code(), 3);
    let text = error.to_string();
    assert!(text.contains("T2 -> T3 -> T2") && text.contains("T9"), "{text}");
    assert!(bench.file("tasks.rejected.json").exists() && !bench.file("tasks.csv").exists());
    assert_eq!(bench.ran("execute T1"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_a_wrong_plan_can_be_mended_by_hand() {
    let mut bench = Bench::new();
    bench.settings.gates = GatePolicy::Ask;
    let script = twice(cyclic(), cyclic());
    let end = bench.start(&script, vec!["approve", "edit"]).await.unwrap();
    assert_eq!(end.exit, 4);
    let mended = bench.read("tasks.csv").replace("\"T2;T9\"", "\"T1\"");
    std::fs::write(bench.file("tasks.csv"), mended).unwrap();
    let end = bench.resume(&script, vec!["execute"], Default::default()).await.unwrap();
    assert_eq!((end.exit, end.totals.completed), (0, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_overlap_run_one_after_another_or_are_refused() {
    let plan =
        json!({"tasks": [task("T1", &[], "src/**"), task("T2", &[], "src/auth.rs"), task("T3", &[], "docs/**")]});
    let bench = Bench::new();
    let end = bench.start(&script(plan.clone(), |_, _| None), vec![]).await.unwrap();
    assert_eq!((end.exit, end.totals.waves), (0, 2));
    assert_eq!(bench.column("tasks.csv", "wave")["T2"], "2");

    let mut bench = Bench::new();
    bench.settings.overlap = OverlapPolicy::Error;
    let error = bench.start(&script(plan, |_, _| None), vec![]).await.unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("overlap"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_any_plan_does_not_end_the_session() {
    let bench = Bench::new();
    let inner = script(diamond(), |_, _| None);
    let script: Script = Arc::new(move |spec| match spec.role {
        Role::Plan => Ok(json!({"tasks": "none"})),
        _ => inner(spec),
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert!(end.totals.tasks > 0);
    assert!(bench.read("context.md").contains("planex planned by itself"));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_refused_plan_a_resume_plans_anew() {
    let bench = Bench::new();
    bench.start(&twice(cyclic(), cyclic()), vec![]).await.unwrap_err();
    let end = bench.resume(&script(diamond(), |_, _| None), vec![], Default::default()).await.unwrap();
    assert_eq!((end.exit, end.totals.completed), (0, 4));
    assert_eq!(bench.ran("explore E1"), 1, "only the plan is made anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_would_share_a_runs_folder_are_refused() {
    for (id, said) in [("T1-retry", "-retry"), ("T1-Retry-2", "-retry"), ("plan", "phase"), ("E1", "exploration")] {
        let plan = json!({"tasks": [task("T1", &[], "a/**"), task(id, &[], "b/**")]});
        let error = Bench::new().start(&script(plan, |_, _| None), vec![]).await.unwrap_err();
        assert!(error.exit_code() == 3 && error.to_string().contains(said), "{id}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fall_back_gets_neither_model_nor_arguments_of_the_agent_it_replaces() {
    let mut bench = Bench::new();
    let role = planex_core::settings::RoleSettings {
        agent: Some("scripted".to_owned()),
        model: Some("large".to_owned()),
        args: vec!["--own".to_owned()],
        fallback: vec!["other".to_owned()],
        ..Default::default()
    };
    bench.settings.agent = None;
    for role_of in [Role::Assess, Role::Explore, Role::Execute] {
        bench
            .settings
            .roles
            .insert(role_of, planex_core::settings::RoleSettings { agent: role.agent.clone(), ..Default::default() });
    }
    bench.settings.roles.insert(Role::Plan, role);
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (inner, told) = (script(diamond(), |_, _| None), Arc::clone(&seen));
    let script: Script = Arc::new(move |spec| {
        if spec.role != Role::Plan {
            return inner(spec);
        }
        told.lock().unwrap().push((spec.model.clone(), spec.extra_args.clone()));
        match spec.model.as_deref() {
            Some("large") => Err(planex_core::job::Cause::new(planex_core::job::CauseKind::Failed, "overworked")),
            _ => inner(spec),
        }
    });
    let end = bench.start(&script, vec![]).await.unwrap();
    assert_eq!(end.exit, 0);
    let large = (Some("large".to_owned()), vec!["--own".to_owned()]);
    assert_eq!(*seen.lock().unwrap(), [large, (None, vec![])]);
}
