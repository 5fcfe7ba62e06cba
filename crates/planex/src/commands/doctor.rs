//! `planex doctor`.

mod leftovers;

use planex_agents::Probe;
use planex_engine::session::{self, SessionStatus};
use planex_engine::{registry, session::Session};
use planex_sys::process::{CommandSpec, run as run_command};

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::folders::Folders;
use crate::host::{agents, native, runtime};
use crate::setup::{self, Setup, Trust, config_faults, extra_tools};
use crate::ui::Ui;
use crate::ui::colour::Tone;
use crate::ui::size::bytes;

/// Check git, agents, configuration and leftovers, and say how to mend what is wrong
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Longest time that git may take to tell its version.
const GIT_LIMIT: std::time::Duration = std::time::Duration::from_secs(10);

/// How one thing stands.
enum State {
    Good,
    /// Works, with less.
    Note,
    /// Has to be mended.
    Bad,
}

/// What was looked at, and what was found.
struct Finding {
    state: State,
    what: String,
    found: String,
    mend: Option<String>,
}

impl Finding {
    fn good(what: &str, found: impl Into<String>) -> Self {
        Self { state: State::Good, what: what.to_owned(), found: found.into(), mend: None }
    }

    fn note(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { state: State::Note, what: what.to_owned(), found: found.into(), mend: Some(mend.into()) }
    }

    fn bad(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { state: State::Bad, what: what.to_owned(), found: found.into(), mend: Some(mend.into()) }
    }
}

/// Runs the command.
pub(crate) fn run(args: &DoctorArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let folders = Folders::of(&context.env);
    let project = setup::project(context);
    let mut findings = vec![Finding::good("planex", env!("CARGO_PKG_VERSION")), git(context)];
    let faults = config_faults(context, &folders, &project);
    if faults.is_empty() {
        findings.push(Finding::good("configuration", format!("project {}", project.root)));
        findings.extend(checks_with_settings(args, context)?);
    }
    findings.extend(faults.into_iter().map(|fault| {
        let (place, message) = fault.split_once(": ").unwrap_or(("", fault.as_str()));
        Finding::bad("configuration", format!("{place}: {message}"), "edit the file, or use `planex config set`")
    }));
    if let (_, Some(fault)) = extra_tools(&folders) {
        findings.push(Finding::note("cli-tools.json", fault, "mend or remove the file; planex goes on without it"));
    }
    findings.push(cache(&folders));
    let bad = findings.iter().filter(|finding| matches!(finding.state, State::Bad)).count();
    for finding in &findings {
        show(finding, ui);
    }
    Ok(if bad > 0 { Exit::Failed } else { Exit::Done })
}

fn show(finding: &Finding, ui: &mut Ui) {
    let found = planex_core::text::safe(&finding.found);
    if ui.is_json() {
        let state = match finding.state {
            State::Good => "good",
            State::Note => "note",
            State::Bad => "bad",
        };
        ui.json_line(
            &serde_json::json!({ "state": state, "what": finding.what, "found": found, "mend": finding.mend }),
        );
        return;
    }
    let (tone, mark) = match finding.state {
        State::Good => (Tone::Good, "ok  "),
        State::Note => (Tone::Warning, "note"),
        State::Bad => (Tone::Error, "bad "),
    };
    let mark = ui.colours().paint(tone, mark);
    ui.result(format_args!("{mark}  {}  {found}", planex_core::text::pad(&finding.what, 14)));
    if let Some(mend) = &finding.mend {
        ui.result(format_args!("      {}  -> {}", planex_core::text::pad("", 14), planex_core::text::safe(mend)));
    }
}

