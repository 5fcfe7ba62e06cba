use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::{Action, Backoff, End, Event, Item, Limits, Scheduler, Verdict};
use crate::job::CauseKind;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("in range")
}

fn limits(concurrency: usize) -> Limits {
    Limits { concurrency, ..Limits::default() }
}

fn items(keys: &str) -> Vec<Item> {
    keys.split(' ').map(|key| Item::new(key, "codex")).collect()
}

/// Actions as short words.
fn say(actions: &[Action]) -> Vec<String> {
    let word = |action: &Action| match action {
        Action::Start { key, agent, attempt } => format!("start {key} {agent} {attempt}"),
        Action::Abort { key } => format!("abort {key}"),
        Action::Wake { at } => format!("wake {}", at.as_second()),
        Action::Ended { key, end, .. } => format!("{key} {end:?}"),
        Action::Idle => "idle".to_owned(),
        Action::Finished => "finished".to_owned(),
    };
    actions.iter().map(word).collect()
}

fn finished(key: &str, verdict: Verdict) -> Event {
    Event::Finished { key: key.to_owned(), verdict }
}

fn on(scheduler: &mut Scheduler, second: i64, event: Event) -> Vec<String> {
    say(&scheduler.on(at(second), event))
}

#[test]
fn slots_roll_in_the_given_order() {
    let mut s = Scheduler::new(items("a b c"), limits(2));
    assert_eq!(on(&mut s, 0, Event::Begin), ["start a codex 1", "start b codex 1"]);
    assert_eq!(on(&mut s, 1, finished("b", Verdict::Done)), ["b Completed", "start c codex 1"]);
    assert_eq!(on(&mut s, 2, finished("b", Verdict::Done)), [""; 0], "told twice");
    assert_eq!(on(&mut s, 2, finished("a", Verdict::Done)), ["a Completed"]);
    assert_eq!(on(&mut s, 3, finished("c", Verdict::Failed(CauseKind::Timeout))), ["c Failed(Timeout)", "finished"]);
    assert_eq!(on(&mut s, 4, Event::Timer), [""; 0]);
    assert_eq!(on(&mut Scheduler::new(vec![], limits(2)), 0, Event::Begin), ["finished"]);
}

#[test]
fn a_full_agent_does_not_hold_up_the_others() {
    let mut all = items("a b");
    all.push(Item::new("c", "claude"));
    let per_agent = BTreeMap::from([("codex".to_owned(), 1)]);
    let mut s = Scheduler::new(all, Limits { per_agent, ..limits(4) });
    assert_eq!(on(&mut s, 0, Event::Begin), ["start a codex 1", "start c claude 1"]);
}

#[test]
fn failures_are_retried_and_then_handed_to_the_next_agent() {
    let mut item = Item::new("a", "codex");
    item.agents.push("claude".to_owned());
    let backoff = Backoff { base: Duration::from_secs(10), most: Duration::from_secs(10) };
    let mut s = Scheduler::new(vec![item], Limits { retries: 1, backoff, ..limits(1) });
    let _ = s.on(at(0), Event::Begin);
    let told = s.on(at(0), finished("a", Verdict::Failed(CauseKind::NoResult)));
    let [Action::Wake { at: wake }] = told.as_slice() else { panic!("{told:?}") };
    assert!((at(5)..=at(10)).contains(wake), "{wake}");
    assert_eq!(say(&s.on(*wake, Event::Timer)), ["start a codex 2"]);
    assert_eq!(on(&mut s, 20, finished("a", Verdict::Failed(CauseKind::NoResult))), ["start a claude 3"]);
    let _ = s.on(at(21), finished("a", Verdict::Failed(CauseKind::NoResult)));
    assert_eq!(on(&mut s, 40, Event::Timer), ["start a claude 4"]);
    assert_eq!(on(&mut s, 41, finished("a", Verdict::Failed(CauseKind::Idle))), ["a Failed(Idle)", "finished"]);
}

