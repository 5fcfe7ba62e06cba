//! The dispatcher with executors that do what a script says.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::event::{Event, EventKind};
use planex_core::job::{CauseKind, JobStatus, Mode, Role, Usage};
use planex_core::settings::{Budget, GatePolicy};
use planex_core::time::Zone;
use planex_sys::clock::Clock;

use super::executor::Running;
use super::*;
use crate::cancel::Cancel;
use crate::gate::{ApprovalStore, Asked, Asker, Gates, Nobody};
use crate::journal::Journal;
use crate::registry;
use crate::store::SessionPaths;

mod asked;

/// What a scripted run does.
#[derive(Clone)]
enum Act {
    Reply(serde_json::Value),
    Fail(CauseKind),
    LimitFor(Duration),
    Sleep(Duration),
    Panic,
}

/// Runs jobs by a script: acts by item, one an attempt, the last one repeated.
#[derive(Default)]
struct Script {
    acts: Mutex<HashMap<String, Vec<Act>>>,
    ran: Mutex<Vec<(String, String)>>,
    now: AtomicUsize,
    most: AtomicUsize,
    limits: HashMap<String, usize>,
}

impl Script {
    fn act(&self, item: &str) -> Act {
        let mut acts = self.acts.lock().unwrap();
        match acts.get_mut(item) {
            Some(list) if list.len() > 1 => list.remove(0),
            Some(list) => list[0].clone(),
            None => Act::Reply(serde_json::json!({"ok": true})),
        }
    }

    fn runs(&self) -> Vec<String> {
        self.ran.lock().unwrap().iter().map(|(run, _)| run.clone()).collect()
    }

    fn agents(&self) -> Vec<String> {
        self.ran.lock().unwrap().iter().map(|(_, agent)| agent.clone()).collect()
    }
}

struct Scripted(Arc<Script>);

impl Executor for Scripted {
    fn execute(&self, run: Execution) -> Running {
        let script = Arc::clone(&self.0);
        Box::pin(async move {
            script.ran.lock().unwrap().push((run.spec.run_id.clone(), run.agent.to_string()));
            let now = script.now.fetch_add(1, Ordering::SeqCst) + 1;
            script.most.fetch_max(now, Ordering::SeqCst);
            let _ = run.updates.send(planex_agents::Update::Session(format!("s-{}", run.spec.run_id))).await;
            for n in 0..20 {
                let _ = run.updates.send(planex_agents::Update::Activity(format!("step {n}"))).await;
            }
            let item = run.spec.expected_id.clone().unwrap();
            let mut status = JobStatus::Completed;
            let (mut cause, mut result) = (None, None);
            match script.act(&item) {
                Act::Reply(value) => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    result = Some(value);
                }
                Act::Fail(kind) => (status, cause) = (JobStatus::Failed, Some(Cause::new(kind, "scripted"))),
                Act::LimitFor(time) => {
                    let at = jiff::Timestamp::from_nanosecond(
                        planex_sys::clock::now().as_nanosecond() + i128::try_from(time.as_nanos()).unwrap(),
                    );
                    let limit = Cause { retry_at: at.ok(), ..Cause::new(CauseKind::RateLimited, "scripted") };
                    (status, cause) = (JobStatus::Failed, Some(limit));
                }
                Act::Sleep(time) => tokio::select! {
                    () = tokio::time::sleep(time) => result = Some(serde_json::json!({})),
                    () = run.end.cancelled() => {
                        (status, cause) = (JobStatus::Cancelled, Some(Cause::new(CauseKind::Cancelled, "ended")));
                    }
                },
                Act::Panic => panic!("scripted"),
            }
            script.now.fetch_sub(1, Ordering::SeqCst);
            let mut outcome = attempt::not_started(
                &JobRequest { spec: run.spec, chain: vec![run.agent], item: None, title: String::new(), retries: 0 },
                status,
                Cause::new(CauseKind::Failed, ""),
                1,
                &Clock::system(),
            );
            outcome.cause = cause;
            outcome.result = result;
            outcome.usage = Usage { input_tokens: 10, ..Usage::default() };
            outcome
        })
    }

    fn concurrency(&self, agent: &str) -> Option<usize> {
        self.0.limits.get(agent).copied()
    }
}

struct Lab {
    _temp: tempfile::TempDir,
    paths: SessionPaths,
    script: Arc<Script>,
    cancel: Cancel,
    events: Arc<Mutex<Vec<Event>>>,
    budget: Budget,
    policy: Policy,
    asker: fn() -> Box<dyn Asker>,
}

