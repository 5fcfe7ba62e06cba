//! What a child prints, piece by piece.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;

/// Bytes that a buffer for [`next_bytes`] should have.
pub const CHUNK: usize = 64 * 1024;

/// How long output is still read after nothing of the job is left (someone else holds the pipe).
const DRAIN: Duration = Duration::from_millis(500);

/// The next bytes; `None` at the end or when reading fails. May be dropped and called again.
pub async fn next_bytes<'b>(stream: &mut (impl AsyncRead + Unpin), buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    match stream.read(buffer).await {
        Ok(0) | Err(_) => None,
        Ok(count) => buffer.get(..count),
    }
}

/// Gives `each` the output that is in the pipe although nothing of the job is left, for at most half a second.
pub async fn drain(stream: &mut (impl AsyncRead + Unpin), mut each: impl FnMut(&[u8])) {
    let until = Instant::now() + DRAIN;
    let mut buffer = vec![0; CHUNK];
    while let Ok(Some(bytes)) = tokio::time::timeout_at(until, next_bytes(stream, &mut buffer)).await {
        each(bytes);
    }
}
