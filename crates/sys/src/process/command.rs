//! Short helper commands (`git`, `codex --version`): bounded time, bounded output, ended by process group.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use planex_core::job::Exit;

use super::check_strings;
use crate::program;

/// How long output is waited for after the command has ended and its group was killed.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// Longest pause between two looks whether the command has ended.
const MAX_PAUSE: Duration = Duration::from_millis(20);

/// A command to run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Program and arguments; a name without a separator is looked for in the `PATH` of `env`.
    pub argv: Vec<String>,
    /// The complete environment.
    pub env: BTreeMap<String, String>,
    /// Working folder.
    pub cwd: Utf8PathBuf,
    /// What it reads.
    pub stdin: Vec<u8>,
    /// Limit of wall-clock time; the command and its process group are killed then.
    pub limit: Duration,
    /// Bytes kept of each of its two outputs; the rest is read and dropped.
    pub output_cap: usize,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub exit: Exit,
    /// What it printed, capped.
    pub stdout: Vec<u8>,
    /// What it printed as errors, capped.
    pub stderr: Vec<u8>,
    /// Whether its output was longer than the cap.
    pub truncated: bool,
    /// Whether its time limit ended it.
    pub timed_out: bool,
}

impl Output {
    /// Whether it ended by itself with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit == Exit::Code(0) && !self.timed_out
    }

    /// Its errors in one line of at most 500 characters, for messages.
    #[must_use]
    pub fn stderr_line(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().filter(|c| !c.is_control()).take(500).collect()
    }
}

/// A command that could not be started or followed.
#[derive(Debug, thiserror::Error)]
#[error("failed to run {}: {source}", argv.first().map_or("", String::as_str))]
pub struct RunError {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// What the system said.
    pub source: io::Error,
}

/// Runs the command to its end. What it leaves in its process group is killed.
///
/// # Errors
/// It cannot be started.
pub fn run(spec: &CommandSpec) -> Result<Output, RunError> {
    start(spec).and_then(|child| follow(child, spec)).map_err(|source| RunError { argv: spec.argv.clone(), source })
}

/// [`run`] on a thread of its own.
///
/// # Errors
/// As [`run`].
pub async fn run_async(spec: CommandSpec) -> Result<Output, RunError> {
    let argv = spec.argv.clone();
    let done = tokio::task::spawn_blocking(move || run(&spec)).await;
    done.unwrap_or_else(|error| Err(RunError { argv, source: io::Error::other(error) }))
}

fn start(spec: &CommandSpec) -> io::Result<Child> {
    check_strings(&spec.argv, &spec.env, spec.cwd.as_str())?;
    let name = spec.argv.first().map(String::as_str).unwrap_or_default();
    let path = spec.env.get("PATH").map(String::as_str);
    let Some(program) = program::find(name, path, &spec.cwd) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no such program"));
    };
    let mut command = Command::new(program);
    command.args(spec.argv.iter().skip(1)).env_clear().envs(&spec.env).current_dir(&spec.cwd);
    command.stdin(if spec.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Output of one stream as it was kept, and whether something was dropped.
type Kept = (Vec<u8>, bool);

fn follow(mut child: Child, spec: &CommandSpec) -> io::Result<Output> {
    if let Some(mut stdin) = child.stdin.take() {
        let bytes = spec.stdin.clone();
        // On its own thread: the command may print before it reads. It ends with the command's end of the pipe.
        thread::spawn(move || stdin.write_all(&bytes));
    }
    let stdout = child.stdout.take().map(|stream| keep(stream, spec.output_cap));
    let stderr = child.stderr.take().map(|stream| keep(stream, spec.output_cap));
    let (status, timed_out) = wait(&mut child, Instant::now() + spec.limit)?;
    let until = Instant::now() + DRAIN_LIMIT;
    let collect = |stream: Option<mpsc::Receiver<Kept>>| {
        let left = until.saturating_duration_since(Instant::now());
        stream.and_then(|stream| stream.recv_timeout(left).ok()).unwrap_or((Vec::new(), true))
    };
    let ((stdout, cut), (stderr, also_cut)) = (collect(stdout), collect(stderr));
    Ok(Output { exit: exit_of(status), stdout, stderr, truncated: cut || also_cut, timed_out })
}

/// Reads a stream to its end on a thread, keeping at most `cap` bytes.
fn keep(mut stream: impl Read + Send + 'static, cap: usize) -> mpsc::Receiver<Kept> {
    let (send, receive) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let (mut kept, mut cut) = (Vec::new(), false);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    let fits = bytes.get(..bytes.len().min(cap - kept.len())).unwrap_or_default();
                    cut |= fits.len() < bytes.len();
                    kept.extend_from_slice(fits);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // Nobody waits any more: fine.
        let _ = send.send((kept, cut));
    });
    receive
}

