//! Installs the pinned agents into `.agents/<name>` at the top of the repository, or below `PLANEX_AGENTS_DIR`.
//!
//! Each agent is built beside its place and renamed into it, so that a killed installation leaves no half one. A stamp
//! holds version and lock file: with the same stamp nothing is done. One process installs at a time.

use std::fs::{self, File};
use std::process::Stdio;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::shell::{self, command, output, say};

/// Which agents.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only these (default: all of xtask/agents.toml)
    names: Vec<String>,
    /// Write the lock files anew after a change of a version, then install
    #[arg(long)]
    lock: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    agent: Vec<Agent>,
}

/// One entry of `agents.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    name: String,
    package: String,
    version: String,
    required: bool,
    /// The lock file lacks platforms that a registry may not hold; `npm ci` would refuse it.
    #[serde(default)]
    partial_lock: bool,
    script: Option<Utf8PathBuf>,
}

impl Agent {
    fn lock_file(&self) -> Utf8PathBuf {
        shell::root().join("xtask/locks").join(format!("{}.json", self.name))
    }

    fn package_json(&self) -> String {
        let json = serde_json::json!({
            "name": format!("planex-agent-{}", self.name),
            "private": true,
            "dependencies": { self.package.clone(): self.version.clone() },
        });
        format!("{json:#}\n")
    }

    fn program(&self, dir: &Utf8Path) -> Utf8PathBuf {
        dir.join("node_modules/.bin").join(&self.name)
    }
}

/// Where agents are installed: `PLANEX_AGENTS_DIR`, else `.agents` at the top of the repository.
pub(crate) fn dir() -> anyhow::Result<Utf8PathBuf> {
    match std::env::var("PLANEX_AGENTS_DIR") {
        Ok(path) if !path.is_empty() => {
            let path = std::path::absolute(&path).with_context(|| format!("PLANEX_AGENTS_DIR: {path}"))?;
            Utf8PathBuf::from_path_buf(path).map_err(|path| anyhow::anyhow!("{} is not UTF-8", path.display()))
        }
        _ => Ok(shell::root().join(".agents")),
    }
}

/// Installs what is asked for.
pub(crate) fn install(args: &Args) -> anyhow::Result<()> {
    let agents = select(load()?, &args.names)?;
    let dir = dir()?;
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {dir}"))?;
    // Held until the process ends: two test commands at once must not install into each other.
    let lock_path = dir.join(".lock");
    let lock = File::create(&lock_path).with_context(|| format!("cannot open {lock_path}"))?;
    lock.lock().with_context(|| format!("cannot lock {lock_path}"))?;

    let mut missing = Vec::new();
    for agent in agents {
        if !args.lock && stamp(&agent).is_ok_and(|stamp| is_installed(&agent, &dir, &stamp)) {
            say(&format!("{} {} is in {}", agent.name, agent.version, dir.join(&agent.name)));
        } else {
            missing.push(agent);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    if let Err(error) = require_node() {
        if missing.iter().any(|agent| agent.required) {
            return Err(error);
        }
        say(&format!("warning: {error:#}"));
        return Ok(());
    }
    if args.lock {
        missing.iter().try_for_each(write_lock)?;
    }
    install_all(&missing, &dir)
}

/// Installs side by side: most of the time is waiting for the network.
fn install_all(agents: &[Agent], dir: &Utf8Path) -> anyhow::Result<()> {
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = agents.iter().map(|agent| scope.spawn(move || install_one(agent, dir))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| bail!("panicked"))).collect::<Vec<_>>()
    });
    let mut failed = Vec::new();
    for (agent, result) in agents.iter().zip(results) {
        match result {
            Ok(()) => say(&format!("{} {} installed in {}", agent.name, agent.version, dir.join(&agent.name))),
            Err(error) if agent.required => failed.push(format!("cannot install {}: {error:#}", agent.name)),
            Err(error) => say(&format!("warning: cannot install {} (optional): {error:#}", agent.name)),
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!(failed.join("\n")) }
}

