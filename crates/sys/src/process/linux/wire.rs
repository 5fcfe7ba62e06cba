//! What planex, the guardian and the keepers say to each other.
//!
//! To the guardian: one message per job, [`JOB`] and the grace period, with four descriptors (control, and the three
//! standard ones). On a job's control socket: first the [`Order`] as a frame, then commands of [`COMMAND_LEN`] bytes;
//! the other way frames with a [`Report`]. A frame is its length (4 bytes, little endian) and JSON.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::Duration;

use planex_core::job::Exit;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Proc, ProcId};

/// Second argument (and `px-guard` the first) of a process that is the guardian.
pub(super) const GUARDIAN_ARGS: (&str, &str) = ("px-guard", "guardian");

/// First byte of a message to the guardian.
pub(super) const JOB: u8 = b'J';

/// What the guardian says first.
pub(super) const HELLO: &[u8] = b"px-guard 1";

/// Largest frame; an order is limited by what `execve` takes anyway.
const MAX_FRAME: usize = 64 << 20;

/// Length of a command.
pub(super) const COMMAND_LEN: usize = 5;

/// What planex tells a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// Send this signal to the agent alone.
    Signal(i32),
    /// End all: SIGTERM, grace, SIGKILL.
    Terminate,
    /// End all at once.
    Kill,
}

impl Command {
    pub(super) fn encode(self) -> [u8; COMMAND_LEN] {
        let (word, number) = match self {
            Self::Signal(signal) => (b'S', signal),
            Self::Terminate => (b'T', 0),
            Self::Kill => (b'K', 0),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [word, a, b, c, d]
    }

    /// An unknown word ends the job: only a planex that went wrong sends one.
    pub(super) fn decode([word, a, b, c, d]: [u8; COMMAND_LEN]) -> Self {
        match word {
            b'S' => Self::Signal(i32::from_le_bytes([a, b, c, d])),
            b'K' => Self::Kill,
            _ => Self::Terminate,
        }
    }
}

/// What a keeper is to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) argv: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: String,
    pub(super) limit_ms: Option<u64>,
    pub(super) grace_ms: u64,
}

/// What a keeper tells planex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    /// It has the order; nothing is started yet.
    Ready,
    /// The agent runs.
    Started { keeper: ProcId, agent: ProcId },
    /// The agent could not be started.
    Failed { errno: i32, step: u8 },
    /// The agent ended; what it left is being ended.
    Exited { exit: Exit, limit: bool },
    /// Still ending processes.
    Working,
    /// No process is left.
    Clean,
    /// These could not be ended.
    Left(Vec<Proc>),
}

/// A value as a frame.
pub(super) fn frame<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, value)?;
    let length = u32::try_from(bytes.len() - 4).map_err(io::Error::other)?;
    if length as usize > MAX_FRAME {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    if let Some(head) = bytes.first_chunk_mut::<4>() {
        *head = length.to_le_bytes();
    }
    Ok(bytes)
}

/// Takes one whole frame off the front of `bytes`; `None` while it is not whole.
pub(super) fn take_frame<T: DeserializeOwned>(bytes: &mut Vec<u8>) -> io::Result<Option<T>> {
    let Some(head) = bytes.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*head) as usize;
    if length > MAX_FRAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let Some(body) = bytes.get(4..4 + length) else { return Ok(None) };
    let value = serde_json::from_slice(body)?;
    bytes.drain(..4 + length);
    Ok(Some(value))
}

/// Reads one frame; an end before it is an error.
pub(super) fn read_frame<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
    let mut head = [0; 4];
    from.read_exact(&mut head)?;
    let length = u32::from_le_bytes(head) as usize;
    if length > MAX_FRAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// Whole milliseconds, as many as fit.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_back() {
        for command in [Command::Signal(2), Command::Signal(-1), Command::Terminate, Command::Kill] {
            assert_eq!(Command::decode(command.encode()), command);
        }
        assert_eq!(Command::decode([0; 5]), Command::Terminate);
    }

    #[test]
    fn frames_come_back_whole_or_not_yet() {
        let reports = [
            Report::Ready,
            Report::Started { keeper: ProcId { pid: 1, start: 2 }, agent: ProcId { pid: 3, start: u64::MAX } },
            Report::Exited { exit: Exit::Signal(9), limit: true },
            Report::Left(vec![Proc { pid: 5, start: 6, cpu_ticks: 7, command: "ü\n".to_owned() }]),
        ];
        let bytes: Vec<u8> = reports.iter().flat_map(|report| frame(report).unwrap()).collect();
        let (mut buffer, mut seen) = (Vec::new(), Vec::new());
        for byte in bytes {
            buffer.push(byte);
            while let Some(report) = take_frame::<Report>(&mut buffer).unwrap() {
                seen.push(report);
            }
        }
        assert_eq!(seen, reports);
        assert!(buffer.is_empty());
        assert!(take_frame::<Report>(&mut vec![255; 8]).is_err());
        assert!(take_frame::<Report>(&mut vec![1, 0, 0, 0, b'?']).is_err());
    }
}
