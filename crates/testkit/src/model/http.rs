//! As much of HTTP/1.1 as the agents need: one request per connection, answers by content length or in chunks.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A request's head and body may have at most this many bytes together; prompts have at most 200 KiB.
const LIMIT: usize = 64 << 20;

/// A request as it came.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) method: String,
    /// Path with query.
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Raw {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads one request. `None`: the peer closed without one.
pub(super) async fn read(stream: &mut TcpStream) -> io::Result<Option<Raw>> {
    let mut buffer = Vec::new();
    let end = loop {
        if let Some(end) = find(&buffer, b"\r\n\r\n") {
            break end;
        }
        if !fill(stream, &mut buffer).await? {
            return Ok(None);
        }
    };
    let mut raw = parse_head(&buffer[..end]).ok_or_else(|| bad("malformed head"))?;
    let mut body = buffer.split_off(end + 4);
    if raw.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    if raw.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked")) {
        raw.body = read_chunks(stream, body).await?;
        return Ok(Some(raw));
    }
    let length = match raw.header("content-length") {
        Some(value) => value.trim().parse::<usize>().map_err(|_| bad("malformed content-length"))?,
        None => 0,
    };
    while body.len() < length {
        if !fill(stream, &mut body).await? {
            return Err(bad("the body ends early"));
        }
    }
    body.truncate(length);
    raw.body = body;
    Ok(Some(raw))
}

async fn read_chunks(stream: &mut TcpStream, mut buffer: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = find(&buffer, b"\r\n") {
                break end;
            }
            if !fill(stream, &mut buffer).await? {
                return Err(bad("a chunk ends early"));
            }
        };
        let line = String::from_utf8_lossy(&buffer[..end]).into_owned();
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| bad("malformed chunk"))?;
        if size > LIMIT {
            return Err(bad("too large"));
        }
        while buffer.len() < end + 2 + size + 2 {
            if !fill(stream, &mut buffer).await? {
                return Err(bad("a chunk ends early"));
            }
        }
        if size == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&buffer[end + 2..end + 2 + size]);
        buffer.drain(..end + 2 + size + 2);
    }
}

async fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<bool> {
    if buffer.len() > LIMIT {
        return Err(bad("too large"));
    }
    Ok(stream.read_buf(buffer).await? > 0)
}

fn parse_head(head: &[u8]) -> Option<Raw> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Some(Raw { method, path, headers, body: Vec::new() })
}

/// Sends a whole answer.
pub(super) async fn send(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, String)],
    body: &[u8],
) -> io::Result<()> {
    let mut head = head(status, headers);
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

/// Opens a stream of events; each is sent by [`chunk`], and [`finish`] ends it. Left unfinished, it is a broken one.
pub(super) async fn open(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = head(200, &[("content-type", "text/event-stream".to_owned())]);
    head.push_str("cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await
}

/// Sends a piece of a stream.
pub(super) async fn chunk(stream: &mut TcpStream, data: &[u8]) -> io::Result<()> {
    if data.is_empty() {
        return Ok(());
    }
    stream.write_all(format!("{:x}\r\n", data.len()).as_bytes()).await?;
    stream.write_all(data).await?;
    stream.write_all(b"\r\n").await?;
    stream.flush().await
}

/// Ends a stream well.
pub(super) async fn finish(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n").await?;
    stream.flush().await
}

fn head(status: u16, headers: &[(&str, String)]) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Status",
    };
    let mut head = format!("HTTP/1.1 {status} {reason}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn bad(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
