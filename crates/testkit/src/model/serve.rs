//! The loop that accepts connections and plays answers.

use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::dialect::Dialect;
use super::reply::{Failure, Reply};
use super::request::ModelRequest;
use super::{Answer, http, lock};

/// What all connections share.
pub(super) struct State {
    pub(super) answer: Arc<Answer>,
    pub(super) requests: Arc<Mutex<Vec<ModelRequest>>>,
    pub(super) stopped: watch::Receiver<bool>,
}

/// Serves until told to stop.
pub(super) async fn run(listener: TcpListener, state: Arc<State>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut stopped = state.stopped.clone();
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    let state = Arc::clone(&state);
                    // A client that goes away in the middle is what many tests want: nothing to report.
                    tokio::spawn(async move { drop(serve(stream, &state).await) });
                }
            }
        }
    }
}

async fn serve(mut stream: TcpStream, state: &State) -> io::Result<()> {
    let Some(raw) = http::read(&mut stream).await? else { return Ok(()) };
    if raw.method == "HEAD" {
        return http::send(&mut stream, 200, &[], b"").await;
    }
    let Some(dialect) = Dialect::of(&raw.method, &raw.path) else {
        return other(&mut stream, &raw).await;
    };
    let Ok(body) = serde_json::from_slice::<Value>(&raw.body) else {
        return http::send(&mut stream, 400, &[], b"{\"error\":{\"message\":\"no JSON\"}}").await;
    };
    let mut request = ModelRequest::new(dialect, raw.path, raw.headers, body);
    let reply = if request.is_side() { Reply::text("A title") } else { (state.answer)(&mut request) };
    let number = {
        let mut requests = lock(&state.requests);
        requests.push(request.clone());
        requests.len()
    };
    if !reply.delay.is_zero() {
        tokio::time::sleep(reply.delay).await;
    }
    play(&mut stream, &request, &reply, number).await
}

/// Everything that is not a question to the model: lists of models, counts of tokens, telemetry.
async fn other(stream: &mut TcpStream, raw: &http::Raw) -> io::Result<()> {
    let json = [("content-type", "application/json".to_owned())];
    let path = raw.path.split('?').next().unwrap_or_default();
    let body = match (raw.method.as_str(), path) {
        ("POST", path) if path.ends_with("/count_tokens") => json!({ "input_tokens": 100 }),
        ("POST", path) if path.ends_with(":countTokens") => json!({ "totalTokens": 100 }),
        ("GET", path) if path.ends_with("/models") => json!({ "object": "list", "data": [], "models": [] }),
        _ => return http::send(stream, 404, &json, b"{\"error\":{\"message\":\"not here\"}}").await,
    };
    http::send(stream, 200, &json, body.to_string().as_bytes()).await
}

async fn play(stream: &mut TcpStream, request: &ModelRequest, reply: &Reply, number: usize) -> io::Result<()> {
    let events = || request.dialect.events(request, reply, number);
    match &reply.failure {
        None if request.is_streaming() => {
            http::open(stream).await?;
            for event in events() {
                http::chunk(stream, event.as_bytes()).await?;
            }
            http::finish(stream).await
        }
        None => {
            let body = request.dialect.whole(request, reply, number).to_string();
            http::send(stream, 200, &[("content-type", "application/json".to_owned())], body.as_bytes()).await
        }
        Some(Failure::Http { status, retry_after, message }) => {
            let mut headers = vec![("content-type", "application/json".to_owned())];
            headers.extend(retry_after.map(|seconds| ("retry-after", seconds.to_string())));
            let body = error_body(*status, message.as_deref()).to_string();
            http::send(stream, *status, &headers, body.as_bytes()).await
        }
        Some(Failure::Hang) => std::future::pending().await,
        Some(Failure::Reset) => Ok(()),
        Some(Failure::Empty) => {
            http::open(stream).await?;
            http::finish(stream).await
        }
        Some(Failure::Garbage) => {
            http::open(stream).await?;
            http::chunk(stream, b"data: {\"type\": \n\n\x00\xff<html>data: }\n\n").await?;
            http::finish(stream).await
        }
        Some(broken @ (Failure::Cut | Failure::Stall)) => {
            let whole = events().concat();
            http::open(stream).await?;
            http::chunk(stream, &whole.as_bytes()[..whole.len() / 2]).await?;
            if *broken == Failure::Stall {
                return std::future::pending().await;
            }
            Ok(())
        }
    }
}

/// One body that every client finds its error in.
fn error_body(status: u16, message: Option<&str>) -> Value {
    let (kind, usual) = match status {
        400 => ("invalid_request_error", "The request is invalid"),
        401 => ("authentication_error", "Invalid API key"),
        403 => ("permission_error", "Not allowed"),
        429 => ("rate_limit_error", "Rate limit reached, try again later"),
        529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    };
    let message = message.unwrap_or(usual);
    json!({ "type": "error", "error": { "type": kind, "status": kind.to_uppercase(), "code": status, "message": message } })
}
