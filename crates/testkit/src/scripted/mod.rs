//! An agent of our own, driven by a script: it behaves, and misbehaves, exactly as a test asks for.
//!
//! The program is `planex-scripted-agent`; [`ScriptedAgent`] writes its script and gives the `[agents.NAME]` table.
//!
//! ```json
//! {
//!   "rules": [
//!     { "when": { "role": "execute", "id": "T1", "attempt": 1 }, "do": [ { "sleep_ms": 20 }, "hang" ] },
//!     { "when": { "role": "execute" },
//!       "do": [ { "write": { "path": "{id}.txt", "content": "hello" } }, "completed" ] },
//!     { "do": [ { "reply": { "id": "{id}", "status": "completed" } } ] }
//!   ]
//! }
//! ```
//!
//! The first rule whose `when` fits is carried out, action by action; then the agent exits with 0. Without a rule it
//! exits with 3 and says so. `when` may name `role`, `id` (of the row or task, or of the job for others), `attempt`
//! (1, 2, …: how often this role and id were run with this script), `mode`, `resumed` and `prompt_contains`.
//!
//! | action                                        | what happens                                                     |
//! | --------------------------------------------- | ---------------------------------------------------------------- |
//! | `{"reply": J}`                                | prints J on one line                                             |
//! | `"completed"`                                 | prints the result of an explore or execute job that went well    |
//! | `{"fenced": J}`, `{"prose": J}`               | J in a code fence; J in the middle of prose                      |
//! | `{"say": S}`, `{"say_err": S}`                | prints S and a newline                                           |
//! | `{"result_file": J}`, `{"result_text": S}`    | writes the file of `PLANEX_RESULT_FILE`                          |
//! | `{"report": J}`                               | leaves a report as `planex mcp` does: `{run_dir}/reports.ndjson`  |
//! | `{"append_line": {"path", "value"}}`          | appends J as a line to any file                                  |
//! | `{"mcp": {"command", "tool", "args"}}`        | starts an MCP server over stdio, calls a tool, prints its answer |
//! | `{"sleep_ms": N}`, `{"busy_ms": N}`, `"hang"` | sleeps; uses the processor; never ends                           |
//! | `"ignore_term"`                               | SIGTERM, SIGINT and SIGHUP do nothing from here on               |
//! | `{"spawn": {…}}`                              | leaves a process behind, see [`Spawn`]                           |
//! | `{"flood": {"bytes", "to", "lines"}}`         | prints that many bytes to `stdout` or `stderr`                   |
//! | `"invalid_utf8"`                              | prints bytes that are no UTF-8                                   |
//! | `{"write": {"path", "content"}}`, `append`    | writes; appends                                                  |
//! | `{"edit": {"path", "old", "new"}}`            | replaces the first occurrence; exits with 4 if there is none     |
//! | `{"delete": P}`, `{"touch": P}`               | removes; makes an empty file                                     |
//! | `{"wait_for": P}`                             | waits until P exists, 30 s at most                               |
//! | `{"run": [ARGS]}`                             | runs a program; exits with 4 if it fails                         |
//! | `{"rate_limit": {"times", "message"}}`        | up to that attempt: says so on standard error, exits with 1      |
//! | `"auth_failure"`                              | says that nobody is logged in, exits with 1                      |
//! | `{"exit": N}`                                 | exits                                                            |
//!
//! In every string `{id}`, `{role}`, `{attempt}`, `{session}` (of `--resume`), `{cwd}`, `{run_dir}`, `{session_dir}`
//! stand for their values. Paths are relative to the working folder.
//!
//! Command line: `--script FILE` (or the variable `PLANEX_TEST_SCRIPT`: a path, or the JSON itself), `--state DIR`
//! (counts attempts and records runs; default: the script's path with `.state`), `--resume SESSION`, `--prompt FILE`
//! (default: standard input). Other arguments are recorded only.

mod act;
mod context;
mod format;
mod host;
mod mcp;
mod process;

use std::process::ExitCode;

pub use context::RecordedRun;
pub use format::{Action, AgentScript, AgentWhen, Spawn, SpawnKind};
pub use host::ScriptedAgent;

/// The whole program: `args` without the program's own name.
#[must_use]
pub fn main(args: Vec<String>) -> ExitCode {
    match run(args) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            act::to_stderr(format!("planex-scripted-agent: {message}\n").as_bytes());
            ExitCode::from(3)
        }
    }
}

fn run(args: Vec<String>) -> Result<u8, String> {
    if let Some(child) = args.first().and_then(|first| first.strip_prefix("--child=")) {
        return process::live(child);
    }
    let (script, context) = context::Context::load(args)?;
    let Some(actions) = script.actions(&context) else {
        return Err(format!(
            "no rule of the script is for role {:?}, id {:?}, attempt {}",
            context.role, context.id, context.attempt
        ));
    };
    for action in actions {
        if let Some(code) = act::perform(action, &context)? {
            return Ok(code);
        }
    }
    Ok(0)
}
