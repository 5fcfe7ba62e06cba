//! Requests of other processes: what they do, and that a kill at any instant loses none.

use super::*;
use crate::requests::{Request, forget_cancels, place, waiting};

const LONG: Act = Act::Sleep(Duration::from_secs(60));

fn tasks(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

impl Lab {
    fn asks(&self, request: &Request) {
        place(&self.paths, request, planex_sys::clock::now()).unwrap();
    }

    fn asked(&self) -> Vec<Request> {
        waiting(&self.paths).unwrap().into_iter().map(|placed| placed.request).collect()
    }

    /// Leaves the request as soon as the first run has started.
    fn asks_once_it_runs(&self, request: Request) {
        let (script, paths) = (Arc::clone(&self.script), self.paths.clone());
        tokio::spawn(async move {
            while script.runs().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            place(&paths, &request, planex_sys::clock::now()).unwrap();
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_processes_can_cancel_and_skip_jobs() {
    let mut lab = Lab::new().acts(&[("a", &[LONG])]);
    lab.policy.concurrency = 1;
    lab.asks(&Request::Skip { tasks: tasks(&["c"]) });
    lab.asks(&Request::Skip { tasks: tasks(&["elsewhere"]) });
    lab.asks_once_it_runs(Request::Cancel { tasks: tasks(&["a"]) });
    let (report, all) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 3)).await;
    assert_eq!(report, BatchReport::default());
    let expected = [(0, JobStatus::Cancelled), (1, JobStatus::Completed), (2, JobStatus::Cancelled)];
    assert_eq!(statuses(&all), expected, "a cancelled job is not retried");
    let skipped = |all: &[Finished]| all.iter().filter(|f| f.ended == Ended::Skipped).count();
    assert_eq!(skipped(&all), 2);
    assert_eq!(lab.asked(), [Request::Skip { tasks: tasks(&["elsewhere"]) }], "what is not this batch's stays");

    // The requests are gone, what they led to is not.
    let (_, again) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 3)).await;
    assert_eq!((statuses(&again), skipped(&again)), (expected.to_vec(), 2));
    assert_eq!(lab.script.runs(), ["s-a", "s-b"]);
    for base in ["s-a", "s-c"] {
        registry::supersede(&lab.paths, base).unwrap();
    }
    lab.script.acts.lock().unwrap().clear();
    let (_, retried) = lab.run(lab.jobs(&["a", "b", "c"], &["x"], 3)).await;
    assert!(retried.iter().all(|f| f.outcome.status == JobStatus::Completed), "a retry by the user runs them");
    assert_eq!(lab.script.runs(), ["s-a", "s-b", "s-a-retry", "s-c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_there_until_its_effect_is_on_disk() {
    let mut lab = Lab::new().acts(&[("a", &[LONG])]);
    lab.policy.concurrency = 1;
    let request = Request::Cancel { tasks: tasks(&["a", "c"]) };
    lab.asks_once_it_runs(request.clone());
    let (mut dispatcher, _journal) = lab.dispatcher();
    let mut told = Vec::new();
    dispatcher
        .run(lab.jobs(&["a", "b", "c"], &["x"], 0), |finished| {
            if finished.ended == Ended::Skipped {
                let kept = registry::skipped(&lab.paths, &finished.outcome.run_id).unwrap();
                told.push((kept.is_some(), lab.asked() == [request.clone()]));
            }
            Ok(Next::GoOn)
        })
        .await
        .unwrap();
    assert_eq!(told, [(true, true); 2]);
    assert_eq!(lab.asked(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_fails_before_it_hears_of_the_request_is_not_tried_again() {
    let lab = Lab::new().acts(&[("a", &[Act::Fail(CauseKind::Failed)])]);
    let outcome = |status| {
        let cause = Cause::new(CauseKind::Failed, "by itself");
        attempt::not_started(&lab.job("a", &["x"], 0), status, cause, 1, &Clock::system())
    };
    registry::skip(&lab.paths, "s-a", &outcome(JobStatus::Failed)).unwrap();
    let (_, all) = lab.run(lab.jobs(&["a"], &["x"], 5)).await;
    assert_eq!((all[0].outcome.status, all[0].ended), (JobStatus::Failed, Ended::Reused));
    assert!(lab.script.runs().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_paused_and_cancelled_before_anything_starts_or_while_it_runs() {
    let cancel = Request::Cancel { tasks: vec![] };
    for (request, stop) in [(Request::Pause, Stop::Paused), (cancel.clone(), Stop::Cancelled)] {
        let stays = if request == cancel { vec![cancel.clone()] } else { vec![] };
        let lab = Lab::new();
        lab.asks(&request);
        let (report, all) = lab.run(lab.jobs(&["a", "b"], &["x"], 0)).await;
        assert_eq!((report.stop, all.len(), lab.script.runs().len()), (Some(stop.clone()), 0, 0));
        assert_eq!(lab.asked(), stays, "a cancellation goes when the session says that it is cancelled");
        forget_cancels(&lab.paths).unwrap();
        assert_eq!(lab.asked(), []);

        let mut lab = Lab::new().acts(&[("a", &[Act::Sleep(Duration::from_millis(300))])]);
        lab.policy.concurrency = 1;
        lab.asks_once_it_runs(request);
        let (report, all) = lab.run(lab.jobs(&["a", "b"], &["x"], 0)).await;
        let paused = stop == Stop::Paused;
        assert_eq!((report.stop, all.len()), (Some(stop), usize::from(paused)), "a pause lets what runs end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_can_be_taken_back() {
    let lab = Lab::new();
    lab.asks(&Request::Pause);
    lab.asks(&Request::Unpause);
    let (report, all) = lab.run(lab.jobs(&["a"], &["x"], 0)).await;
    assert_eq!((report, all.len()), (BatchReport::default(), 1));
    assert!(waiting(&lab.paths).unwrap().is_empty());
}
