//! Which agents there are, and whether they are usable.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test: a panic is its way to fail")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use planex_agents::replay::{Recording, Replay};
use planex_agents::{AgentRef, AgentSet, InProcess, Login, ResolveError};
use planex_core::job::Mode;
use planex_core::settings::{AgentSettings, Settings};
use planex_sys::env::Environment;

/// A machine with a home and a path of its own.
struct Machine {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    settings: Settings,
    vars: BTreeMap<String, String>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().to_owned();
        for name in ["bin", "home"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        let vars = BTreeMap::from([
            ("PATH".to_owned(), format!("{}:/usr/bin:/bin", root.join("bin"))),
            ("HOME".to_owned(), root.join("home").into_string()),
        ]);
        Self { _folder: folder, root, settings: Settings::default(), vars }
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.root.join("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn file(&self, name: &str) {
        let path = self.root.join("home").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "secret").unwrap();
    }

    fn custom(&mut self, name: &str, command: &[&str]) {
        let command = command.iter().map(|&word| word.to_owned()).collect();
        self.settings.agents.insert(name.to_owned(), AgentSettings { command, ..AgentSettings::default() });
    }

    fn set(&self) -> AgentSet {
        let environment: Environment = self.vars.iter().collect();
        let replay: Arc<dyn InProcess> = Arc::new(Replay::new(Recording::default()));
        AgentSet::new(&self.settings, &environment, None, [replay])
    }
}

#[test]
fn names_are_resolved_with_models() {
    let mut machine = Machine::new();
    machine.custom("mine", &["sh"]);
    machine.custom("odd:name", &["sh"]);
    machine.custom("empty", &[]);
    let set = machine.set();
    assert_eq!(set.names(), ["claude", "codex", "gemini", "qwen", "opencode", "empty", "mine", "odd:name", "replay"]);
    let codex = set.resolve("codex:gpt-5:high").unwrap();
    assert_eq!((codex.name(), codex.model()), ("codex", Some("gpt-5:high")));
    assert_eq!(set.resolve("odd:name").unwrap().model(), None);
    assert!(set.resolve("replay").unwrap().is_in_process());
    assert!(matches!(set.resolve("empty"), Err(ResolveError::NoCommand { .. })));
    let unknown = set.resolve("codx").unwrap_err().to_string();
    assert!(unknown.contains("did you mean `codex`"), "{unknown}");
}

#[test]
fn fall_backs_are_read() {
    for (text, agent, model) in [
        ("claude", "claude", None),
        (" claude : opus ", "claude", Some("opus")),
        ("opencode:a/b:c", "opencode", Some("a/b:c")),
        ("claude:", "claude", None),
    ] {
        let link = AgentRef::parse(text);
        assert_eq!((link.agent.as_str(), link.model.as_deref()), (agent, model), "{text}");
        assert_eq!(AgentRef::parse(&link.to_string()), link);
    }
}

#[tokio::test]
async fn what_is_not_there_says_how_to_get_it() {
    let machine = Machine::new();
    let probe = machine.set().probe("codex").await;
    assert!(!probe.usable());
    assert!(probe.remedy().unwrap().contains("npm install -g @openai/codex"), "{probe:?}");
    assert!(!machine.set().probe("nobody").await.usable());
}

#[tokio::test]
async fn a_login_is_told_by_variables_files_and_the_agents_own_word() {
    let mut machine = Machine::new();
    machine.program("codex", r#"case "$1" in --version) echo codex-cli 0.171.0;; login) exit 1;; esac"#);
    let probe = machine.set().probe("codex").await;
    assert_eq!(probe.version.as_deref(), Some("0.171.0"));
    assert!(matches!(&probe.login, Login::NotLoggedIn { how } if how.contains("codex login")), "{probe:?}");
    assert!(!probe.usable());
    // A configuration of one's own may hold another way.
    machine.file(".codex/config.toml");
    assert_eq!(machine.set().probe("codex").await.login, Login::Unknown);
    machine.file(".codex/auth.json");
    assert_eq!(machine.set().probe("codex").await.login, Login::LoggedIn);

    machine.program("claude", "echo '2.1.197 (Claude Code)'");
    assert!(!machine.set().probe("claude").await.usable());
    machine.vars.insert("ANTHROPIC_API_KEY".into(), String::new());
    assert!(!machine.set().probe("claude").await.usable());
    machine.vars.insert("ANTHROPIC_API_KEY".into(), "k".into());
    let probe = machine.set().probe("claude").await;
    assert_eq!((probe.login, probe.version.as_deref()), (Login::LoggedIn, Some("2.1.197")));
}

#[tokio::test]
async fn the_first_usable_agent_is_picked_in_order() {
    let mut machine = Machine::new();
    assert!(machine.set().first_usable(Mode::Write).await.is_none());
    machine.program("opencode", "echo 1.18.33");
    assert_eq!(machine.set().first_usable(Mode::Write).await.unwrap().name(), "opencode");
    machine.program("gemini", "sleep 60");
    machine.program("claude", "echo 2.1.197");
    machine.vars.insert("GEMINI_API_KEY".into(), "k".into());
    // claude is not logged in; gemini is slow to tell its version, but there.
    let begun = std::time::Instant::now();
    assert_eq!(machine.set().first_usable(Mode::Analysis).await.unwrap().name(), "gemini");
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
}

#[tokio::test]
async fn a_configured_program_replaces_the_known_one() {
    let mut machine = Machine::new();
    machine.program("my-codex", "echo codex-cli 9.9.9");
    machine.custom("codex", &["my-codex"]);
    machine.custom("gone", &["no-such-program"]);
    let probe = machine.set().probe("codex").await;
    assert_eq!(probe.found, Some(machine.root.join("bin/my-codex")));
    assert_eq!(probe.version.as_deref(), Some("9.9.9"));
    let gone = machine.set().probe("gone").await;
    assert!(gone.remedy().unwrap().contains("no-such-program"), "{gone:?}");
}
