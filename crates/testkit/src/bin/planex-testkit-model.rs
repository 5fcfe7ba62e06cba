//! The scripted model server by hand: `planex-testkit-model --script FILE.json [--port N]`.
//!
//! Prints the variables that point the agents to it, then serves until it is ended.
//! The format of scripts is in `planex_testkit::model`, file `script.rs`.

use std::io::Write as _;
use std::process::ExitCode;

use planex_testkit::{ModelServer, Script};

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(never) => match never {},
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "planex-testkit-model: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<std::convert::Infallible, String> {
    let (mut script, mut port) = (None, 0);
    while let Some(arg) = args.next() {
        let value = args.next().ok_or(format!("{arg} needs a value"))?;
        match arg.as_str() {
            "--script" => script = Some(value),
            "--port" => port = value.parse().map_err(|_| format!("{value} is no port"))?,
            _ => return Err(format!("unknown {arg}; usage: planex-testkit-model --script FILE.json [--port N]")),
        }
    }
    let path = script.ok_or("--script FILE.json is missing")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let script: Script = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    let server = ModelServer::start_on(port, script).map_err(|error| format!("port {port}: {error}"))?;
    let url = server.url();
    let text = format!(
        "# A scripted model listens on {url}; end it with Ctrl-C.\n\
         export ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=test-key CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\n\
         export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=test-key\n\
         export GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY=test-key\n\
         # codex, in an empty CODEX_HOME's config.toml:\n\
         #   model_provider = \"scripted\"\n\
         #   model_providers.scripted = {{ name = \"scripted\", base_url = \"{url}/v1\", wire_api = \"responses\" }}\n"
    );
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    drop(out);
    loop {
        std::thread::park();
    }
}
