//! From options, environment and files to [`Settings`]: reading here, merging in `planex_core::settings`.

use camino::Utf8PathBuf;
use planex_agents::KNOWN;
use planex_core::settings::Settings;
use planex_core::settings::file::{Source, parse};
use planex_core::settings::load::{Flags, Loaded, Sources, load};
use planex_core::settings::origin::Fault;
use planex_core::settings::tools::{Tool, parse_tools};
use planex_core::settings::trust::{TrustedParts, Why, trusted_parts};
use planex_core::text::one_line;
use planex_core::time::Zone;
use planex_engine::gate::ApprovalStore;
use planex_engine::ground::Upkeep;
use planex_engine::project::Project;
use planex_engine::trust::{self, TrustStore};

use crate::cli::{Common, Gates, Overlap};
use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::folders::Folders;
use crate::ui::Ui;
use crate::ui::colour::Tone;
use crate::ui::select::confirm;

/// Largest configuration file, in bytes.
const LARGEST: u64 = 1 << 20;

/// What a command that works in a project starts from.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The project.
    pub(crate) project: Project,
    /// The user's folders.
    pub(crate) folders: Folders,
    /// Settings, and where each comes from.
    pub(crate) loaded: Loaded,
    /// How `planex.toml` stands.
    pub(crate) trust: Trust,
    files: Files,
}

/// Whether the parts of `planex.toml` that need trust have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing is withheld.
    NotNeeded,
    /// The user trusted it as it is.
    Given,
    /// These wait for it.
    Missing(TrustedParts),
}

/// The configuration files, read once: what is shown, trusted and used is one text. Each with its path as it is shown.
#[derive(Debug, Default)]
struct Files {
    user: Option<(String, String)>,
    project: Option<(String, String)>,
}

/// The user's own file.
pub(crate) fn user_file(folders: &Folders) -> Option<Utf8PathBuf> {
    folders.config.as_ref().map(|folder| folder.join("config.toml"))
}

/// Where trust is kept.
pub(crate) fn trust_store(folders: &Folders) -> Result<TrustStore> {
    let folder = folders.data.as_ref().ok_or_else(|| {
        CliError::failed("there is no home folder to keep trust in").hint("set HOME, or use --trust for one run")
    })?;
    Ok(TrustStore::new(folder.join("trust.json")))
}

/// Where answers are vouched for.
pub(crate) fn approvals(folders: &Folders) -> ApprovalStore {
    ApprovalStore::new(folders.data.as_ref().map(|folder| folder.join("approvals")))
}

/// What looks after the project's repository and the trees of tasks.
///
/// # Errors
/// Git refuses.
pub(crate) fn upkeep(setup: &Setup, context: &Context) -> Result<Upkeep> {
    let root = setup.settings().isolation.worktree.root.as_deref();
    Ok(Upkeep::new(&setup.project.root, &context.env, root, setup.folders.cache.as_deref())?)
}

/// The project, for commands that need no settings.
pub(crate) fn project(context: &Context) -> Project {
    Project::find(&context.dir, Folders::of(&context.env).home.as_deref())
}

impl Setup {
    /// Finds the project and reads its settings. Parts that wait for trust have no effect.
    pub(crate) fn read(context: &Context) -> Result<Self> {
        let folders = Folders::of(&context.env);
        let project = Project::find(&context.dir, folders.home.as_deref());
        let files = Files::read(context, &folders, &project)?;
        let parts = files.parts();
        let given = context.common.trust || is_trusted(&folders, &project, &parts)?;
        let loaded = files.load(context, &folders, given)?;
        let trust = match () {
            () if given => Trust::Given,
            () if loaded.withheld.iter().any(|held| held.why != Why::Budget) => Trust::Missing(parts),
            () => Trust::NotNeeded,
        };
        Ok(Self { project, folders, loaded, trust, files })
    }

    /// The same for a command that runs agents or commands: what would run or widen something is asked for, else exit 4.
    /// What only raises a limit is not taken, and said.
    pub(crate) fn trusted(context: &Context, ui: &mut Ui) -> Result<Self> {
        let mut setup = Self::read(context)?;
        let runs = setup.loaded.withheld.iter().any(|held| held.why == Why::Runs);
        if let (Trust::Missing(parts), true) = (&setup.trust, runs) {
            if !ui.is_interactive() || !ask_trust(&setup.project.root, parts, ui)? {
                return Err(trust::not_trusted(&setup.project.root, parts).into());
            }
            trust_store(&setup.folders)?.grant(&setup.project.root, parts)?;
            setup.loaded = setup.files.load(context, &setup.folders, true)?;
            setup.trust = Trust::Given;
        }
        for held in &setup.loaded.withheld {
            ui.warning(one_line(&held.to_string()));
        }
        Ok(setup)
    }