fn git(context: &Context) -> Finding {
    let spec = CommandSpec {
        argv: ["git", "--version"].map(str::to_owned).to_vec(),
        env: context.env.vars().clone(),
        cwd: context.dir.clone(),
        stdin: Vec::new(),
        limit: GIT_LIMIT,
        output_cap: 4096,
    };
    match run_command(&spec) {
        Ok(output) if output.success() => {
            Finding::good("git", String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(output) => Finding::bad("git", output.stderr_line(), "repair the installation of git"),
        Err(error) => Finding::note("git", error.to_string(), "install git; without it tasks are not isolated"),
    }
}

fn checks_with_settings(args: &DoctorArgs, context: &Context) -> Result<Vec<Finding>> {
    let setup = Setup::read(context)?;
    let mut findings = Vec::new();
    if matches!(setup.trust, Trust::Missing(_)) {
        let mend = format!("read it, then `planex trust {}`", setup.project.root);
        findings.push(Finding::note("trust", "planex.toml has parts that are not trusted", mend));
    }
    let set = agents(&setup, context, native(&setup), Vec::new());
    let names = set.names();
    let probes = runtime()?.block_on(set.probe_all(names.iter().map(String::as_str)));
    let usable = probes.iter().any(|probe| probe.usable() && probe.name != planex_engine::engine::NATIVE);
    findings.extend(probes.iter().map(agent));
    if !usable {
        findings.push(Finding::note(
            "agents",
            "no coding agent is usable: planex can explore and plan, but not execute",
            "install and log in to one of those above",
        ));
    }
    findings.extend(sessions(args, &setup)?);
    findings.extend(leftovers::look(args.fix, &setup, context));
    Ok(findings)
}

fn agent(probe: &Probe) -> Finding {
    let what = format!("agent {}", probe.name);
    let version = probe.version.clone().unwrap_or_else(|| "version unknown".to_owned());
    match (probe.usable(), probe.remedy()) {
        (true, _) => Finding::good(&what, version),
        (false, remedy) => {
            let found =
                if probe.found.is_some() { format!("{version}, not logged in") } else { "not found".to_owned() };
            Finding::note(&what, found, remedy.unwrap_or_default())
        }
    }
}

/// Sessions that stopped in the middle, and what dead runs left behind.
fn sessions(args: &DoctorArgs, setup: &Setup) -> Result<Vec<Finding>> {
    let all = session::list(&setup.project.root)?;
    let size: u64 = all.iter().map(|summary| summary.size).sum();
    let mut findings = vec![Finding::good("sessions", format!("{}, {}", all.len(), bytes(size)))];
    for summary in &all {
        let id = &summary.found.id;
        let broken = session::broken_files(&summary.found);
        findings.extend(broken.into_iter().map(|file| Finding::bad("sessions", file.problem, file.mend)));
        if !matches!(summary.status, SessionStatus::Stopped) {
            continue;
        }
        let unfinished = registry::runs(&summary.found.paths())?.iter().filter(|run| run.outcome.is_none()).count();
        if unfinished == 0 {
            continue;
        }
        let found = format!("{id}: {unfinished} runs were cut off");
        if args.fix {
            // The lock: nobody else may be about to resume it.
            let held = Session::open(&summary.found, "planex doctor --fix", planex_sys::clock::now())?;
            let left = registry::end_leftovers(&held.paths)?;
            findings.push(match left.is_empty() {
                true => Finding::good("leftovers", format!("{id}: no process is left")),
                false => Finding::bad("leftovers", format!("{id}: {}", left.join(", ")), "end them by hand"),
            });
        } else {
            findings.push(Finding::note("leftovers", found, format!("planex resume {id}, or planex doctor --fix")));
        }
    }
    Ok(findings)
}

fn cache(folders: &Folders) -> Finding {
    match &folders.cache {
        Some(folder) if planex_sys::fs::is_dir(folder) => {
            Finding::good("cache", format!("{folder}, {}; safe to delete", bytes(planex_sys::fs::dir_size(folder))))
        }
        Some(folder) => Finding::good("cache", format!("{folder}, empty")),
        None => Finding::note("cache", "there is no cache folder: every run reads the whole tree", "set HOME"),
    }
}
