use std::sync::atomic::{AtomicUsize, Ordering};

use camino::Utf8Path;
use planex_core::gate::{Choice, Question};
use planex_core::time::Zone;

use super::*;
use crate::journal::Journal;

/// Answers with an option, counting how often it is asked; places an answer from outside first, if told to.
struct Teller {
    option: Option<&'static str>,
    outside: Option<(SessionPaths, Approvals, &'static str)>,
    asked: Arc<AtomicUsize>,
}

impl Asker for Teller {
    fn ask(&mut self, gate: &Gate, outside: &dyn Fn() -> Option<Answer>) -> Asked {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some((paths, approvals, option)) = &self.outside {
            let pairs = [("q".to_owned(), (*option).to_owned())];
            answer_gate(paths, approvals, &pairs, None, Answerer::Command, gate.opened_at).unwrap();
            assert!(outside().is_some(), "whoever waits can see it");
        }
        match self.option {
            Some(option) => {
                let pairs = [("q".to_owned(), option.to_owned())];
                Asked::Answered(gate.answer(&pairs, None, Answerer::Terminal, gate.opened_at).unwrap())
            }
            None => Asked::Interrupted,
        }
    }
}

struct Lab {
    _temp: tempfile::TempDir,
    journal: Journal,
    gates: Gates,
    asked: Arc<AtomicUsize>,
}

fn lab(policy: GatePolicy, option: Option<&'static str>, outside: Option<&'static str>) -> Lab {
    let temp = tempfile::tempdir().unwrap();
    let paths = SessionPaths::new(Utf8Path::from_path(temp.path()).unwrap().join("wpp-x"));
    std::fs::create_dir_all(paths.gates()).unwrap();
    let journal = Journal::open(&paths.journal(), Arc::default(), Clock::system(), Zone::default()).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let store = ApprovalStore::new(Some(paths.dir().with_file_name("approvals")));
    // Another process has its own view of the same record.
    let outside = outside.map(|option| (paths.clone(), store.of(&paths), option));
    let approvals = store.of(&paths);
    let asker: Box<dyn Asker> = Box::new(Teller { option, outside, asked: Arc::clone(&asked) });
    let asker = Arc::new(Mutex::new(asker));
    let gates = Gates { paths, events: journal.sink(), clock: Clock::system(), policy, asker, approvals };
    Lab { _temp: temp, journal, gates, asked }
}

fn gate(id: &str, approves: Option<&str>) -> Gate {
    Gate {
        id: id.to_owned(),
        title: "Go on?".to_owned(),
        body: "T1 does x".to_owned(),
        questions: vec![Question {
            id: "q".to_owned(),
            header: "Go".to_owned(),
            question: "Execute the tasks?".to_owned(),
            options: vec![Choice::new("execute", "Execute", "run them"), Choice::new("cancel", "Cancel", "")],
            default: "execute".to_owned(),
            free_text: false,
        }],
        approves: approves.map(str::to_owned),
        opened_at: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn option(result: GateResult) -> (String, Answerer) {
    match result {
        GateResult::Passed(answer) => (answer.option("q").unwrap().to_owned(), answer.by),
        GateResult::Deferred(gate) => panic!("{} is deferred", gate.id),
    }
}

#[test]
fn an_answer_is_on_disk_and_in_the_journal_before_anything_acts() {
    let lab = lab(GatePolicy::Ask, Some("cancel"), None);
    let passed = option(lab.gates.open(gate("tasks", Some("h1"))).unwrap());
    assert_eq!(passed, ("cancel".to_owned(), Answerer::Terminal));
    let paths = &lab.gates.paths;
    assert_eq!(load_answer(paths, "tasks").unwrap().unwrap().approves.as_deref(), Some("h1"));
    assert!(load_gate(paths, "tasks").unwrap().is_some());
    let kinds: Vec<String> = crate::journal::read(&paths.journal())
        .unwrap()
        .events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["gate_opened", "gate_answered"]);
    drop(lab.journal);
}

#[test]
fn yes_takes_the_default_but_never_passes_a_strict_gate() {
    let lab = lab(GatePolicy::Yes, Some("cancel"), None);
    assert_eq!(option(lab.gates.open(gate("tasks", None)).unwrap()), ("execute".to_owned(), Answerer::Yes));
    assert!(matches!(lab.gates.open_strict(gate("budget", None)).unwrap(), GateResult::Deferred(_)));
    assert_eq!(lab.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn a_deferred_gate_is_passed_by_an_answer_to_exactly_what_was_shown() {
    let lab = lab(GatePolicy::Defer, None, None);
    assert!(matches!(lab.gates.open(gate("tasks", Some("h1"))).unwrap(), GateResult::Deferred(_)));
    let pairs = [(String::new(), "exec".to_owned())];
    let now = jiff::Timestamp::UNIX_EPOCH;
    answer_gate(&lab.gates.paths, &lab.gates.approvals, &pairs, None, Answerer::Command, now).unwrap();
    assert!(open_gates(&lab.gates.paths).unwrap().is_empty());

    // The content changed meanwhile: the gate comes back.
    assert!(matches!(lab.gates.open(gate("tasks", Some("h2"))).unwrap(), GateResult::Deferred(_)));
    answer_gate(&lab.gates.paths, &lab.gates.approvals, &pairs, None, Answerer::Command, now).unwrap();
    let id = lab.gates.id("tasks", Some("h2")).unwrap();
    assert_eq!(id, "tasks");
    assert_eq!(option(lab.gates.open(gate(&id, Some("h2"))).unwrap()), ("execute".to_owned(), Answerer::Command));
    // It counted once.
    assert_eq!(lab.gates.id("tasks", Some("h2")).unwrap(), "tasks-2");
}

#[test]
fn whoever_answers_first_answers() {
    let lab = lab(GatePolicy::Ask, Some("cancel"), Some("execute"));
    assert_eq!(option(lab.gates.open(gate("tasks", None)).unwrap()), ("execute".to_owned(), Answerer::Command));
}

#[test]
fn an_interrupted_prompt_leaves_the_gate_open() {
    let lab = lab(GatePolicy::Ask, None, None);
    assert_eq!(lab.gates.open(gate("tasks", None)).unwrap_err().exit_code(), 130);
    assert_eq!(open_gates(&lab.gates.paths).unwrap().len(), 1);
}

#[test]
fn a_wrong_answer_says_what_would_be_right() {
    let lab = lab(GatePolicy::Defer, None, None);
    let now = jiff::Timestamp::UNIX_EPOCH;
    let none = answer_gate(&lab.gates.paths, &lab.gates.approvals, &[], None, Answerer::Command, now).unwrap_err();
    assert_eq!((none.exit_code(), none.message.as_str()), (2, "no gate of wpp-x is open"));
    lab.gates.open(gate("tasks", None)).unwrap();
    let wrong = [("q".to_owned(), "maybe".to_owned())];
    let error = answer_gate(&lab.gates.paths, &lab.gates.approvals, &wrong, None, Answerer::Command, now).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert_eq!(error.hints, ["answer with: planex answer wpp-x q=execute"]);
}

#[test]
fn gates_are_text_with_one_line_to_answer() {
    let text = render_text(&gate("tasks", None), "my session");
    insta::assert_snapshot!(text, @r"
    Go on?

    T1 does x

    q: Execute the tasks?
      execute (default): Execute - run them
      cancel: Cancel

    planex answer 'my session' q=execute
    planex resume 'my session'
    ");
}

#[test]
fn a_gate_id_never_leaves_its_folder() {
    let lab = lab(GatePolicy::Yes, None, None);
    for id in ["../x", "a/b", ".hidden", ""] {
        assert!(lab.gates.open(gate(id, None)).is_err(), "{id}");
    }
}

/// What the journal warns of.
fn warnings(lab: &Lab) -> Vec<String> {
    lab.gates.events.flush().unwrap();
    let events = crate::journal::read(&lab.gates.paths.journal()).unwrap().events;
    let text = |event: &planex_core::event::Event| match &event.kind {
        EventKind::Notice { level: Level::Warning, text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// What whoever can write into the session's folder can do: an answer as planex itself would write it.
fn forge(lab: &Lab, gate: &Gate) -> Answer {
    let answer = gate.defaults(Answerer::Terminal, gate.opened_at);
    let text = serde_json::to_vec_pretty(&answer).unwrap();
    std::fs::write(lab.gates.paths.answer(&gate.id), text).unwrap();
    answer
}

#[test]
fn an_answer_that_nobody_gave_does_not_count() {
    let lab = lab(GatePolicy::Defer, None, None);
    let gate = gate("tasks", Some("h1"));
    assert!(matches!(lab.gates.open(gate.clone()).unwrap(), GateResult::Deferred(_)));
    assert_eq!(warnings(&lab), [""; 0]);
    forge(&lab, &gate);
    assert_eq!(lab.gates.newest("tasks").unwrap(), None);
    assert_eq!(lab.gates.id("tasks", Some("h1")).unwrap(), "tasks");
    assert!(matches!(lab.gates.open(gate.clone()).unwrap(), GateResult::Deferred(_)), "asked again");
    let said = warnings(&lab);
    assert!(said.len() == 1 && said[0].contains("`tasks`") && said[0].contains("asked again"), "{said:?}");

    // Nor one that was changed after it was given.
    let pairs = [("q".to_owned(), "cancel".to_owned())];
    let answer = |gate: &Gate| {
        answer_gate(&lab.gates.paths, &lab.gates.approvals, &pairs, None, Answerer::Command, gate.opened_at)
    };
    answer(&gate).unwrap();
    forge(&lab, &gate);
    assert!(matches!(lab.gates.open(gate.clone()).unwrap(), GateResult::Deferred(_)));
    // A forged one is not in the way of the user's.
    forge(&lab, &gate);
    answer(&gate).unwrap();
    assert_eq!(option(lab.gates.open(gate).unwrap()), ("cancel".to_owned(), Answerer::Command));
}

#[test]
fn an_answer_counts_once_and_a_later_one_is_not_taken_away() {
    let lab = lab(GatePolicy::Ask, Some("execute"), None);
    lab.gates.open(gate("tasks", Some("h1"))).unwrap();
    assert!(lab.gates.newest("tasks").unwrap().is_some());
    // Everything of the gate is taken away, or replaced: its id is not used again, and nothing is approved.
    let paths = &lab.gates.paths;
    let kept = std::fs::read(paths.answer("tasks")).unwrap();
    std::fs::remove_file(paths.answer("tasks")).unwrap();
    assert_eq!(lab.gates.newest("tasks").unwrap(), None);
    std::fs::remove_file(paths.gate("tasks")).unwrap();
    assert_eq!(lab.gates.newest("tasks").unwrap(), None);
    assert_eq!(lab.gates.id("tasks", Some("h1")).unwrap(), "tasks-2");
    std::fs::write(paths.answer("tasks"), kept).unwrap();
    assert_eq!(lab.gates.newest("tasks").unwrap(), None, "the gate itself is gone");
}

#[test]
fn a_gate_that_planex_did_not_ask_is_not_answered() {
    let lab = lab(GatePolicy::Defer, None, None);
    let shown = gate("tasks", Some("h1"));
    lab.gates.open(shown.clone()).unwrap();
    let pairs = [("q".to_owned(), "execute".to_owned())];
    let answer =
        || answer_gate(&lab.gates.paths, &lab.gates.approvals, &pairs, None, Answerer::Command, shown.opened_at);
    // Something harmless is shown for what is to be approved.
    let sly = Gate { body: "nothing happens".to_owned(), ..shown.clone() };
    std::fs::write(lab.gates.paths.gate("tasks"), serde_json::to_vec(&sly).unwrap()).unwrap();
    let error = answer().unwrap_err();
    assert_eq!((error.exit_code(), error.hints), (2, vec!["`planex resume wpp-x` asks it again".to_owned()]));
    assert_eq!(load_answer(&lab.gates.paths, "tasks").unwrap(), None);
    lab.gates.open(shown.clone()).unwrap();
    answer().unwrap();
}

#[test]
fn a_session_in_another_folder_has_no_answers() {
    let lab = lab(GatePolicy::Yes, None, None);
    lab.gates.open(gate("tasks", Some("h1"))).unwrap();
    let there = lab.gates.paths.dir().with_file_name("wpp-y");
    std::fs::rename(lab.gates.paths.dir(), &there).unwrap();
    let paths = SessionPaths::new(there);
    let store = ApprovalStore::new(Some(paths.dir().with_file_name("approvals")));
    let gates = Gates { approvals: store.of(&paths), paths, ..lab.gates.clone() };
    assert_eq!(gates.newest("tasks").unwrap(), None);
    assert_eq!(gates.id("tasks", Some("h1")).unwrap(), "tasks");
    // Back where it was, they count; the record of a session that is gone goes.
    std::fs::rename(gates.paths.dir(), lab.gates.paths.dir()).unwrap();
    assert!(lab.gates.newest("tasks").unwrap().is_some());
    store.remove_orphans().unwrap();
    assert!(lab.gates.newest("tasks").unwrap().is_some());
    std::fs::rename(lab.gates.paths.dir(), gates.paths.dir()).unwrap();
    store.remove_orphans().unwrap();
    std::fs::rename(gates.paths.dir(), lab.gates.paths.dir()).unwrap();
    assert_eq!(lab.gates.newest("tasks").unwrap(), None);
}

#[test]
fn where_nothing_can_be_kept_an_answer_counts_for_this_run() {
    let made = lab(GatePolicy::Ask, Some("execute"), None);
    // A file is in the way of the folder.
    let folder = made.gates.paths.dir().with_file_name("approvals");
    std::fs::write(&folder, "").unwrap();
    for id in ["angles", "tasks"] {
        made.gates.open(gate(id, Some("h1"))).unwrap();
        assert!(made.gates.newest(id).unwrap().is_some());
    }
    let said = warnings(&made);
    assert!(said.len() == 1 && said[0].contains(folder.as_str()) && said[0].contains("XDG_DATA_HOME"), "{said:?}");
    // The next process knows nothing of it.
    let approvals = ApprovalStore::new(Some(folder.clone())).of(&made.gates.paths);
    let next = Gates { approvals, ..made.gates.clone() };
    assert_eq!(next.newest("tasks").unwrap(), None);

    // `planex answer` can only leave an answer for others.
    let next = Gates { policy: GatePolicy::Defer, ..next };
    next.open(gate("failed", None)).unwrap();
    let pairs = [("q".to_owned(), "execute".to_owned())];
    let answer =
        answer_gate(&next.paths, &next.approvals, &pairs, None, Answerer::Command, jiff::Timestamp::UNIX_EPOCH);
    let error = answer.unwrap_err();
    assert!(error.message.contains(folder.as_str()) && !error.hints.is_empty(), "{error:?}");
    assert_eq!(load_answer(&next.paths, "failed").unwrap(), None);
}
