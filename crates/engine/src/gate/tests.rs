use std::sync::atomic::{AtomicUsize, Ordering};

use camino::Utf8Path;
use planex_core::gate::{Choice, Question};
use planex_core::time::Zone;

use super::*;
use crate::journal::Journal;

/// Answers with an option, counting how often it is asked; places an answer from outside first, if told to.
struct Teller {
    option: Option<&'static str>,
    outside: Option<(SessionPaths, &'static str)>,
    asked: Arc<AtomicUsize>,
}

impl Asker for Teller {
    fn ask(&mut self, gate: &Gate, outside: &dyn Fn() -> Option<Answer>) -> Asked {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some((paths, option)) = &self.outside {
            let pairs = [("q".to_owned(), (*option).to_owned())];
            answer_gate(paths, &pairs, None, Answerer::Command, gate.opened_at).unwrap();
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
    let outside = outside.map(|option| (paths.clone(), option));
    let asker: Box<dyn Asker> = Box::new(Teller { option, outside, asked: Arc::clone(&asked) });
    let gates =
        Gates { paths, events: journal.sink(), clock: Clock::system(), policy, asker: Arc::new(Mutex::new(asker)) };
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
    answer_gate(&lab.gates.paths, &pairs, None, Answerer::Command, now).unwrap();
    assert!(open_gates(&lab.gates.paths).unwrap().is_empty());

    // The content changed meanwhile: the gate comes back.
    assert!(matches!(lab.gates.open(gate("tasks", Some("h2"))).unwrap(), GateResult::Deferred(_)));
    answer_gate(&lab.gates.paths, &pairs, None, Answerer::Command, now).unwrap();
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
    let none = answer_gate(&lab.gates.paths, &[], None, Answerer::Command, now).unwrap_err();
    assert_eq!((none.exit_code(), none.message.as_str()), (2, "no gate of wpp-x is open"));
    lab.gates.open(gate("tasks", None)).unwrap();
    let wrong = [("q".to_owned(), "maybe".to_owned())];
    let error = answer_gate(&lab.gates.paths, &wrong, None, Answerer::Command, now).unwrap_err();
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