fn install_one(agent: &Agent, dir: &Utf8Path) -> anyhow::Result<()> {
    let stamp = stamp(agent)?;
    let place = dir.join(&agent.name);
    let fresh = dir.join(format!(".new-{}", agent.name));
    remove(&fresh)?;
    fs::create_dir_all(&fresh).with_context(|| format!("cannot make {fresh}"))?;
    fs::write(fresh.join("package.json"), agent.package_json())?;
    fs::copy(agent.lock_file(), fresh.join("package-lock.json"))?;
    // Both refuse a locked package whose checksum differs; `ci` also refuses what is not locked.
    let verb = if agent.partial_lock { "install" } else { "ci" };
    output(npm(&fresh).args([verb, "--ignore-scripts"]))?;
    if let Some(script) = &agent.script {
        let folder = fresh.join(script.parent().unwrap_or(Utf8Path::new("")));
        let name = script.file_name().unwrap_or_default();
        output(command("node").arg(name).current_dir(folder))?;
    }
    let program = agent.program(&fresh);
    if !program.exists() {
        bail!("{} {} brought no program {program}", agent.package, agent.version);
    }
    fs::write(fresh.join(".stamp"), stamp)?;
    remove(&place)?;
    fs::rename(&fresh, &place).with_context(|| format!("cannot move {fresh} to {place}"))
}

fn write_lock(agent: &Agent) -> anyhow::Result<()> {
    let folder = shell::root().join("target/agent-locks").join(&agent.name);
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), agent.package_json())?;
    output(npm(&folder).args(["install", "--package-lock-only", "--ignore-scripts"]))?;
    let lock = agent.lock_file();
    fs::copy(folder.join("package-lock.json"), &lock).with_context(|| format!("cannot write {lock}"))?;
    Ok(())
}

fn npm(folder: &Utf8Path) -> std::process::Command {
    let mut npm = command("npm");
    npm.current_dir(folder).args(["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]);
    // The lock files name no registry: each developer's own is used.
    npm.arg("--omit-lockfile-registry-resolved");
    npm
}

fn load() -> anyhow::Result<Vec<Agent>> {
    let path = shell::root().join("xtask/agents.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let table: Table = toml::from_str(&text).with_context(|| format!("{path} is wrong"))?;
    Ok(table.agent)
}

fn select(agents: Vec<Agent>, names: &[String]) -> anyhow::Result<Vec<Agent>> {
    if let Some(unknown) = names.iter().find(|name| agents.iter().all(|agent| agent.name != **name)) {
        let known: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
        bail!("no agent {unknown} in xtask/agents.toml; there are {}", known.join(", "));
    }
    Ok(agents.into_iter().filter(|agent| names.is_empty() || names.contains(&agent.name)).collect())
}

/// What must be the same for an installation to be good still.
fn stamp(agent: &Agent) -> anyhow::Result<String> {
    let path = agent.lock_file();
    let lock = fs::read_to_string(&path)
        .with_context(|| format!("cannot read {path}; `cargo xtask agents --lock` writes it"))?;
    Ok(format!("{}@{}\n{lock}", agent.package, agent.version))
}

fn is_installed(agent: &Agent, dir: &Utf8Path, stamp: &str) -> bool {
    let place = dir.join(&agent.name);
    agent.program(&place).exists() && fs::read_to_string(place.join(".stamp")).is_ok_and(|found| found == stamp)
}

fn remove(path: &Utf8Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {path}"))
        }
        _ => Ok(()),
    }
}

/// Makes sure of node and npm. Installed from the distribution only where that needs no question: as root, with apt.
fn require_node() -> anyhow::Result<()> {
    if shell::exists("node") && shell::exists("npm") {
        return Ok(());
    }
    let hint = "the agents are npm packages: install node 20 or newer with npm (Debian: `apt-get install nodejs npm`)";
    let is_root = output(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || !shell::exists("apt-get") {
        bail!(hint);
    }
    say("node is missing: installing it with apt-get");
    let apt = |args: &[&str]| {
        let mut apt = command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(args).stdout(Stdio::null());
        shell::run(&mut apt)
    };
    apt(&["update", "-qq"]).context(hint)?;
    apt(&["install", "-y", "-qq", "--no-install-recommends", "nodejs", "npm"]).context(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_lock_file_of_its_version() {
        for agent in load().unwrap() {
            let lock: serde_json::Value =
                serde_json::from_str(&fs::read_to_string(agent.lock_file()).unwrap()).unwrap();
            let key = format!("node_modules/{}", agent.package);
            let entry = &lock["packages"][&key];
            assert_eq!(entry["version"], agent.version.as_str(), "{}: run `cargo xtask agents --lock`", agent.name);
            for (name, package) in lock["packages"].as_object().unwrap() {
                let integrity = package["integrity"].as_str().unwrap_or_default();
                assert!(name.is_empty() || integrity.starts_with("sha512-"), "{name} has no checksum");
                assert!(package.get("resolved").is_none(), "{name} names a registry");
            }
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        let error = select(load().unwrap(), &["codx".to_owned()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no agent codx in xtask/agents.toml; there are codex, claude, gemini, opencode, qwen"
        );
    }
}
