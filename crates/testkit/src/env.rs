//! A hermetic place for a test: its own home, its own environment, nothing of the developer's.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use tempfile::TempDir;

use crate::bins::require_agent;
use crate::model::ModelServer;
use crate::run::{Output, Run};

/// Programs that a test must never find by accident: the developer's own agents, with their accounts.
const AGENTS: [&str; 8] = ["codex", "claude", "gemini", "opencode", "qwen", "planex", "claude-agent-acp", "codex-acp"];

/// Where the system's own programs are.
const SYSTEM: [&str; 2] = ["/usr/bin", "/bin"];

/// Programs that are often installed elsewhere, and that tests need.
const TOOLS: [&str; 6] = ["git", "node", "npm", "python3", "cargo", "rustc"];

/// A temporary home, a working folder and an environment; all of it is gone when this is dropped.
///
/// Nothing of the test's own environment reaches a program that [`TestEnv::command`] starts.
#[derive(Debug)]
pub struct TestEnv {
    _temp: TempDir,
    root: Utf8PathBuf,
    vars: BTreeMap<String, String>,
    timeout: Duration,
}

impl TestEnv {
    /// An empty place.
    ///
    /// # Panics
    /// When the temporary folder cannot be made.
    #[must_use]
    pub fn new() -> Self {
        let temp = must("make a temporary folder", tempfile::Builder::new().prefix("planex-test-").tempdir());
        // Real, since programs report real paths.
        let root = must("resolve the temporary folder", fs::canonicalize(temp.path()));
        let root = must("use the temporary folder", Utf8PathBuf::try_from(root));
        for folder in ["home", "bin", "tmp", "work"] {
            must("make a folder", fs::create_dir(root.join(folder)));
        }
        let home = root.join("home");
        let mut env = Self { _temp: temp, root, vars: BTreeMap::new(), timeout: Duration::from_secs(60) };
        for (name, folder) in [
            ("HOME", ""),
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_CACHE_HOME", ".cache"),
        ] {
            let folder = if folder.is_empty() { home.clone() } else { home.join(folder) };
            must("make a folder", fs::create_dir_all(&folder));
            env.set(name, folder);
        }
        env.set("TMPDIR", env.root.join("tmp"));
        for (name, value) in [
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("TERM", "dumb"),
            ("NO_COLOR", "1"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.com"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.com"),
        ] {
            env.set(name, value);
        }
        env.fill_path();
        env
    }

    /// The working folder: where programs run unless told otherwise.
    #[must_use]
    pub fn dir(&self) -> Utf8PathBuf {
        self.root.join("work")
    }

    /// The home folder.
    #[must_use]
    pub fn home(&self) -> Utf8PathBuf {
        self.root.join("home")
    }

    /// The first folder of `PATH`, empty but for what the test puts there.
    #[must_use]
    pub fn bin(&self) -> Utf8PathBuf {
        self.root.join("bin")
    }

    /// The top of it all, above working folder and home.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The whole environment that programs get.
    #[must_use]
    pub fn vars(&self) -> &BTreeMap<String, String> {
        &self.vars
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<String>, value: impl AsRef<str>) {
        self.vars.insert(name.into(), value.as_ref().to_owned());
    }

    /// Removes a variable.
    pub fn unset(&mut self, name: &str) {
        self.vars.remove(name);
    }

    /// How long programs may run from now on; 60 s at first.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// A program to run here: by name (looked for in this environment's `PATH`) or path.
    pub fn command(&self, program: impl AsRef<str>) -> Run {
        let program = program.as_ref();
        let path = self.vars.get("PATH").map(String::as_str).unwrap_or_default();
        let found = path.split(':').map(|dir| Utf8Path::new(dir).join(program)).find(|file| file.is_file());
        let program = if program.contains('/') { program.into() } else { found.unwrap_or_else(|| program.into()) };
        Run::new(program, self.dir(), self.vars.clone(), self.timeout)
    }

