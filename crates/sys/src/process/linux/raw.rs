//! The few calls for which there is no safe wrapper: fork, exec, waiting for any child, signal masks.
#![expect(unsafe_code, reason = "fork, execve, waitid and signal masks have no safe wrapper in rustix")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use planex_core::job::Exit;

/// Which side of a fork this is.
pub(super) enum Fork {
    /// The parent, with the child's id.
    Parent(u32),
    /// The child.
    Child,
}

/// Forks this process.
///
/// Only guardian and keepers call it. They have one thread, so the child may do whatever the parent may.
pub(super) fn fork() -> io::Result<Fork> {
    // SAFETY: the process has one thread (guardian and keepers never start one), so no lock can be held by another.
    match unsafe { libc::fork() } {
        0 => Ok(Fork::Child),
        pid => u32::try_from(pid).map(Fork::Parent).map_err(|_| io::Error::last_os_error()),
    }
}

/// What one look for an ended child gave.
pub(super) enum Waited {
    /// This child ended and is reaped.
    Reaped {
        /// Its id.
        pid: u32,
        /// How it ended.
        exit: Exit,
    },
    /// There are children, none has ended.
    Running,
    /// There is no child at all: the proof that nothing is left.
    NoChild,
}

/// Reaps one ended child, if there is one.
pub(super) fn wait_any() -> Waited {
    // SAFETY: `siginfo_t` is plain data for which all zeroes is valid.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: `info` is valid for writes.
        let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, libc::WEXITED | libc::WNOHANG) };
        if result == 0 {
            break;
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::ECHILD) => return Waited::NoChild,
            Some(libc::EINTR) => {}
            // Nothing else can be said of these arguments; looking again later is right for anything.
            _ => return Waited::Running,
        }
    }
    // SAFETY: after a successful waitid these fields are set (pid 0: none ended).
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    match u32::try_from(pid) {
        Ok(0) | Err(_) => Waited::Running,
        Ok(pid) => {
            let exit = if info.si_code == libc::CLD_EXITED { Exit::Code(status) } else { Exit::Signal(status) };
            Waited::Reaped { pid, exit }
        }
    }
}

/// Blocks all signals and gives a descriptor that becomes readable when a child ends.
pub(super) fn child_signal_fd() -> io::Result<OwnedFd> {
    // SAFETY: a `sigset_t` is plain data; the calls initialise it before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut set);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// A program with all that `execve` takes, made before the fork.
pub(super) struct Program {
    /// Files to try, in order.
    candidates: Vec<CString>,
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
}

impl Program {
    /// From checked text.
    pub(super) fn new(candidates: &[String], argv: &[String], env: &[String], cwd: &str) -> io::Result<Self> {
        let all =
            |texts: &[String]| texts.iter().map(|text| CString::new(text.as_str())).collect::<Result<Vec<_>, _>>();
        Ok(Self { candidates: all(candidates)?, argv: all(argv)?, env: all(env)?, cwd: CString::new(cwd)? })
    }
}

/// Which step of becoming the agent failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    /// Session, death signal, descriptors.
    Setup = 0,
    /// The working folder.
    Chdir = 1,
    /// The program itself.
    Exec = 2,
}

/// In the forked child: becomes the agent. Comes back only with an error.
///
/// `stdio` are the three descriptors it gets; every other one is closed by the exec.
pub(super) fn become_agent(program: &Program, stdio: [BorrowedFd<'_>; 3]) -> (Step, io::Error) {
    for (target, fd) in (0..).zip(stdio) {
        // SAFETY: both are valid descriptors of this process; 0 to 2 belong to nobody else here.
        if unsafe { libc::dup2(fd.as_raw_fd(), target) } < 0 {
            return (Step::Setup, io::Error::last_os_error());
        }
    }
    // All are born with the flag; this covers what was handed to planex itself without it. Older kernels refuse it.
    // SAFETY: only sets flags of descriptors.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    // SAFETY: the strings are NUL-terminated and outlive the call.
    if unsafe { libc::chdir(program.cwd.as_ptr()) } != 0 {
        return (Step::Chdir, io::Error::last_os_error());
    }
    reset_signals();
    let argv = pointers(&program.argv);
    let env = pointers(&program.env);
    let mut error = io::Error::from_raw_os_error(libc::ENOENT);
    for candidate in &program.candidates {
        // SAFETY: all strings and both arrays are terminated and outlive the call, which returns only on failure.
        unsafe { libc::execve(candidate.as_ptr(), argv.as_ptr(), env.as_ptr()) };
        let this = io::Error::last_os_error();
        let weaker = matches!(this.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR));
        if !weaker {
            error = this;
        }
        if !weaker && error.raw_os_error() != Some(libc::EACCES) {
            break;
        }
    }
    (Step::Exec, error)
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| CStr::as_ptr(text)).chain([ptr::null()]).collect()
}

/// Every signal to its default, none blocked: what a program expects at its start.
fn reset_signals() {
    // SAFETY: plain system calls on this thread's own state; signals that cannot be set are refused without effect.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
    }
}

/// Ends this process at once, running nothing of the parent's that was copied by the fork.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: never returns and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Sends a signal to a child of this process that is not reaped yet: its id cannot belong to anyone else.
pub(super) fn kill_child(pid: u32, signal: i32) -> io::Result<()> {
    let Ok(pid) = i32::try_from(pid) else { return Err(io::ErrorKind::InvalidInput.into()) };
    if pid <= 1 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: plain system call.
    if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes the descriptor 0 as an owned one above 9, closed on exec, and puts `/dev/null` in its place.
pub(super) fn take_stdin() -> io::Result<OwnedFd> {
    // SAFETY: duplicates a descriptor into a new one that nobody else owns.
    let fd = unsafe {
        let fd = libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 10);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let null = std::fs::File::open("/dev/null")?;
    // SAFETY: both are valid descriptors; 0 is not owned by any value of this program.
    if unsafe { libc::dup2(null.as_raw_fd(), 0) } < 0 { Err(io::Error::last_os_error()) } else { Ok(fd) }
}

/// Sends a signal through a pidfd.
pub(super) fn pidfd_signal(fd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    // SAFETY: the descriptor is valid, no information is passed along.
    let result = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, fd.as_raw_fd(), signal, ptr::null::<libc::siginfo_t>(), 0)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Test programs become the guardian before their own `main`: they hold no `main` of ours that could ask.
#[cfg(any(test, feature = "test-guardian"))]
#[used]
#[unsafe(link_section = ".init_array")]
static BECOME_GUARDIAN: extern "C" fn() = {
    extern "C" fn early() {
        super::main_if_guardian();
    }
    early
};

/// Makes the linker keep the object that holds [`BECOME_GUARDIAN`].
#[cfg(any(test, feature = "test-guardian"))]
pub(super) fn keep_early_guardian() {
    std::hint::black_box(BECOME_GUARDIAN);
}