    /// The settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.loaded.settings
    }

    /// The zone of stored and shown times.
    pub(crate) fn zone(&self) -> Zone {
        Zone::new(&self.settings().timezone, &jiff::tz::TimeZone::system())
    }
}

/// Where nothing can be kept, nothing is trusted.
fn is_trusted(folders: &Folders, project: &Project, parts: &TrustedParts) -> Result<bool> {
    if parts.lines.is_empty() {
        return Ok(false);
    }
    match trust_store(folders) {
        Ok(store) => Ok(store.is_trusted(&project.root, parts)?),
        Err(_) => Ok(false),
    }
}

/// Shows what is to be trusted, and asks.
pub(crate) fn ask_trust(root: &camino::Utf8Path, parts: &TrustedParts, ui: &mut Ui) -> Result<bool> {
    let title = ui.err_colours().paint(Tone::Title, &format!("{root}/planex.toml sets what planex runs:"));
    ui.important(title);
    for line in &parts.lines {
        ui.important(format!("  {}", one_line(line)));
    }
    confirm("Trust this?", "asked again when it changes", ui.err_colours())
        .ok_or_else(|| CliError::new(Exit::Stopped, "not trusted").hint(format!("planex trust {root}")))
}

/// Refuses what is no plain file of a sensible size; an absent one is fine.
fn require_plain(path: &camino::Utf8Path) -> Result<()> {
    // A repository may hold anything under this name: a device would be read for ever.
    if planex_sys::fs::exists(path) {
        let meta = planex_sys::fs::metadata(path)?;
        if !meta.is_file() || meta.len() > LARGEST {
            return Err(CliError::input(format!("{path} is no file of at most {LARGEST} bytes"))
                .hint("put a plain configuration file there, or take it away"));
        }
    }
    Ok(())
}

fn read(path: &camino::Utf8Path) -> Result<Option<String>> {
    require_plain(path)?;
    let Some(bytes) = planex_sys::fs::read_if_exists(path)? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|error| {
        CliError::input(format!("{path} is not UTF-8"))
            .faults([format!("{path}: byte {}: not UTF-8", error.utf8_error().valid_up_to())])
            .hint("save the file as UTF-8")
    })?;
    Ok(Some(text))
}

impl Files {
    fn read(context: &Context, folders: &Folders, project: &Project) -> Result<Self> {
        let with_name = |path: Utf8PathBuf| -> Result<Option<(String, String)>> {
            Ok(read(&path)?.map(|text| (shown(&path, &context.dir), text)))
        };
        let user = user_file(folders).map(with_name).transpose()?.flatten();
        Ok(Self { user, project: with_name(project.root.join("planex.toml"))? })
    }

    /// What trust is bound to. Of a file with faults nothing: loading it tells them.
    fn parts(&self) -> TrustedParts {
        let entries = source(self.project.as_ref()).and_then(|source| parse(source).ok());
        trusted_parts(&entries.unwrap_or_default())
    }

    fn load(&self, context: &Context, folders: &Folders, trusted: bool) -> Result<Loaded> {
        let flags = flags(&context.common);
        let mut loaded = load(Sources {
            user: source(self.user.as_ref()),
            project: source(self.project.as_ref()),
            trusted,
            variables: context.env.vars(),
            flags: &flags,
        })
        .map_err(|faults| config_error(&faults))?;
        // A file of another program: what is wrong with it stops nothing, `planex doctor` says it.
        let (tools, _) = extra_tools(folders);
        let known = KNOWN.map(|known| known.name);
        loaded.prefer(&tools, &known, TOOLS);
        Ok(loaded)
    }
}

fn source(file: Option<&(String, String)>) -> Option<Source<'_>> {
    file.map(|(file, text)| Source { file, text })
}

/// A path as it is shown: relative to where the command works, if it lies below.
pub(crate) fn shown(path: &camino::Utf8Path, dir: &camino::Utf8Path) -> String {
    path.strip_prefix(dir).map_or_else(|_| path.to_string(), ToString::to_string)
}