impl Lab {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let paths = SessionPaths::new(Utf8Path::from_path(temp.path()).unwrap().join("s"));
        for folder in [paths.runs(), paths.gates(), paths.requests()] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let fast = Duration::from_millis(5);
        Self {
            _temp: temp,
            paths,
            script: Arc::default(),
            cancel: Cancel::new(),
            events: Arc::default(),
            budget: Budget::default(),
            policy: Policy { rate_limit_base: fast, retry_base: fast, poll: fast, concurrency: 4, ..Policy::default() },
            asker: || Box::new(Nobody),
        }
    }

    fn acts(self, acts: &[(&str, &[Act])]) -> Self {
        for (item, list) in acts {
            self.script.acts.lock().unwrap().insert((*item).to_owned(), list.to_vec());
        }
        self
    }

    fn dispatcher(&self) -> (Dispatcher, Journal) {
        let seen = Arc::clone(&self.events);
        let surface = move |event: &Event| seen.lock().unwrap().push(event.clone());
        let surfaces: crate::journal::Surfaces = Arc::new(Mutex::new(vec![Box::new(surface)]));
        let journal = Journal::open(&self.paths.journal(), surfaces, Clock::system(), Zone::default()).unwrap();
        let gates = Gates {
            paths: self.paths.clone(),
            events: journal.sink(),
            clock: Clock::system(),
            policy: GatePolicy::Ask,
            asker: Arc::new(Mutex::new((self.asker)())),
            approvals: ApprovalStore::new(Some(self.paths.dir().with_file_name("approvals"))).of(&self.paths),
        };
        let dispatcher = Dispatcher::new(Parts {
            paths: self.paths.clone(),
            executor: Arc::new(Scripted(Arc::clone(&self.script))),
            events: journal.sink(),
            gates: Some(gates),
            clock: Clock::system(),
            zone: Zone::default(),
            cancel: self.cancel.clone(),
            budget: BudgetState::new(self.budget, Usage::default(), Duration::ZERO),
            policy: self.policy.clone(),
            watch: None,
        });
        (dispatcher, journal)
    }

    async fn run(&self, jobs: Vec<JobRequest>) -> (BatchReport, Vec<Finished>) {
        let (mut dispatcher, _journal) = self.dispatcher();
        let mut all = Vec::new();
        let report = dispatcher
            .run(jobs, |finished| {
                all.push(finished);
                Ok(Next::GoOn)
            })
            .await
            .unwrap();
        (report, all)
    }

    fn jobs(&self, items: &[&str], chain: &[&str], retries: u32) -> Vec<JobRequest> {
        items.iter().map(|item| self.job(item, chain, retries)).collect()
    }

    fn job(&self, item: &str, chain: &[&str], retries: u32) -> JobRequest {
        let spec = JobSpec {
            run_id: format!("s-{item}"),
            role: Role::Job,
            mode: Mode::Analysis,
            prompt: "do".into(),
            cwd: Utf8PathBuf::from("/"),
            session_dir: self.paths.dir().to_owned(),
            run_dir: Utf8PathBuf::new(),
            schema: None,
            expected_id: Some(item.to_owned()),
            item: None,
            limit: Duration::from_secs(60),
            idle: Duration::ZERO,
            grace: Duration::from_secs(1),
            model: None,
            extra_args: vec![],
            env: BTreeMap::new(),
            resume: None,
        };
        JobRequest {
            spec,
            chain: chain.iter().map(|name| AgentRef::parse(name)).collect(),
            item: Some(item.to_owned()),
            title: item.to_owned(),
            retries,
        }
    }
}