#[test]
fn a_named_time_is_waited_for_by_all_jobs_of_that_agent_alone() {
    let mut all = items("a b c");
    all.push(Item::new("d", "claude"));
    let mut s = Scheduler::new(all, limits(2));
    let _ = s.on(at(0), Event::Begin);
    let told = on(&mut s, 1, finished("a", Verdict::RateLimited { retry_at: Some(at(1000)) }));
    assert_eq!(told, ["start d claude 1", "wake 1000"]);
    assert_eq!(on(&mut s, 2, finished("b", Verdict::Done)), ["b Completed"]);
    assert_eq!(on(&mut s, 3, finished("d", Verdict::Done)), ["d Completed"]);
    assert_eq!(on(&mut s, 500, Event::Timer), ["wake 1000"], "early timers are told again");
    assert_eq!(on(&mut s, 1000, Event::Timer), ["start a codex 2", "start c codex 1"]);
}

#[test]
fn rate_limits_halve_and_successes_restore() {
    let keys: Vec<String> = (0..20).map(|n| format!("j{n}")).collect();
    let mut s = Scheduler::new(keys.iter().map(|key| Item::new(key, "codex")).collect(), limits(4));
    assert_eq!(s.on(at(0), Event::Begin).len(), 4);
    let _ = s.on(at(0), finished("j0", Verdict::RateLimited { retry_at: None }));
    let _ = s.on(at(0), finished("j1", Verdict::RateLimited { retry_at: None }));
    // One at once now, and two still run.
    assert!(on(&mut s, 0, finished("j2", Verdict::Failed(CauseKind::Failed))).iter().all(|a| !a.starts_with("start")));
    // A success makes it two.
    let told = on(&mut s, 0, finished("j3", Verdict::Done));
    assert_eq!(told.iter().filter(|a| a.starts_with("start")).count(), 2, "{told:?}");
}

#[test]
fn waiting_for_limits_has_an_end() {
    let mut s = Scheduler::new(items("a"), Limits { waits: 3, ..limits(1) });
    let mut now = 0;
    let mut starts = 0;
    let mut actions = s.on(at(now), Event::Begin);
    while !actions.contains(&Action::Finished) {
        for action in std::mem::take(&mut actions) {
            match action {
                Action::Start { key, .. } => {
                    starts += 1;
                    actions = s.on(at(now), finished(&key, Verdict::RateLimited { retry_at: None }));
                }
                Action::Wake { .. } => {
                    now += 1000;
                    actions = s.on(at(now), Event::Timer);
                }
                Action::Abort { .. } | Action::Ended { .. } | Action::Idle | Action::Finished => {}
            }
        }
    }
    assert_eq!(starts, 4);
    assert!(say(&actions).contains(&"a Failed(RateLimited)".to_owned()), "{actions:?}");
}

#[test]
fn an_agent_that_is_not_logged_in_gets_no_further_job() {
    let mut all = items("a b c");
    all[2].agents.push("claude".to_owned());
    all.push(Item { deps: vec!["c".to_owned()], ..Item::new("d", "codex") });
    let mut s = Scheduler::new(all, limits(1));
    let _ = s.on(at(0), Event::Begin);
    assert_eq!(
        on(&mut s, 0, finished("a", Verdict::AuthFailed)),
        ["a Failed(Auth)", "b Failed(Auth)", "start c claude 1"]
    );
    assert_eq!(on(&mut s, 0, finished("c", Verdict::Done)), ["c Completed", "d Failed(Auth)", "finished"]);
    let none = Item { agents: Vec::new(), ..Item::new("x", "") };
    assert_eq!(
        on(&mut Scheduler::new(vec![none], limits(1)), 0, Event::Begin),
        ["x Failed(AgentNotUsable)", "finished"]
    );
}

#[test]
fn a_retry_does_not_wait_for_an_agent_that_died_meanwhile() {
    let mut s = Scheduler::new(items("a b"), Limits { retries: 3, ..limits(2) });
    let _ = s.on(at(0), Event::Begin);
    assert_eq!(on(&mut s, 0, finished("a", Verdict::AuthFailed)), ["a Failed(Auth)"]);
    assert_eq!(on(&mut s, 0, finished("b", Verdict::Failed(CauseKind::Failed))), ["b Failed(Auth)", "finished"]);
}

