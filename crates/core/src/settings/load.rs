//! The layered merge: defaults, locale, user, project, variables, flags; later wins, and every value keeps its origin.

use std::collections::BTreeMap;

use super::file::{self, Entry, Source};
use super::keys::{self, KEYS, Key};
use super::origin::{Fault, Origin};
use super::trust::{self, Why, Withheld};
use super::value::Value;
use super::{
    AgentSettings, Concurrency, GatePolicy, Language, OverlapPolicy, PromptVia, ResultVia, RoleSettings, Settings,
    ZoneSetting,
};
use crate::job::Role;
use crate::suggest;

/// What was typed on the command line.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// Key, value as typed, and the flag's name: `("concurrency", "8", "--concurrency")`.
    pub values: Vec<(&'static str, String, &'static str)>,
    /// `--agent NAME` and `--agent ROLE=NAME`, in order.
    pub agents: Vec<String>,
    /// `-y`.
    pub yes: bool,
}

/// Everything that settings are made of.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The user's own configuration.
    pub user: Option<Source<'a>>,
    /// `planex.toml` of the project.
    pub project: Option<Source<'a>>,
    /// Whether the parts of the project's configuration that need it are trusted.
    pub trusted: bool,
    /// The environment.
    pub variables: &'a BTreeMap<String, String>,
    /// The command line.
    pub flags: &'a Flags,
}

/// A value that is in force, with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Dotted name.
    pub name: String,
    /// The value, or `None` for a key without a default that nobody set.
    pub value: Option<Value>,
    /// Where it comes from.
    pub origin: Origin,
}

/// What the sources come to.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// For the engine.
    pub settings: Settings,
    /// For people: every key, the ones nobody set included, in the order of [`KEYS`].
    pub resolved: Vec<Resolved>,
    /// Parts of the project's configuration that are not taken.
    pub withheld: Vec<Withheld>,
}

