//! Running a program to its end, with a limit, and saying what came out.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use crate::env::must;

/// A program about to run. Its environment is exactly the one of its [`crate::TestEnv`], plus what is set here.
#[derive(Debug, Clone)]
#[must_use]
pub struct Run {
    program: Utf8PathBuf,
    args: Vec<String>,
    dir: Utf8PathBuf,
    vars: BTreeMap<String, String>,
    stdin: Vec<u8>,
    timeout: Duration,
}

impl Run {
    pub(crate) fn new(
        program: Utf8PathBuf,
        dir: Utf8PathBuf,
        vars: BTreeMap<String, String>,
        timeout: Duration,
    ) -> Self {
        Self { program, args: Vec::new(), dir, vars, stdin: Vec::new(), timeout }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<str>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<str>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.vars.insert(name.to_owned(), value.as_ref().to_owned());
        self
    }

    /// Removes a variable.
    pub fn env_remove(mut self, name: &str) -> Self {
        self.vars.remove(name);
        self
    }

    /// Runs in this folder.
    pub fn current_dir(mut self, dir: impl Into<Utf8PathBuf>) -> Self {
        self.dir = dir.into();
        self
    }

    /// What it reads; nothing by default.
    pub fn stdin(mut self, input: impl AsRef<[u8]>) -> Self {
        self.stdin = input.as_ref().to_vec();
        self
    }

    /// How long it may run.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Starts it in a process group of its own.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn spawn(self) -> Running {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir).env_clear().envs(&self.vars);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let shown = format!("{} {}", self.program, self.args.join(" "));
        let started = Instant::now();
        let mut child = must(&format!("start `{shown}`"), spawn(&mut command));
        if let Some(mut pipe) = child.stdin.take() {
            let input = self.stdin;
            // In a thread: the program may write before it reads. One that reads nothing breaks the pipe, as it may.
            std::thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        Running { child, stdout, stderr, shown, started, timeout: self.timeout, done: false }
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be started, or takes too long.
    #[must_use]
    pub fn output(self) -> Output {
        self.spawn().wait()
    }
}

/// A running program; dropped, its group is killed.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    shown: String,
    started: Instant,
    timeout: Duration,
    done: bool,
}

impl Running {
    /// Process id, and id of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    ///
    /// # Panics
    /// When the system does not tell.
    pub fn is_done(&mut self) -> bool {
        must("wait", self.child.try_wait()).is_some()
    }

    /// Sends a signal to the program alone, by its number (2 INT, 9 KILL, 15 TERM).
    #[cfg(unix)]
    pub fn signal(&self, number: i32) {
        if let (Some(pid), Some(signal)) = (self.pid(), rustix::process::Signal::from_named_raw(number)) {
            // A program that has just ended is no fault of the test.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Kills its process group.
    #[cfg(unix)]
    pub fn kill_group(&self) {
        if let Some(pid) = self.pid() {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn kill_group(&mut self) {
        let _ = self.child.kill();
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it takes too long, with what it printed so far; its group is killed.
    #[must_use]
    pub fn wait(mut self) -> Output {
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = must("wait", self.child.try_wait()) {
                break Some(status);
            }
            if self.started.elapsed() > self.timeout {
                break None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let duration = self.started.elapsed();
        if status.is_none() {
            self.kill_group();
            let _ = self.child.wait();
        }
        self.done = true;
        let stdout = text(self.stdout.take());
        let stderr = text(self.stderr.take());
        match status {
            Some(status) => Output { shown: self.shown.clone(), status, stdout, stderr, duration },
            None => too_long(&self.shown, self.timeout, &stdout, &stderr),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.done {
            self.kill_group();
            let _ = self.child.wait();
        }
    }
}

/// What came out of a program.
#[derive(Debug, Clone)]
pub struct Output {
    shown: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output; what is not UTF-8 is replaced.
    pub stdout: String,
    /// Standard error; what is not UTF-8 is replaced.
    pub stderr: String,
    /// How long it ran.
    pub duration: Duration,
}

impl Output {
    /// The exit code; `None`: a signal ended it.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// It must have ended with 0.
    ///
    /// # Panics
    /// When not, with everything that it printed.
    #[must_use]
    pub fn success(self) -> Self {
        self.exits(0)
    }

    /// It must have ended with this code.
    ///
    /// # Panics
    /// When not, with everything that it printed.
    #[must_use]
    #[expect(clippy::panic, reason = "an assertion of tests")]
    pub fn exits(self, code: i32) -> Self {
        if self.code() != Some(code) {
            panic!(
                "`{}` ended with {}, not with {code}\n--- stdout\n{}\n--- stderr\n{}",
                self.shown, self.status, self.stdout, self.stderr
            );
        }
        self
    }

    /// Every line of standard output that is JSON.
    #[must_use]
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// A script that was just written may still be open for writing in a child that another thread is about to start.
fn spawn(command: &mut Command) -> std::io::Result<Child> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy && tries < 100 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error counts.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// What a pipe gave. A grandchild that outlives the program may hold it open: it is given two seconds to close it.
fn text(thread: Option<JoinHandle<Vec<u8>>>) -> String {
    let Some(thread) = thread else { return String::new() };
    let deadline = Instant::now() + Duration::from_secs(2);
    while !thread.is_finished() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    if !thread.is_finished() {
        return "(a process that outlived the program still holds this pipe)".to_owned();
    }
    let bytes = thread.join().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[expect(clippy::panic, reason = "a room for tests: a program without end fails the test")]
fn too_long(shown: &str, timeout: Duration, stdout: &str, stderr: &str) -> ! {
    panic!("`{shown}` did not end within {timeout:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
}
