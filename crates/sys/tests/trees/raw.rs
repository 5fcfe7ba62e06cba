//! What runaways do that no safe call offers.
#![expect(unsafe_code, reason = "runaways close every descriptor, ignore signals, and end their first thread alone")]

/// Ignores what asks politely.
pub(crate) fn ignore_polite_signals() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: sets a disposition, runs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Closes every descriptor.
pub(crate) fn close_all() {
    // SAFETY: nothing here uses a descriptor afterwards.
    unsafe { libc::syscall(libc::SYS_close_range, 0_u32, u32::MAX, 0_u32) };
}

/// Ends this thread alone: with the first thread gone and another alive, the process has the state of a zombie.
pub(crate) fn end_this_thread() -> ! {
    // SAFETY: the thread's stack is not used by any other.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    std::process::abort()
}