#[test]
fn dependencies_cascade() {
    let with = |key: &str, deps: &[&str]| Item {
        deps: deps.iter().map(|dep| (*dep).to_owned()).collect(),
        ..Item::new(key, "codex")
    };
    let all = vec![
        with("a", &[]),
        with("b", &["a"]),
        with("c", &["b"]),
        with("d", &["nowhere"]),
        with("e", &["f"]),
        with("f", &["e"]),
    ];
    let mut s = Scheduler::new(all, limits(4));
    let told = on(&mut s, 0, Event::Begin);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].starts_with("d Skipped") && told[1].starts_with("e Skipped") && told[2].starts_with("f Skipped"));
    let told = on(&mut s, 0, finished("a", Verdict::Failed(CauseKind::Failed)));
    assert_eq!(told, ["a Failed(Failed)", "b Skipped { because: \"a\" }", "c Skipped { because: \"b\" }", "finished"]);
}

#[test]
fn stopping_lets_running_jobs_finish_and_cancelling_ends_them() {
    let mut s = Scheduler::new(items("a b c"), Limits { retries: 5, ..limits(2) });
    let _ = s.on(at(0), Event::Begin);
    assert_eq!(on(&mut s, 0, Event::StopRest), ["c Stopped"]);
    assert_eq!(on(&mut s, 0, finished("a", Verdict::RateLimited { retry_at: None })), ["a Stopped"]);
    assert_eq!(on(&mut s, 0, finished("b", Verdict::Failed(CauseKind::Failed))), ["b Failed(Failed)", "finished"]);

    let mut s = Scheduler::new(items("a b c"), limits(2));
    let _ = s.on(at(0), Event::Begin);
    assert_eq!(on(&mut s, 0, Event::CancelItem { key: "a".to_owned() }), ["abort a"]);
    assert_eq!(on(&mut s, 0, Event::CancelAll), ["abort b", "c Cancelled"]);
    assert_eq!(on(&mut s, 0, finished("a", Verdict::Failed(CauseKind::Failed))), ["a Cancelled"]);
    assert_eq!(on(&mut s, 0, finished("b", Verdict::Done)), ["b Completed", "finished"], "it was faster");
}

#[test]
fn holding_waits_for_what_runs_and_goes_on() {
    let mut s = Scheduler::new(items("a b"), limits(1));
    let _ = s.on(at(0), Event::Begin);
    assert_eq!(on(&mut s, 0, Event::Hold), [""; 0]);
    assert_eq!(on(&mut s, 0, finished("a", Verdict::Done)), ["a Completed", "idle"]);
    assert_eq!(on(&mut s, 0, Event::Timer), [""; 0], "said once");
    assert_eq!(on(&mut s, 0, Event::Release), ["start b codex 1"]);
}

#[test]
fn waits_double_within_their_bounds_and_differ() {
    let backoff = Backoff { base: Duration::from_secs(4), most: Duration::from_secs(60) };
    for tries in 1..80u32 {
        let full = Duration::from_secs(4 << (tries - 1).min(10)).min(Duration::from_secs(60));
        let wait = backoff.wait(1, 2, tries);
        assert!(wait >= full / 2 && wait <= full, "{tries}: {wait:?}");
    }
    let waits: BTreeSet<Duration> = (0..100).map(|item| backoff.wait(9, item, 3)).collect();
    assert!(waits.len() > 90);
}

#[test]
fn a_hundred_thousand_items_are_no_burden() {
    let keys: Vec<String> = (0..100_000).map(|n| format!("j{n}")).collect();
    let mut s = Scheduler::new(keys.iter().map(|key| Item::new(key, "codex")).collect(), limits(16));
    let mut running: std::collections::VecDeque<String> = starts(&s.on(at(0), Event::Begin)).into();
    let mut done = 0;
    while let Some(key) = running.pop_front() {
        done += 1;
        running.extend(starts(&s.on(at(0), finished(&key, Verdict::Done))));
    }
    assert_eq!(done, 100_000);
}

fn starts(actions: &[Action]) -> Vec<String> {
    let key = |action: &Action| if let Action::Start { key, .. } = action { Some(key.clone()) } else { None };
    actions.iter().filter_map(key).collect()
}

#[derive(Debug, Clone)]
struct Step {
    verdict: usize,
    pick: usize,
    other: u8,
}