/// Flags that cannot be read are wrong usage; everything else is wrong input.
fn config_error(faults: &[Fault]) -> CliError {
    let only_flags = faults.iter().all(|fault| fault.at.starts_with('-'));
    match faults {
        [one] if only_flags => CliError::usage(one),
        _ if only_flags => CliError::usage("options cannot be used").faults(faults),
        _ => CliError::input("the configuration cannot be used").faults(faults.iter().map(with_source)),
    }
}

/// A fault with the line it stands on and a mark below its column.
pub(crate) fn with_source(fault: &Fault) -> String {
    match &fault.source {
        Some((line, column)) if !line.trim().is_empty() => {
            let line = planex_core::text::safe(line);
            let before: String = line.chars().take(column.saturating_sub(1)).collect();
            let pad = " ".repeat(planex_core::text::width(&before));
            format!("{fault}\n    {line}\n    {pad}^")
        }
        _ => fault.to_string(),
    }
}

fn flags(common: &Common) -> Flags {
    let mut values: Vec<(&'static str, String, &'static str)> = Vec::new();
    let mut put = |key, value: Option<String>, flag| values.extend(value.map(|value| (key, value, flag)));
    put("concurrency", common.concurrency.clone(), "--concurrency");
    put("timeout", common.timeout.clone(), "--timeout");
    put("limits.max_time", common.max_time.clone(), "--max-time");
    put("limits.max_cost", common.max_cost.clone(), "--max-cost");
    put("limits.max_tokens", common.max_tokens.clone(), "--max-tokens");
    let gates = common.gates.map(|gates| match gates {
        Gates::Ask => "ask",
        Gates::Defer => "defer",
    });
    put("gates", gates.map(str::to_owned), "--gates");
    let overlap = common.overlap.map(|overlap| match overlap {
        Overlap::Serialize => "serialize",
        Overlap::Error => "error",
    });
    put("overlap", overlap.map(str::to_owned), "--overlap");
    put("isolation", common.isolation.clone(), "--isolation");
    put("scope", common.scope.clone(), "--scope");
    put("into", common.into.clone(), "--into");
    put("verify", common.no_verify.then(|| "false".to_owned()), "--no-verify");
    put("baseline", common.no_baseline.then(|| "false".to_owned()), "--no-baseline");
    Flags { values, agents: common.agent.clone(), yes: common.yes }
}

/// Every fault of the configuration, one a line, for `planex doctor`.
pub(crate) fn config_faults(context: &Context, folders: &Folders, project: &Project) -> Vec<String> {
    let files = user_file(folders).into_iter().chain([project.root.join("planex.toml")]);
    files
        .flat_map(|path| match read(&path) {
            Ok(Some(text)) => match parse(Source { file: &shown(&path, &context.dir), text: &text }) {
                Ok(_) => Vec::new(),
                Err(faults) => faults.iter().map(ToString::to_string).collect(),
            },
            Ok(None) => Vec::new(),
            Err(_) => vec![format!("{path}: cannot be read")],
        })
        .collect()
}

/// The file of the reference system that names tools.
const TOOLS: &str = "cli-tools.json";

/// Enabled tools of that file that are no agent of planex, neither known nor configured.
pub(crate) fn unknown_tools(setup: &Setup) -> Vec<String> {
    let known = KNOWN.map(|known| known.name);
    let (tools, _) = extra_tools(&setup.folders);
    let unknown = |tool: &Tool| {
        let configured = setup.settings().agents.contains_key(&tool.name);
        tool.enabled && tool.agent(&known).is_none() && !configured && tool.name != planex_engine::engine::NATIVE
    };
    tools.into_iter().filter(unknown).map(|tool| tool.name).collect()
}

/// Tools that a `cli-tools.json` of the reference system names, and what is wrong with the file.
pub(crate) fn extra_tools(folders: &Folders) -> (Vec<Tool>, Option<String>) {
    let Some(home) = &folders.home else { return (Vec::new(), None) };
    let path = home.join(".claude").join(TOOLS);
    match read(&path) {
        Ok(Some(text)) => match parse_tools(&text) {
            Ok(tools) => (tools, None),
            Err(fault) => (Vec::new(), Some(format!("{path}: {fault}"))),
        },
        Ok(None) => (Vec::new(), None),
        Err(_) => (Vec::new(), Some(format!("{path}: cannot be read"))),
    }
}
