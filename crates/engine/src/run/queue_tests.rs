use super::*;
use planex_core::job::{Role, Usage};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + seconds).unwrap()
}

fn links(names: &[&str]) -> Vec<AgentRef> {
    names.iter().map(|name| AgentRef::parse(name)).collect()
}

fn queue(concurrency: usize) -> Queue {
    Queue::new(Policy { concurrency, ..Policy::default() })
}

fn outcome(status: JobStatus, cause: Option<Cause>) -> JobOutcome {
    JobOutcome {
        run_id: "r".into(),
        role: Role::Job,
        agent: "a".into(),
        model: None,
        status,
        cause,
        result: None,
        source: None,
        notes: vec![],
        text: String::new(),
        agent_session: None,
        usage: Usage::default(),
        started_at: at(0),
        duration_s: 0.0,
        exit: None,
        files_changed: vec![],
        attempt: 1,
        left_running: vec![],
    }
}

fn ok() -> JobOutcome {
    outcome(JobStatus::Completed, None)
}

fn failed(kind: CauseKind) -> JobOutcome {
    outcome(JobStatus::Failed, Some(Cause::new(kind, "x")))
}

fn limited_until(seconds: i64) -> JobOutcome {
    let cause = Cause { retry_at: Some(at(seconds)), ..Cause::new(CauseKind::RateLimited, "x") };
    outcome(JobStatus::Failed, Some(cause))
}

fn start(queue: &mut Queue, now: i64) -> Option<(usize, String)> {
    queue.next(at(now), &mut Vec::new()).map(|start| (start.index, start.link.to_string()))
}

fn push(queue: &mut Queue, chain: &[&str], retries: u32) -> usize {
    let index = queue.push(links(chain), retries, 0);
    queue.make_ready(index);
    index
}

#[test]
fn jobs_start_in_order_as_slots_are_free() {
    let mut q = queue(2);
    for _ in 0..4 {
        push(&mut q, &["a"], 0);
    }
    assert_eq!(start(&mut q, 0), Some((0, "a".into())));
    assert_eq!(start(&mut q, 0), Some((1, "a".into())));
    assert_eq!(start(&mut q, 0), None);
    assert_eq!(q.ended(1, &AgentRef::parse("a"), &ok(), at(1)), Follow::Final);
    assert_eq!(start(&mut q, 1), Some((2, "a".into())));
    assert_eq!(q.open(), [0, 2, 3]);
    assert_eq!(q.running(), 2);
}

#[test]
fn a_full_agent_does_not_hold_up_the_others() {
    let mut q = queue(10);
    q.set_most("a", Some(1));
    for chain in [["a"], ["a"], ["b"], ["a"], ["b"]] {
        push(&mut q, &chain, 0);
    }
    let started: Vec<usize> = std::iter::from_fn(|| start(&mut q, 0)).map(|(index, _)| index).collect();
    assert_eq!(started, [0, 2, 4]);
}

#[test]
fn failures_go_through_the_chain_then_round_again_then_end() {
    let mut q = queue(1);
    push(&mut q, &["a", "b:m"], 1);
    let (a, b) = (AgentRef::parse("a"), AgentRef::parse("b:m"));
    assert_eq!(start(&mut q, 0), Some((0, "a".into())));
    assert_eq!(q.ended(0, &a, &failed(CauseKind::Failed), at(0)), Follow::Again);
    assert_eq!(start(&mut q, 0), Some((0, "b:m".into())));
    let Follow::Wait(until) = q.ended(0, &b, &failed(CauseKind::NoResult), at(0)) else { panic!("no wait") };
    assert!(until >= at(2) && until <= at(3), "{until}");
    assert_eq!(start(&mut q, 1), None);
    assert_eq!(q.next_due(), Some(until));
    assert_eq!(start(&mut q, 3), Some((0, "a".into())));
    assert_eq!(q.ended(0, &a, &failed(CauseKind::Timeout), at(3)), Follow::Again);
    assert_eq!(start(&mut q, 3), Some((0, "b:m".into())));
    assert_eq!(q.ended(0, &b, &failed(CauseKind::InvalidResult), at(3)), Follow::Final);
    assert!(!q.has_pending() && q.open().is_empty());
}

#[test]
fn what_failed_before_a_restart_counts() {
    for (tries, exhausted) in [(0, false), (1, false), (2, false), (3, false), (4, true), (9, true)] {
        assert_eq!(Queue::is_exhausted(2, 1, tries), exhausted, "{tries}");
    }
    let mut q = queue(1);
    q.push(links(&["a", "b"]), 1, 3);
    q.make_ready(0);
    assert_eq!(start(&mut q, 0), Some((0, "b".into())));
    assert_eq!(q.ended(0, &AgentRef::parse("b"), &failed(CauseKind::Failed), at(0)), Follow::Final);
}

#[test]
fn a_rate_limit_is_waited_for_without_holding_up_others() {
    let mut q = queue(4);
    push(&mut q, &["a"], 0);
    push(&mut q, &["a"], 0);
    push(&mut q, &["b"], 0);
    assert_eq!(start(&mut q, 0), Some((0, "a".into())));
    assert_eq!(q.ended(0, &AgentRef::parse("a"), &limited_until(60), at(0)), Follow::Wait(at(60)));
    let mut waits = Vec::new();
    assert_eq!(q.next(at(1), &mut waits).map(|s| s.index), Some(2), "the other agent goes on");
    assert_eq!(waits, [(1, at(60))], "the same agent's other job waits too");
    assert_eq!(start(&mut q, 59), None);
    // Afterwards with less concurrency.
    assert_eq!(start(&mut q, 60), Some((0, "a".into())));
    assert_eq!(start(&mut q, 60), None);
    q.ended(0, &AgentRef::parse("a"), &ok(), at(61));
    assert_eq!(start(&mut q, 61), Some((1, "a".into())));
}