fn verdict(number: usize, now: Timestamp) -> Verdict {
    let later = now.saturating_add(SignedDuration::from_secs(100)).expect("in range");
    [
        Verdict::Done,
        Verdict::Done,
        Verdict::Failed(CauseKind::Failed),
        Verdict::RateLimited { retry_at: None },
        Verdict::RateLimited { retry_at: Some(later) },
        Verdict::AuthFailed,
        Verdict::NotUsable,
        Verdict::Failed(CauseKind::Quota),
        Verdict::Cancelled,
    ][number]
}

fn step() -> impl Strategy<Value = Step> {
    (0usize..9, any::<usize>(), 0u8..40).prop_map(|(verdict, pick, other)| Step { verdict, pick, other })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever agents answer and people ask for: the limits hold, starts follow the order, every item ends once, and
    /// it comes to an end.
    #[test]
    fn the_invariants_hold(
        plan in prop::collection::vec((0usize..3, any::<bool>(), prop::option::of(0usize..12)), 1..12),
        steps in prop::collection::vec(step(), 0..80), concurrency in 1usize..4, codex in 1usize..3, retries in 0u32..3,
    ) {
        let names = ["codex", "claude", "gemini"];
        let all: Vec<Item> = plan.iter().enumerate().map(|(at, (agent, two, dep))| Item {
            key: format!("j{at}"),
            agents: (0..if *two { 2 } else { 1 }).map(|n| names[(agent + n) % 3].to_owned()).collect(),
            deps: dep.filter(|dep| *dep < plan.len()).map(|dep| format!("j{dep}")).into_iter().collect(),
            not_before: None,
        }).collect();
        let per_agent = BTreeMap::from([("codex".to_owned(), codex)]);
        let mut s = Scheduler::new(all.clone(), Limits { per_agent, retries, ..limits(concurrency) });
        let mut running: Vec<(String, String)> = Vec::new();
        let mut ended: BTreeMap<String, End> = BTreeMap::new();
        let (mut over, mut wake, mut now) = (false, None, at(0));
        let mut steps = steps.into_iter();
        let mut actions = s.on(now, Event::Begin);
        for round in 0.. {
            prop_assert!(round < 2000, "comes to no end");
            let mut last: Option<(usize, String)> = None;
            for action in actions.drain(..) {
                prop_assert!(!over, "nothing follows the end");
                match action {
                    Action::Start { key, agent, .. } => {
                        let place = all.iter().position(|item| item.key == key).expect("known");
                        prop_assert!(!ended.contains_key(&key) && !running.iter().any(|(k, _)| *k == key));
                        prop_assert!(all[place].deps.iter().all(|dep| ended.get(dep) == Some(&End::Completed)));
                        if let Some((before, of)) = &last {
                            prop_assert!(*of != agent || *before < place, "order within one agent");
                        }
                        last = Some((place, agent.clone()));
                        running.push((key, agent));
                        prop_assert!(running.len() <= concurrency);
                        prop_assert!(running.iter().filter(|(_, agent)| agent == "codex").count() <= codex);
                    }
                    Action::Ended { key, end, .. } => {
                        prop_assert!(!running.iter().any(|(k, _)| *k == key));
                        prop_assert!(ended.insert(key, end).is_none(), "ends once");
                    }
                    Action::Wake { at } => wake = Some(at),
                    Action::Finished => over = true,
                    Action::Abort { .. } | Action::Idle => {}
                }
            }
            if over {
                break;
            }
            let step = steps.next().unwrap_or(Step { verdict: 0, pick: 0, other: 39 });
            let event = match step.other {
                0 => Event::Hold,
                1 => Event::StopRest,
                2 => Event::CancelAll,
                3 | 4 => Event::CancelItem { key: format!("j{}", step.pick % all.len()) },
                _ if !running.is_empty() => {
                    let (key, _) = running.remove(step.pick % running.len());
                    Event::Finished { key, verdict: verdict(step.verdict, now) }
                }
                5..=20 => Event::Release,
                _ => {
                    now = wake.unwrap_or(now).max(now);
                    if round % 2 == 0 { Event::Timer } else { Event::Release }
                }
            };
            actions = s.on(now, event);
        }
        prop_assert!(running.is_empty());
        prop_assert_eq!(ended.len(), all.len());
    }
}
