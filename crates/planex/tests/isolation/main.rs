//! Waves whose tasks have trees of their own (spec 70), with the real binary and scripted agents.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests: what fails here fails the test")]

mod baseline;
mod claims;
mod gates;
mod into;
mod keep;
mod replaced;
mod requests;
mod submodules;
mod undo;
mod wave;

use std::time::{Duration, Instant};

use planex_core::csv::Table;
use planex_testkit::scripted::ScriptedAgent;
use planex_testkit::waves::{planning, session};
use planex_testkit::{Output, Run, TestEnv};
use serde_json::{Value, json};

/// A git project, an agent with a script, and planex.
struct Place {
    env: TestEnv,
    agent: ScriptedAgent,
}

impl Place {
    /// A project with these files, whose plan is these tasks; each rule says what the agent of a task does.
    fn new(files: &[(&str, &str)], tasks: &[Value], rules: Vec<Value>) -> Self {
        Self::with_config("", files, tasks, rules)
    }

    fn with_config(config: &str, files: &[(&str, &str)], tasks: &[Value], rules: Vec<Value>) -> Self {
        let env = TestEnv::new();
        let script: Vec<Value> = planning(tasks).into_iter().chain(rules).collect();
        let agent = ScriptedAgent::new(&env.root().join("agent"), &json!({ "rules": script }));
        env.write(env.home().join(".config/planex/config.toml"), format!("{config}\n{}", agent.toml("scripted")));
        for (path, content) in files {
            env.write(path, content);
        }
        env.git_init();
        Self { env, agent }
    }

    fn planex(&self, args: &[&str]) -> Run {
        let planex = self.env.command(env!("CARGO_BIN_EXE_planex"));
        planex.args(args).args(["--agent", "scripted"]).timeout(Duration::from_secs(120))
    }

    /// Runs planex; it must end with this code.
    #[track_caller]
    fn exits(&self, args: &[&str], code: i32) -> Output {
        self.planex(args).output().exits(code)
    }

    /// Plans with deferred gates and approves: execution has not begun. Gives the session's id.
    #[track_caller]
    fn approved(&self, args: &[&str]) -> String {
        let all: Vec<&str> =
            ["waves", "--no-explore", "--gates", "defer", "Do it"].into_iter().chain(args.iter().copied()).collect();
        let _ = self.exits(&all, 4);
        let id = self.id();
        let _ = self.exits(&["answer", &id, "confirm=execute"], 0);
        id
    }

    /// Goes on with deferred gates.
    #[track_caller]
    fn resume(&self, args: &[&str], code: i32) -> Output {
        let id = self.id();
        let all: Vec<&str> = ["resume", &id, "--gates", "defer"].into_iter().chain(args.iter().copied()).collect();
        self.exits(&all, code)
    }

    #[track_caller]
    fn answer(&self, option: &str) {
        let _ = self.exits(&["answer", &self.id(), &format!("confirm={option}")], 0);
    }

    fn id(&self) -> String {
        session(&self.env).file_name().unwrap().to_owned()
    }

    /// A cell of tasks.csv.
    #[track_caller]
    fn cell(&self, task: &str, column: &str) -> String {
        let table = Table::parse(&std::fs::read(session(&self.env).join("tasks.csv")).unwrap()).unwrap();
        let row = (0..table.rows.len()).find(|row| table.cell(*row, "id") == Some(task)).unwrap();
        table.cell(row, column).unwrap().to_owned()
    }

    /// Status of each of these tasks must be this one.
    #[track_caller]
    fn are(&self, status: &str, tasks: &[&str]) {
        for task in tasks {
            let found = (self.cell(task, "status"), self.cell(task, "error"));
            assert_eq!(found.0, status, "{task}: {}", found.1);
        }
    }

    /// The task's error must hold each of these.
    #[track_caller]
    fn error_says(&self, task: &str, parts: &[&str]) {
        let error = self.cell(task, "error");
        for part in parts {
            assert!(error.contains(part), "{task} should say {part:?}: {error}");
        }
    }

    /// How often the agent of a task ran.
    fn runs(&self, task: &str) -> usize {
        self.agent.runs().iter().filter(|run| run.role == "execute" && run.id == task).count()
    }

    /// What planex must leave alone and take away, whatever happened: branch, stash, worktrees, trees of tasks.
    #[track_caller]
    fn is_tidy(&self) {
        assert_eq!(self.env.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_eq!(self.env.git(&["stash", "list"]), "");
        assert_eq!(self.env.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(self.trees(), Vec::<String>::new(), "trees of tasks are left");
    }

    /// Names of sessions whose trees are there.
    fn trees(&self) -> Vec<String> {
        let folder = self.env.home().join(".cache/planex/trees");
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    /// planex's hidden refs.
    fn refs(&self) -> String {
        self.env.git(&["for-each-ref", "--format=%(refname)", "refs/planex/"])
    }
}

/// A task with its own scope.
fn task(id: &str, scope: &str, deps: &[&str]) -> Value {
    let mut task = planex_testkit::waves::task(id, deps);
    task["scope"] = json!(scope);
    task["context_from"] = json!([]);
    task
}

/// A task with its own scope and directives.
fn checked(id: &str, scope: &str, deps: &[&str], directives: &str) -> Value {
    let mut task = task(id, scope, deps);
    task["execution_directives"] = json!(directives);
    task
}

/// What the agent of a task does, before it reports success.
fn does(id: &str, actions: &Value) -> Value {
    let actions: Vec<Value> = actions.as_array().unwrap().iter().cloned().chain([json!("completed")]).collect();
    json!({"when": {"role": "execute", "id": id}, "do": actions})
}

fn writes(path: &str, content: &str) -> Value {
    json!({"write": {"path": path, "content": content}})
}

fn shell(line: &str) -> Value {
    json!({"run": ["sh", "-ec", line]})
}

/// Waits for `done`, at most 20 seconds.
#[track_caller]
fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}