/// Waits for the command, or ends it at `until`. Either way its group is killed before it is reaped, while its id is
/// still its own.
fn wait(child: &mut Child, until: Instant) -> io::Result<(ExitStatus, bool)> {
    let mut pause = Duration::from_millis(1);
    let mut timed_out = false;
    while !has_ended(child)? {
        if Instant::now() >= until {
            timed_out = true;
            break;
        }
        pause_for(child, pause.min(until.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(MAX_PAUSE);
    }
    end_group(child);
    child.wait().map(|status| (status, timed_out))
}

/// Whether the command has ended, without reaping it.
#[cfg(unix)]
fn has_ended(child: &Child) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = pid_of(child) else { return Ok(true) };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

#[cfg(unix)]
fn pid_of(child: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(child.id()).ok()?)
}

#[cfg(target_os = "linux")]
fn pause_for(child: &Child, _: Duration) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // A descriptor of the process tells its end at once; the cap only guards against one that cannot be had.
    let fd = pid_of(child).and_then(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok());
    let Some(fd) = fd else { return thread::sleep(MAX_PAUSE) };
    let timeout = Timespec::try_from(MAX_PAUSE).ok();
    let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], timeout.as_ref());
}

#[cfg(not(target_os = "linux"))]
fn pause_for(_: &Child, pause: Duration) {
    thread::sleep(pause);
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    if let Some(pid) = pid_of(child) {
        // No such group: the command moved to one of its own. Itself it can be killed by its id.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.kill();
}

fn exit_of(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Exit::Signal(signal);
    }
    status.code().map_or(Exit::Lost, Exit::Code)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sh(script: &str) -> CommandSpec {
        CommandSpec {
            argv: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
            env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
            cwd: Utf8PathBuf::from("/"),
            stdin: Vec::new(),
            limit: Duration::from_secs(60),
            output_cap: 1 << 20,
        }
    }

    #[test]
    fn output_and_status_are_exact() {
        let output = run(&sh("printf out; printf 'err\n\x1bx' >&2; pwd >&2; exit 3")).unwrap();
        assert_eq!(output.exit, Exit::Code(3));
        assert_eq!(output.stdout, b"out");
        assert_eq!(output.stderr_line(), "err x/");
        assert!(!output.success() && !output.timed_out && !output.truncated);
        assert_eq!(run(&sh("kill -9 $$")).unwrap().exit, Exit::Signal(9));
        assert_eq!(run(&sh("env | grep -vc '^\\(PATH\\|PWD\\|SHLVL\\|_\\|OLDPWD\\)='")).unwrap().stdout, b"0\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(&CommandSpec { argv: vec!["planex-no-such".to_owned()], ..sh("") }).unwrap_err();
        assert_eq!(error.to_string(), "failed to run planex-no-such: no such program");
        assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
        assert!(run(&CommandSpec { argv: vec!["a\0".to_owned()], ..sh("") }).is_err());
        assert!(run(&CommandSpec { argv: Vec::new(), ..sh("") }).is_err());
    }

    #[test]
    fn the_limit_ends_it_with_what_it_started() {
        let begun = Instant::now();
        let spec = CommandSpec { limit: Duration::from_millis(200), ..sh("trap '' TERM; sleep 600 & echo $!; wait") };
        let output = run(&spec).unwrap();
        assert!(output.timed_out);
        assert_eq!(output.exit, Exit::Signal(9));
        let pid = String::from_utf8(output.stdout).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(30));
        assert!(is_gone(pid.trim()), "{pid}");
    }

    #[test]
    fn what_it_leaves_in_its_group_is_ended() {
        let output = run(&sh("sleep 600 & echo $!")).unwrap();
        assert!(output.success(), "{output:?}");
        assert!(is_gone(String::from_utf8(output.stdout).unwrap().trim()));
    }

    /// Gone, or a zombie that some ancestor of this test does not reap.
    fn is_gone(pid: &str) -> bool {
        (0..500).any(|_| {
            let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let gone = text.rsplit_once(')').is_none_or(|(_, rest)| rest.starts_with(" Z"));
            thread::sleep(Duration::from_millis(if gone { 0 } else { 10 }));
            gone
        })
    }

    #[test]
    fn any_amount_of_input_and_output_is_fine() {
        let spec = CommandSpec { stdin: vec![b'x'; 3 << 20], output_cap: 1000, ..sh("cat; cat /dev/null >&2") };
        let output = run(&spec).unwrap();
        assert!(output.success() && output.truncated);
        assert_eq!(output.stdout, vec![b'x'; 1000]);
        let unread = CommandSpec { stdin: vec![b'x'; 3 << 20], ..sh("exit 0") };
        assert!(run(&unread).unwrap().success());
    }

    #[tokio::test]
    async fn it_runs_beside_async_code() {
        assert_eq!(run_async(sh("echo hi")).await.unwrap().stdout, b"hi\n");
    }
}