/// Merges the layers.
///
/// # Errors
/// Every fault of every layer.
pub fn load(sources: Sources<'_>) -> Result<Loaded, Vec<Fault>> {
    let mut faults = Vec::new();
    let user = entries(sources.user, &mut faults);
    let project = entries(sources.project, &mut faults);
    let mut merge = Merge::default();
    merge.defaults();
    merge.locale(sources.variables);
    for entry in user {
        merge.set(entry.name, entry.value, Origin::User(entry.place));
    }
    let mut withheld = merge.project(project, sources.trusted);
    merge.variables(sources.variables, &mut faults);
    merge.flags(sources.flags, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    withheld.retain(|held| held.why == Why::Runs || !merge.is_overruled(&held.entry.name));
    Ok(Loaded { settings: merge.settings(sources.flags), resolved: merge.shown(), withheld })
}

fn entries(source: Option<Source<'_>>, faults: &mut Vec<Fault>) -> Vec<Entry> {
    match source.map(file::parse) {
        Some(Ok(entries)) => entries,
        Some(Err(found)) => {
            faults.extend(found);
            Vec::new()
        }
        None => Vec::new(),
    }
}

#[derive(Default)]
struct Merge {
    values: BTreeMap<String, (Value, Origin)>,
    agent_by_role: BTreeMap<Role, String>,
}

impl Merge {
    fn set(&mut self, name: String, value: Value, origin: Origin) {
        // A repository must not uncover what the user protects: these lists add up.
        if name == "protect"
            && let (Value::List(more), Some((Value::List(known), old))) = (&value, self.values.get_mut("protect"))
        {
            let new: Vec<String> = more.iter().filter(|glob| !known.contains(glob)).cloned().collect();
            known.extend(new);
            *old = origin;
            return;
        }
        self.values.insert(name, (value, origin));
    }

    /// Takes what a repository may set; gives the rest.
    fn project(&mut self, entries: Vec<Entry>, trusted: bool) -> Vec<Withheld> {
        let base = self.settings(&Flags::default());
        let mut withheld = Vec::new();
        let mut taken = Vec::new();
        for entry in entries {
            let why = trust::judge(&entry, &base, |name| self.values.get(name).map(|(value, _)| value));
            match why.filter(|why| !trusted || *why == Why::Budget) {
                Some(why) => withheld.push(Withheld { entry, why }),
                None => taken.push(entry),
            }
        }
        for entry in taken {
            self.set(entry.name, entry.value, Origin::Project(entry.place));
        }
        withheld
    }

    /// Whether the user said for this run what a key is to be.
    fn is_overruled(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|(_, origin)| matches!(origin, Origin::Variable(_) | Origin::Flag(_)))
    }

    fn defaults(&mut self) {
        for (name, word) in [
            ("concurrency", "4"),
            ("gates", "ask"),
            ("overlap", "serialize"),
            ("isolation", "auto"),
            ("into", "tree"),
            ("verify", "true"),
            ("baseline", "true"),
            ("lang", "en"),
        ] {
            self.default_word(name, word);
        }
        self.default_word("timezone", "+08:00");
        let limits = super::Limits::default();
        for (name, time) in [
            ("limits.explore", limits.explore),
            ("limits.execute", limits.execute),
            ("limits.review", limits.review),
            ("limits.tests", limits.tests),
            ("limits.idle", limits.idle),
            ("limits.grace", limits.grace),
        ] {
            self.set(name.to_owned(), Value::Duration(time), Origin::Default);
        }
        for (name, number) in [
            ("limits.prompt_bytes", limits.prompt_bytes as u64),
            ("limits.log_bytes", limits.log_bytes),
            ("limits.rate_limit_retries", u64::from(limits.rate_limit_retries)),
        ] {
            self.set(name.to_owned(), Value::Number(number), Origin::Default);
        }
    }

    fn default_word(&mut self, name: &str, word: &str) {
        if let Some(Ok(value)) = keys::find(name).map(|key| key.kind.parse_word(word)) {
            self.set(name.to_owned(), value, Origin::Default);
        }
    }

    /// The language of the locale, where the locale names one that planex speaks.
    fn locale(&mut self, variables: &BTreeMap<String, String>) {
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            let Some(locale) = variables.get(name).filter(|value| !value.is_empty()) else { continue };
            let language = locale.split(['_', '.', '-', '@']).next().unwrap_or_default();
            if matches!(language, "ja" | "zh") {
                self.set("lang".to_owned(), Value::Text(language.to_owned()), Origin::Locale(name));
            }
            return;
        }
    }

    fn variables(&mut self, variables: &BTreeMap<String, String>, faults: &mut Vec<Fault>) {
        for key in KEYS {
            let Some(variable) = key.variable else { continue };
            let Some(word) = variables.get(variable).filter(|word| !word.is_empty()) else { continue };
            match key.kind.parse_word(word) {
                Ok(value) => self.set(key.name.to_owned(), value, Origin::Variable(variable)),
                Err(problem) => faults.push(Fault::elsewhere(format_args!("${variable}"), problem)),
            }
        }
    }

    fn flags(&mut self, flags: &Flags, faults: &mut Vec<Fault>) {
        for (name, word, flag) in &flags.values {
            let Some(key) = keys::find(name) else { continue };
            match key.kind.parse_word(word) {
                Ok(value) => self.set((*name).to_owned(), value, Origin::Flag(flag)),
                Err(problem) => faults.push(Fault::elsewhere(flag, problem)),
            }
        }
        for given in &flags.agents {
            if let Err(problem) = self.agent_flag(given) {
                faults.push(Fault::elsewhere("--agent", problem));
            }
        }
    }

    fn agent_flag(&mut self, given: &str) -> Result<(), String> {
        let origin = Origin::Flag("--agent");
        let (role, name) = match given.split_once('=') {
            Some((role, name)) => (Some(role.trim()), name.trim()),
            None => (None, given.trim()),
        };
        if !file::is_agent_name(name) {
            return Err(format!("expected NAME or ROLE=NAME, found `{}`", crate::text::one_line(given)));
        }
        let value = Value::Text(name.to_owned());
        match role {
            None => self.set("agent".to_owned(), value, origin),
            Some(word) => {
                let role: Role = word.parse().map_err(|_| unknown_role(word))?;
                self.agent_by_role.insert(role, name.to_owned());
                self.set(format!("roles.{role}.agent"), value, origin);
            }
        }
        Ok(())
    }

    fn shown(&self) -> Vec<Resolved> {
        let mut shown = Vec::new();
        for key in KEYS {
            let before = shown.len();
            let fitting = self.values.iter().filter(|(name, _)| keys::find(name) == Some(key));
            shown.extend(fitting.map(|(name, (value, origin))| Resolved {
                name: name.clone(),
                value: Some(value.clone()),
                origin: origin.clone(),
            }));
            if shown.len() == before && !key.name.contains('*') {
                shown.push(Resolved { name: key.name.to_owned(), value: None, origin: Origin::Default });
            }
        }
        shown
    }

    fn settings(&self, flags: &Flags) -> Settings {
        let mut settings = Settings { agent_by_role: self.agent_by_role.clone(), ..Settings::default() };
        for (name, (value, _)) in &self.values {
            apply(&mut settings, name, value);
        }
        if flags.yes {
            settings.gates = GatePolicy::Yes;
        }
        settings
    }
}