#[test]
fn a_rate_limit_without_a_time_backs_off_and_gives_up() {
    let mut q = queue(1);
    push(&mut q, &["a"], 0);
    let a = AgentRef::parse("a");
    let mut now = at(0);
    let mut gaps = Vec::new();
    loop {
        assert!(q.next(now, &mut Vec::new()).is_some());
        match q.ended(0, &a, &failed(CauseKind::RateLimited), now) {
            Follow::Wait(until) => {
                gaps.push(until.as_second() - now.as_second());
                now = until;
            }
            Follow::Final => break,
            Follow::Again => panic!("no wait"),
        }
    }
    assert_eq!(gaps.len(), 5, "as often as the policy says");
    assert!(gaps.windows(2).all(|pair| pair[1] > pair[0]), "{gaps:?}");
}

#[test]
fn a_limited_agent_hands_over_to_its_fall_back() {
    let mut q = queue(1);
    push(&mut q, &["a", "b"], 0);
    push(&mut q, &["a", "b"], 0);
    assert_eq!(start(&mut q, 0), Some((0, "a".into())));
    assert_eq!(q.ended(0, &AgentRef::parse("a"), &limited_until(600), at(0)), Follow::Again);
    assert_eq!(start(&mut q, 0), Some((0, "b".into())));
    q.ended(0, &AgentRef::parse("b"), &ok(), at(1));
    assert_eq!(start(&mut q, 1), Some((1, "b".into())), "the limit holds for the next job too");
    let follow = q.ended(1, &AgentRef::parse("b"), &limited_until(60), at(1));
    assert_eq!(follow, Follow::Wait(at(60)), "all limited: the first to come back");
    assert_eq!(start(&mut q, 60), Some((1, "b".into())));
}

#[test]
fn a_refused_login_stops_further_jobs_of_that_agent_at_once() {
    let mut q = queue(1);
    push(&mut q, &["a"], 3);
    push(&mut q, &["a"], 3);
    push(&mut q, &["a", "b"], 0);
    assert_eq!(start(&mut q, 0), Some((0, "a".into())));
    assert_eq!(q.ended(0, &AgentRef::parse("a"), &failed(CauseKind::Auth), at(0)), Follow::Final, "never retried");
    let doomed: Vec<usize> = q.doomed().into_iter().map(|(index, _)| index).collect();
    assert_eq!(doomed, [1]);
    assert_eq!(start(&mut q, 0), Some((2, "b".into())));
    assert_eq!(q.open(), [2]);
}

#[test]
fn a_quota_that_is_used_up_is_not_waited_for() {
    let mut q = queue(1);
    push(&mut q, &["a:big", "a:small"], 0);
    push(&mut q, &["a:big"], 0);
    assert_eq!(start(&mut q, 0), Some((0, "a:big".into())));
    assert_eq!(q.ended(0, &AgentRef::parse("a:big"), &failed(CauseKind::Quota), at(0)), Follow::Again);
    assert_eq!(q.doomed().len(), 1, "the other model of the same agent goes on");
    assert_eq!(start(&mut q, 0), Some((0, "a:small".into())));
}

#[test]
fn cancelled_and_budget_are_final() {
    let outcomes = [outcome(JobStatus::Cancelled, None), failed(CauseKind::Cancelled), failed(CauseKind::Budget)];
    for ended in outcomes {
        let mut q = queue(1);
        push(&mut q, &["a", "b"], 9);
        start(&mut q, 0);
        assert_eq!(q.ended(0, &AgentRef::parse("a"), &ended, at(0)), Follow::Final);
    }
}

proptest::proptest! {
    /// Whatever happens, every job ends, no limit is broken, and nothing runs twice at once.
    #[test]
    fn every_batch_ends(seed in 0_u64.., jobs in 1_usize..40, concurrency in 1_usize..6) {
        let mut random = seed | 1;
        let mut pick = |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % n
        };
        let mut q = queue(concurrency);
        q.set_most("b", Some(1));
        let chains: [&[&str]; 4] = [&["a"], &["a", "b"], &["b:x", "b:y"], &["c", "a", "b"]];
        for _ in 0..jobs {
            let chain = chains[usize::try_from(pick(4)).unwrap()];
            push(&mut q, chain, u32::try_from(pick(3)).unwrap());
        }
        let (mut now, mut running, mut steps) = (0_i64, Vec::<Start>::new(), 0);
        while !q.open().is_empty() {
            steps += 1;
            proptest::prop_assert!(steps < 100_000, "no end");
            q.doomed();
            while let Some(start) = q.next(at(now), &mut Vec::new()) {
                proptest::prop_assert!(running.iter().all(|r| r.index != start.index));
                running.push(start);
            }
            proptest::prop_assert!(running.len() <= concurrency);
            proptest::prop_assert!(running.iter().filter(|r| r.link.agent == "b").count() <= 1);
            if running.is_empty() {
                if let Some(due) = q.next_due() {
                    now = (due.as_second() - at(0).as_second()).max(now) + 1;
                }
                continue;
            }
            let done = running.swap_remove(usize::try_from(pick(running.len() as u64)).unwrap());
            let ended = match pick(8) {
                0 => failed(CauseKind::Failed),
                1 => failed(CauseKind::RateLimited),
                2 => limited_until(now + 30),
                3 => failed(CauseKind::Quota),
                4 if pick(4) == 0 => failed(CauseKind::Auth),
                _ => ok(),
            };
            q.ended(done.index, &done.link, &ended, at(now));
        }
        proptest::prop_assert!(running.is_empty() && q.running() == 0);
    }
}