    /// Writes a file below the working folder, with the folders above it.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, path: impl AsRef<Utf8Path>, content: impl AsRef<[u8]>) -> Utf8PathBuf {
        let file = self.dir().join(path);
        write(&file, content.as_ref());
        file
    }

    /// Reads a file below the working folder.
    ///
    /// # Panics
    /// When it cannot be read or is not UTF-8.
    #[must_use]
    pub fn read(&self, path: impl AsRef<Utf8Path>) -> String {
        let file = self.dir().join(path);
        must(file.as_str(), fs::read_to_string(&file))
    }

    /// Whether a file or folder is below the working folder.
    #[must_use]
    pub fn exists(&self, path: impl AsRef<Utf8Path>) -> bool {
        self.dir().join(path).exists()
    }

    /// A program of the test's own in `PATH`: a script with its `#!` line.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn script(&self, name: &str, text: &str) -> Utf8PathBuf {
        let file = self.bin().join(name);
        write(&file, text.as_bytes());
        set_executable(&file);
        file
    }

    /// Puts a program into `PATH` under a name.
    ///
    /// # Panics
    /// When the link cannot be made.
    pub fn link(&self, name: &str, target: &Utf8Path) {
        must(name, link(target, &self.bin().join(name)));
    }

    /// Puts real agents, as `cargo xtask agents` installed them, into `PATH`.
    ///
    /// # Panics
    /// When one is not installed.
    pub fn use_agents(&self, names: &[&str]) {
        for name in names {
            self.link(name, &require_agent(name));
        }
    }

    /// Makes a git repository of the working folder, with everything in it committed, and returns the commit.
    ///
    /// # Panics
    /// When git fails.
    pub fn git_init(&self) -> String {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the working folder, at a fixed date, and returns what it printed, trimmed at its end.
    ///
    /// # Panics
    /// When git fails.
    pub fn git(&self, args: &[&str]) -> String {
        let date = "2026-01-02T03:04:05+00:00";
        let git = self.command("git").args(args).env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
        git.output().success().stdout.trim_end().to_owned()
    }

    /// Runs a shell line in the working folder.
    #[must_use]
    pub fn sh(&self, line: &str) -> Output {
        self.command("sh").args(["-c", line]).output()
    }

    /// Points every real agent to a scripted model: dummy keys, addresses on loopback, no telemetry, no updates.
    ///
    /// # Panics
    /// When a configuration cannot be written.
    pub fn use_model(&mut self, server: &ModelServer) {
        let url = server.url();
        self.use_codex(&url);
        for (name, value) in [
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("ANTHROPIC_API_KEY", "test-key"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("GEMINI_API_KEY", "test-key"),
            ("GOOGLE_GEMINI_BASE_URL", url.as_str()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("OPENAI_API_KEY", "test-key"),
            ("OPENAI_BASE_URL", &format!("{url}/v1")),
            ("OPENAI_MODEL", "fake-model"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ] {
            self.set(name, value);
        }
        let gemini = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false },
        });
        write(&self.home().join(".gemini/settings.json"), gemini.to_string().as_bytes());
        let qwen = json!({
            "security": { "auth": { "selectedType": "openai" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false },
            "model": { "name": "fake-model" },
        });
        write(&self.home().join(".qwen/settings.json"), qwen.to_string().as_bytes());
        let opencode = json!({
            "autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
            "provider": { "fake": {
                "npm": "@ai-sdk/openai-compatible",
                "options": { "baseURL": format!("{url}/v1"), "apiKey": "test-key" },
                "models": { "fake-model": { "limit": { "context": 100_000, "output": 8_000 } } },
            } },
        });
        write(&self.home().join(".config/opencode/opencode.json"), opencode.to_string().as_bytes());
    }

    /// codex takes the address of its model from its configuration only.
    fn use_codex(&mut self, url: &str) {
        let config = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n\
             [analytics]\nenabled = false\n\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
             env_key = \"SCRIPTED_MODEL_KEY\"\nwire_api = \"responses\"\n"
        );
        write(&self.home().join(".codex/config.toml"), config.as_bytes());
        // So that `codex login status` finds a login.
        let auth = json!({ "auth_mode": "apikey", "OPENAI_API_KEY": "test-key" });
        write(&self.home().join(".codex/auth.json"), auth.to_string().as_bytes());
        self.set("SCRIPTED_MODEL_KEY", "test-key");
    }

    /// `PATH`: the test's own folder, tools from wherever the developer has them, the system's programs.
    fn fill_path(&mut self) {
        let tools = self.root.join("tools");
        must("make a folder", fs::create_dir(&tools));
        let outer = std::env::var("PATH").unwrap_or_default();
        for tool in TOOLS {
            let found = outer.split(':').map(|dir| Utf8Path::new(dir).join(tool)).find(|file| file.is_file());
            // rustup's programs look at the name that they were started by, and at a home that is not here.
            if let Some(file) = found.filter(|file| !SYSTEM.iter().any(|dir| file.starts_with(dir)) && !is_shim(file)) {
                must("link a tool", link(&file, &tools.join(tool)));
            }
        }
        let mut path = vec![self.bin(), tools];
        path.extend(SYSTEM.iter().enumerate().map(|(at, dir)| self.without_agents(at, Utf8Path::new(dir))));
        let path: Vec<&str> = path.iter().map(|dir| dir.as_str()).collect();
        self.set("PATH", path.join(":"));
    }

    /// The folder itself; where it holds an agent, a folder of links to everything else in it.
    fn without_agents(&self, at: usize, folder: &Utf8Path) -> Utf8PathBuf {
        if !AGENTS.iter().any(|agent| folder.join(agent).exists()) {
            return folder.to_owned();
        }
        let clean = self.root.join(format!("system-{at}"));
        must("make a folder", fs::create_dir(&clean));
        for entry in must(folder.as_str(), folder.read_dir_utf8()).flatten() {
            if !AGENTS.contains(&entry.file_name()) {
                must("link a program", link(entry.path(), &clean.join(entry.file_name())));
            }
        }
        clean
    }
}

impl Default for TestEnv {
    fn default() -> Self {
        Self::new()
    }
}

/// Programs that start another one by the name that they are called by (version managers): a link would confuse them.
fn is_shim(file: &Utf8Path) -> bool {
    file.as_str().contains("/shims/") || file.as_str().contains("/.cargo/bin/")
}

fn write(file: &Utf8Path, content: &[u8]) {
    if let Some(folder) = file.parent() {
        must(folder.as_str(), fs::create_dir_all(folder));
    }
    must(file.as_str(), fs::write(file, content));
}

#[cfg(unix)]
fn link(target: &Utf8Path, place: &Utf8Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn link(target: &Utf8Path, place: &Utf8Path) -> std::io::Result<()> {
    fs::copy(target, place).map(drop)
}

#[cfg(unix)]
fn set_executable(file: &Utf8Path) {
    use std::os::unix::fs::PermissionsExt as _;
    must(file.as_str(), fs::set_permissions(file, fs::Permissions::from_mode(0o755)));
}

#[cfg(not(unix))]
fn set_executable(_file: &Utf8Path) {}

/// A test without its place cannot go on.
#[expect(clippy::panic, reason = "a room for tests: what fails here fails the test, with the reason")]
pub(crate) fn must<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("cannot {what}: {error}"))
}