fn unknown_role(word: &str) -> String {
    let known: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
    match suggest::nearest(word, known.iter().copied()) {
        Some(near) => format!("unknown role `{}`; did you mean `{near}`?", crate::text::one_line(word)),
        None => format!("unknown role `{}`; there are {}", crate::text::one_line(word), known.join(", ")),
    }
}

/// Puts one value where it belongs. The kinds were checked when it was read.
fn apply(settings: &mut Settings, name: &str, value: &Value) {
    let parts: Vec<&str> = name.split('.').collect();
    match parts.as_slice() {
        ["agents", agent, field] => {
            apply_agent(settings.agents.entry((*agent).to_owned()).or_default(), field, value);
        }
        ["roles", role, field] => {
            if let Ok(role) = role.parse::<Role>() {
                apply_role(settings.roles.entry(role).or_default(), field, value);
            }
        }
        ["limits", field] => apply_limit(settings, field, value),
        _ => apply_top(settings, name, value),
    }
}

fn apply_top(settings: &mut Settings, name: &str, value: &Value) {
    if settings.isolation.apply(name, value) {
        return;
    }
    match (name, value) {
        ("concurrency", Value::Number(n)) => settings.concurrency = Concurrency(to_usize(*n).max(1)),
        ("gates", Value::Text(word)) => {
            settings.gates = if word == "defer" { GatePolicy::Defer } else { GatePolicy::Ask };
        }
        ("gate_timeout", Value::Duration(time)) => settings.limits.gate_timeout = Some(*time),
        ("agent", Value::Text(name)) => settings.agent = Some(name.clone()),
        ("timeout", Value::Duration(time)) => settings.timeout = Some(*time),
        ("overlap", Value::Text(word)) => {
            settings.overlap = if word == "error" { OverlapPolicy::Error } else { OverlapPolicy::Serialize };
        }
        ("protect", Value::List(globs)) => settings.protect.clone_from(globs),
        ("timezone", Value::Zone(zone, _)) => {
            // The seeds' offset has a name of its own, so that "nobody chose" stays visible.
            let seed = *zone == ZoneSetting::Fixed(8 * 3600);
            settings.timezone = if seed { ZoneSetting::Seed } else { zone.clone() };
        }
        ("lang", Value::Text(word)) => {
            settings.lang = match word.as_str() {
                "ja" => Language::Ja,
                "zh" => Language::Zh,
                _ => Language::En,
            };
        }
        ("test.command", Value::Text(command)) => settings.test_command = Some(command.clone()),
        _ => {}
    }
}

