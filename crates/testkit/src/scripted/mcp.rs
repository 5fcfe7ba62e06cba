//! The smallest client of an MCP server over stdio: one call of one tool.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// Starts the server with the agent's own environment, calls the tool and returns the result (or the error).
pub(super) fn call(command: &[String], tool: &str, args: &Value) -> Result<Value, String> {
    let (program, rest) = command.split_first().ok_or("`mcp` without a program")?;
    let child = Command::new(program).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("{program}: {error}"))?;
    let answer = talk(&mut child, tool, args);
    // Closing its input ends a server that behaves.
    drop(child.stdin.take());
    let _ = child.wait();
    answer
}

fn talk(child: &mut Child, tool: &str, args: &Value) -> Result<Value, String> {
    let mut input = child.stdin.take().ok_or("no standard input")?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
    let mut send = |message: Value| writeln!(input, "{message}").map_err(|error| error.to_string());
    let mut receive = |id: u64| loop {
        let line = lines.next().ok_or("the MCP server ended early")?.map_err(|error| error.to_string())?;
        let message: Value = serde_json::from_str(&line).map_err(|error| format!("not JSON: {line}: {error}"))?;
        if message["id"] == id {
            return Ok::<Value, String>(message);
        }
    };
    send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "planex-scripted-agent", "version": "1" },
    } }))?;
    receive(1)?;
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": args } }))?;
    let mut answer = receive(2)?;
    Ok(if answer["error"].is_null() { answer["result"].take() } else { json!({ "error": answer["error"] }) })
}
