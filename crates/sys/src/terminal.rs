//! Whether there is something to read at the terminal, and whether it is still there.

use std::time::Duration;

/// What waiting for input came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Something can be read.
    Ready,
    /// Nothing came in time, or a signal came first.
    Nothing,
    /// The terminal was closed: nothing will ever come.
    Gone,
}

/// Waits for input at standard input, at most `time`.
///
/// Readers of keys spin for ever on a terminal that was hung up, so they are to ask here first.
#[must_use]
pub fn wait_for_input(time: Duration) -> Input {
    #[cfg(unix)]
    {
        wait(&std::io::stdin(), time)
    }
    #[cfg(not(unix))]
    {
        std::thread::sleep(time.min(Duration::from_millis(20)));
        Input::Ready
    }
}

#[cfg(unix)]
fn wait(fd: &impl std::os::fd::AsFd, time: Duration) -> Input {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    let time = Timespec::try_from(time).ok();
    match poll(&mut fds, time.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Input::Nothing,
        Ok(_) => {
            let [one] = &fds;
            let gone = one.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
            if gone { Input::Gone } else { Input::Ready }
        }
        Err(_) => Input::Gone,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn input_silence_and_the_end_are_told_apart() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        assert_eq!(wait(&reader, Duration::from_millis(1)), Input::Nothing);
        writer.write_all(b"x").unwrap();
        assert_eq!(wait(&reader, Duration::from_secs(5)), Input::Ready);
        drop(writer);
        assert_eq!(wait(&reader, Duration::from_secs(5)), Input::Gone);
    }
}