fn apply_limit(settings: &mut Settings, field: &str, value: &Value) {
    let limits = &mut settings.limits;
    match (field, value) {
        ("explore", Value::Duration(time)) => limits.explore = *time,
        ("execute", Value::Duration(time)) => limits.execute = *time,
        ("review", Value::Duration(time)) => limits.review = *time,
        ("tests", Value::Duration(time)) => limits.tests = *time,
        ("idle", Value::Duration(time)) => limits.idle = *time,
        ("grace", Value::Duration(time)) => limits.grace = *time,
        ("prompt_bytes", Value::Number(n)) => limits.prompt_bytes = to_usize(*n),
        ("log_bytes", Value::Number(n)) => limits.log_bytes = *n,
        ("rate_limit_retries", Value::Number(n)) => limits.rate_limit_retries = u32::try_from(*n).unwrap_or(u32::MAX),
        ("max_cost", Value::Money(amount)) => settings.budget.max_cost = Some(*amount),
        ("max_tokens", Value::Number(n)) => settings.budget.max_tokens = Some(*n),
        ("max_time", Value::Duration(time)) => settings.budget.max_time = Some(*time),
        _ => {}
    }
}

fn apply_role(role: &mut RoleSettings, field: &str, value: &Value) {
    match (field, value) {
        ("agent", Value::Text(name)) => role.agent = Some(name.clone()),
        ("model", Value::Text(name)) => role.model = Some(name.clone()),
        ("timeout", Value::Duration(time)) => role.timeout = Some(*time),
        ("fallback", Value::List(names)) => role.fallback.clone_from(names),
        ("args", Value::List(args)) => role.args.clone_from(args),
        ("env", Value::Map(env)) => role.env.clone_from(env),
        _ => {}
    }
}

fn apply_agent(agent: &mut AgentSettings, field: &str, value: &Value) {
    match (field, value) {
        ("command", Value::List(args)) => agent.command.clone_from(args),
        ("analysis_args", Value::List(args)) => agent.analysis_args.clone_from(args),
        ("write_args", Value::List(args)) => agent.write_args.clone_from(args),
        ("resume_args", Value::List(args)) => agent.resume_args = Some(args.clone()),
        ("prompt", Value::Text(word)) => {
            agent.prompt = if word == "file" { PromptVia::File } else { PromptVia::Stdin };
        }
        ("result", Value::Text(word)) => {
            agent.result = match word.as_str() {
                "file" => ResultVia::File,
                "stdout" => ResultVia::Stdout,
                _ => ResultVia::Auto,
            };
        }
        ("env", Value::Map(env)) => agent.env.clone_from(env),
        ("concurrency", Value::Number(n)) => agent.concurrency = Some(to_usize(*n)),
        ("model", Value::Text(name)) => agent.model = Some(name.clone()),
        ("full_access", Value::Bool(yes)) => agent.full_access = *yes,
        _ => {}
    }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The key of a dotted name, or what to say about a name that is none.
///
/// # Errors
/// The nearest known key, where one is near.
pub fn require_key(name: &str) -> Result<&'static Key, String> {
    let role_fits = match name.split('.').collect::<Vec<_>>().as_slice() {
        ["roles", role, _] => role.parse::<Role>().is_ok(),
        ["agents", agent, _] => file::is_agent_name(agent),
        _ => true,
    };
    if let Some(key) = keys::find(name).filter(|_| role_fits) {
        return Ok(key);
    }
    let shown = crate::text::one_line(name);
    Err(match suggest::nearest(name, KEYS.iter().map(|key| key.name)) {
        Some(near) => format!("unknown key `{shown}`; did you mean `{near}`?"),
        None => format!("unknown key `{shown}`"),
    })
}
