//! `kill -9` of planex and of its whole process group at random instants of a run of twelve tasks, each in a tree of its
//! own, with merges into a tree that the user has changes in.
//!
//! `PLANEX_KILLS=100` sets how many kills there are in all; the default keeps the test short.

use std::collections::BTreeMap;
use std::time::Duration;

use planex_core::job::{JobOutcome, JobStatus};
use planex_testkit::TestEnv;
use planex_testkit::scripted::ScriptedAgent;
use planex_testkit::waves::{left, nothing_left, planning, session, task};
use serde_json::{Value, json};

use crate::{column, planex, project, said};

/// Kills of one session before it may go on to its end.
const PER_SESSION: usize = 5;

fn twelve() -> Vec<Value> {
    let first = (1..=4).map(|n| task(&format!("T{n}"), &[]));
    let second = (5..=8).map(|n| task(&format!("T{n}"), &[&format!("T{}", n - 4), "T1"]));
    let third = (9..=12).map(|n| task(&format!("T{n}"), &[&format!("T{}", n - 4)]));
    let checked = |mut task: Value| {
        task["execution_directives"] = json!(format!("$ test -s out/{}.txt", task["id"].as_str().unwrap()));
        task
    };
    first.chain(second).chain(third).map(checked).collect()
}

/// Pseudo-random, so that a failure can be told by its seed; the instants themselves vary with the machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[test]
fn every_resume_ends_with_each_task_completed_once() {
    let kills: usize = std::env::var("PLANEX_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut dice = Dice(u64::from(std::process::id()));
    println!("seed {}", dice.0);
    let mut done = 0;
    while done < kills {
        done += one_session(&mut dice, PER_SESSION.min(kills - done));
    }
    println!("{done} kills");
}

/// Starts a session, kills it up to `most` times, lets it end, checks it. Gives how many kills hit.
fn one_session(dice: &mut Dice, most: usize) -> usize {
    let mut rules = planning(&twelve());
    rules.push(json!({"when": {"role": "execute"}, "do": [
        {"spawn": {"kind": "setsid", "sleep_ms": 60_000}},
        {"sleep_ms": 60}, {"write": {"path": "out/{id}.txt", "content": "{id}\n"}}, {"sleep_ms": 20}, "completed",
    ]}));
    let (env, agent) = project(&json!({ "rules": rules }), "");
    env.write("src/main.rs", "fn main() { dirty() }\n");
    env.write("notes.txt", "the user's\n");
    let _ = env.git(&["add", "notes.txt"]);
    env.write("notes.txt", "the user's, and more\n");
    let mut hits = 0;
    for round in 0..most {
        let mut run = planex(&env, &words(&go_on(&env))).spawn();
        std::thread::sleep(Duration::from_millis(dice.below(if round == 0 { 1500 } else { 900 })));
        if run.is_done() {
            let output = run.wait();
            assert!(output.code() == Some(0), "{}", said(&output));
            break;
        }
        if dice.below(2) == 0 {
            run.signal(9);
        } else {
            run.kill_group();
        }
        drop(run);
        hits += 1;
        nothing_left(&env);
    }
    finish(&env, &agent);
    hits
}

/// Resumes; starts where planex was killed before there was a session.
fn go_on(env: &TestEnv) -> Vec<String> {
    let sessions = std::fs::read_dir(env.dir().join(".workflow/.lite-plan")).into_iter().flatten().flatten();
    let mut there =
        sessions.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| !name.starts_with('.'));
    let args = match (there.next(), there.next()) {
        (None, _) => ["waves", "-y", "Make twelve files"].map(str::to_owned),
        (Some(id), None) => ["resume", "-y", &id].map(str::to_owned),
        (Some(one), Some(other)) => panic!("one session, however often planex was killed: {one}, {other}"),
    };
    args.to_vec()
}

/// The user's tree, index and refs are those of a run that nobody disturbed.
fn as_without_kills(env: &TestEnv) {
    let status = env.git(&["status", "--porcelain", "-uall"]);
    let made = (1..=12).map(|n| format!("?? out/T{n}.txt"));
    let mut want: Vec<String> = [" M src/main.rs", "AM notes.txt"].map(str::to_owned).into_iter().chain(made).collect();
    let mut lines: Vec<String> = status.lines().map(str::to_owned).collect();
    want.sort();
    lines.sort();
    assert_eq!(lines, want);
    assert_eq!(env.read("src/main.rs"), "fn main() { dirty() }\n");
    assert_eq!(env.read("notes.txt"), "the user's, and more\n");
    assert_eq!(env.git(&["show", ":notes.txt"]).trim(), "the user's");
    let refs = env.git(&["for-each-ref", "--format=%(refname)"]);
    let other = |name: &&str| !name.starts_with("refs/planex/") || !name.contains("/w/");
    assert_eq!(refs.lines().filter(other).collect::<Vec<_>>(), ["refs/heads/main"], "{refs}");
    assert!(!session(env).join(".planex/swap").exists(), "no write into the tree is left unfinished");
    let trees = env.home().join(".cache/planex/trees");
    let left: Vec<_> = std::fs::read_dir(&trees).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "trees of tasks are gone: {left:?}");
}

fn words(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

fn finish(env: &TestEnv, agent: &ScriptedAgent) {
    let output = planex(env, &words(&go_on(env))).output();
    assert_eq!(output.code(), Some(0), "{}", said(&output));
    assert_eq!(left(env), Vec::<String>::new(), "nothing runs after a normal end");
    assert_eq!(column(env, "status"), ["completed"; 12]);
    for n in 1..=12 {
        assert_eq!(env.read(format!("out/T{n}.txt")), format!("T{n}\n"));
        assert_eq!(column(env, "files_modified")[n - 1], format!("out/T{n}.txt"), "{}", said(&output));
    }
    let mut finished: BTreeMap<String, usize> = BTreeMap::new();
    for entry in std::fs::read_dir(session(env).join(".planex/runs")).unwrap().flatten() {
        let Ok(bytes) = std::fs::read(entry.path().join("result.json")) else { continue };
        let outcome: JobOutcome = serde_json::from_slice(&bytes).expect("a result is whole or not there");
        if outcome.status == JobStatus::Completed {
            let name = entry.file_name().into_string().unwrap();
            *finished.entry(name.split("-retry").next().unwrap().to_owned()).or_default() += 1;
        }
    }
    assert!(finished.values().all(|count| *count == 1), "each task completes once: {finished:?}");
    as_without_kills(env);
    assert!(agent.runs().len() >= 15);
    for entry in std::fs::read_dir(session(env)).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(!name.contains("wave") && !name.contains(".tmp"), "left over: {name}");
    }
    let journal = std::fs::read_to_string(session(env).join(".planex/journal.ndjson")).unwrap();
    let torn = journal.lines().filter(|line| serde_json::from_str::<Value>(line).is_err()).count();
    assert!(torn <= PER_SESSION, "at most the last line of a killed run is torn: {torn}");
}