fn statuses(all: &[Finished]) -> Vec<(usize, JobStatus)> {
    let mut statuses: Vec<_> = all.iter().map(|f| (f.index, f.outcome.status)).collect();
    statuses.sort_by_key(|(index, _)| *index);
    statuses
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_runs_to_its_end_and_a_second_time_runs_nothing() {
    let lab = Lab::new().acts(&[("b", &[Act::Fail(CauseKind::NoResult)])]);
    let (report, all) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 0)).await;
    assert_eq!(report, BatchReport::default());
    let expected = [(0, JobStatus::Completed), (1, JobStatus::Failed), (2, JobStatus::Completed)];
    assert_eq!(statuses(&all), expected);
    let run = registry::load_run(&lab.paths.run("s-a")).unwrap();
    assert_eq!(run.agent_session(), Some("s-s-a"));
    assert_eq!(run.record.unwrap().attempt, 1);

    let (_, again) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 0)).await;
    assert_eq!(statuses(&again), expected);
    assert!(again.iter().all(|f| f.ended == Ended::Reused && f.attempts == 1));
    assert_eq!(lab.script.runs().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_have_runs_of_their_own_and_a_retry_by_the_user_starts_afresh() {
    let lab = Lab::new().acts(&[("a", &[Act::Fail(CauseKind::Failed)])]);
    let (_, all) = lab.run(lab.jobs(&["a"], &["x", "y:m"], 1)).await;
    assert_eq!(lab.script.runs(), ["s-a", "s-a-retry", "s-a-retry-2", "s-a-retry-3"]);
    assert_eq!(lab.script.agents(), ["x", "y:m", "x", "y:m"]);
    assert_eq!(all[0].attempts, 4);

    registry::supersede(&lab.paths, "s-a").unwrap();
    lab.script.acts.lock().unwrap().clear();
    let (_, all) = lab.run(lab.jobs(&["a"], &["x", "y:m"], 1)).await;
    assert_eq!(all[0].outcome.status, JobStatus::Completed);
    assert_eq!((all[0].attempts, all[0].outcome.attempt), (5, 5));
    assert_eq!(lab.script.runs().last().unwrap(), "s-a-retry-4");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_killed_in_flight_is_run_again_as_the_next_attempt() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.paths.run("s-a")).unwrap();
    // Cut off in the middle of a write by another program.
    std::fs::create_dir_all(lab.paths.run("s-b")).unwrap();
    std::fs::write(lab.paths.run("s-b").join("result.json"), "{\"run_id\": \"s-b\", \"sta").unwrap();
    let (_, all) = lab.run(lab.jobs(&["a", "b"], &["x"], 0)).await;
    assert_eq!(statuses(&all), [(0, JobStatus::Completed), (1, JobStatus::Completed)]);
    let mut runs = lab.script.runs();
    runs.sort();
    assert_eq!(runs, ["s-a-retry", "s-b-retry"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_item_is_another_job() {
    let lab = Lab::new();
    let with = |value: &str| {
        let mut job = lab.job("a", &["x"], 0);
        job.spec.item = Some([("v".to_owned(), value.into())].into_iter().collect());
        vec![job]
    };
    lab.run(with("1")).await;
    assert_eq!(lab.run(with("1")).await.1[0].ended, Ended::Reused);
    assert_eq!(lab.run(with("2")).await.1[0].ended, Ended::Ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_and_starts_keep_the_order() {
    let mut lab = Lab::new();
    lab.policy.concurrency = 3;
    let items: Vec<String> = (0..30).map(|n| format!("i{n:02}")).collect();
    let names: Vec<&str> = items.iter().map(String::as_str).collect();
    let (_, all) = lab.run(lab.jobs(&names, &["x"], 0)).await;
    assert_eq!(all.len(), 30);
    assert!(lab.script.most.load(Ordering::SeqCst) <= 3);
    let started: Vec<String> = lab
        .events
        .lock()
        .unwrap()
        .iter()
        .filter_map(|e| if let EventKind::JobStarted { run, .. } = &e.kind { Some(run.clone()) } else { None })
        .collect();
    assert_eq!(started.len(), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn activities_are_thinned_out() {
    let lab = Lab::new();
    lab.run(lab.jobs(&["a"], &["x"], 0)).await;
    let events = lab.events.lock().unwrap();
    let shown = events.iter().filter(|e| matches!(e.kind, EventKind::JobActivity { .. })).count();
    assert_eq!(shown, 1, "of 20 in an instant");
    let seqs: Vec<u64> = events.iter().map(|e| e.seq).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limits_are_waited_for_shown_and_survive_a_resume() {
    let lab =
        Lab::new().acts(&[("a", &[Act::LimitFor(Duration::from_millis(120)), Act::Reply(serde_json::json!({}))])]);
    let begun = std::time::Instant::now();
    let (_, all) = lab.run(lab.jobs(&["a", "b"], &["x"], 0)).await;
    assert_eq!(statuses(&all), [(0, JobStatus::Completed), (1, JobStatus::Completed)]);
    assert!(begun.elapsed() >= Duration::from_millis(100));
    assert!(lab.events.lock().unwrap().iter().any(|e| matches!(e.kind, EventKind::JobWaiting { .. })));

    let now = planex_sys::clock::now();
    let mut book = LimitBook::load(lab.paths.limits(), now).unwrap();
    book.note("x", now.checked_add(jiff::SignedDuration::from_millis(150)).unwrap()).unwrap();
    let begun = std::time::Instant::now();
    lab.run(lab.jobs(&["later"], &["x"], 0)).await;
    assert!(begun.elapsed() >= Duration::from_millis(120), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_login_ends_all_jobs_of_that_agent_unrun() {
    let mut lab = Lab::new().acts(&[("a", &[Act::Fail(CauseKind::Auth)])]);
    lab.policy.concurrency = 1;
    let (_, all) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 2)).await;
    assert_eq!(lab.script.runs(), ["s-a"]);
    assert!(all.iter().all(|f| f.outcome.cause.as_ref().unwrap().kind == CauseKind::Auth));
    assert_eq!(all.iter().filter(|f| f.ended == Ended::NotRun).count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_one_run_takes_down_no_other() {
    let lab = Lab::new().acts(&[("b", &[Act::Panic])]);
    let (_, all) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 0)).await;
    assert_eq!(statuses(&all), [(0, JobStatus::Completed), (1, JobStatus::Failed), (2, JobStatus::Completed)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_what_runs_and_leaves_the_rest_open() {
    let mut lab = Lab::new().acts(&[("b", &[Act::Sleep(Duration::from_secs(60))])]);
    lab.policy.concurrency = 1;
    let cancel = lab.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(80)).await;
        cancel.interrupt();
    });
    let (report, all) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 0)).await;
    assert_eq!(report, BatchReport { stop: Some(Stop::Interrupted), open: vec![1, 2] });
    assert_eq!(statuses(&all), [(0, JobStatus::Completed)]);
    // A resume runs both.
    let resumed = Lab { cancel: Cancel::new(), ..lab };
    resumed.script.acts.lock().unwrap().clear();
    let (report, all) = resumed.run(resumed.jobs(&["a", "b", "c"], &["x"], 0)).await;
    assert_eq!(report.open, [0_usize; 0]);
    assert_eq!(all.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_caller_can_stop_and_fail_the_batch() {
    let mut lab = Lab::new();
    lab.policy.concurrency = 1;
    let (mut dispatcher, _journal) = lab.dispatcher();
    let report = dispatcher.run(lab.jobs(&["a", "b", "c"], &["x"], 0), |_| Ok(Next::Stop)).await.unwrap();
    assert_eq!(report, BatchReport { stop: Some(Stop::Asked), open: vec![1, 2] });
    let failed = dispatcher
        .run(lab.jobs(&["d", "e"], &["x"], 0), |_| Err(crate::EngineError::internal("the disk is full")))
        .await;
    assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
}

struct Always(&'static str);

impl Asker for Always {
    fn ask(
        &mut self,
        gate: &planex_core::gate::Gate,
        _outside: &dyn Fn() -> Option<planex_core::gate::Answer>,
    ) -> Asked {
        let pairs = [(gate.questions[0].id.clone(), self.0.to_owned())];
        let by = planex_core::gate::Answerer::Terminal;
        Asked::Answered(gate.answer(&pairs, None, by, planex_sys::clock::now()).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_new_jobs_until_it_is_raised() {
    let mut lab = Lab::new();
    lab.policy.concurrency = 1;
    lab.budget.max_tokens = Some(20);
    let (report, all) = lab.run(lab.jobs(&["a", "b", "c", "d"], &["x"], 0)).await;
    assert!(matches!(report.stop, Some(Stop::Budget(_))));
    assert_eq!((all.len(), report.open), (2, vec![2, 3]));
    assert_eq!(crate::gate::open_gates(&lab.paths).unwrap().len(), 1);

    lab.asker = || Box::new(Always("raise"));
    let (report, all) = lab.run(lab.jobs(&["a", "b", "c", "d", "e", "f", "g"], &["x"], 0)).await;
    assert_eq!(report.stop, None);
    assert_eq!(all.len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_cannot_be_written_fails_the_batch_and_counts_nothing() {
    let lab = Lab::new();
    // The run's folder is in the way of its own result.
    std::fs::create_dir_all(lab.paths.run("s-b").join("result.json")).unwrap();
    std::fs::create_dir_all(lab.paths.run("s-b-retry").join("result.json")).unwrap();
    let (mut dispatcher, _journal) = lab.dispatcher();
    let error = dispatcher.run(lab.jobs(&["a", "b"], &["x"], 0), |_| Ok(Next::GoOn)).await.unwrap_err();
    assert!(error.to_string().contains("result.json"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn discoveries_of_results_are_on_the_board() {
    let reply = serde_json::json!({"discoveries": [{"type": "blocker", "data": {"issue": "x"}}, 7]});
    let lab = Lab::new().acts(&[("a", &[Act::Reply(reply)])]);
    lab.run(lab.jobs(&["a"], &["x"], 0)).await;
    let board = crate::board::load(&lab.paths).unwrap();
    assert_eq!(board.entries.len(), 1);
    assert_eq!(board.entries[0].worker, "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_jobs_take_about_as_long_as_their_work() {
    let mut lab = Lab::new();
    lab.policy.concurrency = 16;
    let items: Vec<String> = (0..1000).map(|n| format!("i{n}")).collect();
    let names: Vec<&str> = items.iter().map(String::as_str).collect();
    let (_, all) = lab.run(lab.jobs(&names, &["x"], 0)).await;
    assert_eq!(all.len(), 1000);
    let (_, again) = lab.run(lab.jobs(&names, &["x"], 0)).await;
    assert!(again.iter().all(|f| f.ended == Ended::Reused));
    assert_eq!(lab.script.runs().len(), 1000);
}
