//! Every key of the configuration: its type, its variable, whether it needs trust, and what it means.
//!
//! This one table drives reading, checking, suggestions, `planex config show|get|set` and the skeleton that
//! `planex init` writes.

use super::trust::Rule;
use super::value::Kind;

/// One key. A `*` in its name stands for a role (`roles.*`) or the name of an agent (`agents.*`).
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Dotted name, as in TOML.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The variable that sets it.
    pub variable: Option<&'static str>,
    /// What a repository's value may do without the user's trust (spec 70, *Security*).
    pub rule: Rule,
    /// What it means, one sentence.
    pub meaning: &'static str,
}

const fn key(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key { name, kind, variable: None, rule: Rule::Free, meaning }
}

impl Key {
    const fn var(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }

    const fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    const fn needs_trust(self) -> Self {
        self.rule(Rule::Trust)
    }
}

/// Every key, in the order they are shown.
pub const KEYS: &[Key] = &[
    key("concurrency", Kind::Positive, "jobs at once").var("PLANEX_CONCURRENCY").rule(Rule::Lower),
    key("gates", Kind::Word(&["ask", "defer"]), "ask at the terminal, or stop with exit 4").var("PLANEX_GATES"),
    key("gate_timeout", Kind::Duration, "after this long a clarification ends by itself")
        .var("PLANEX_GATE_TIMEOUT")
        .rule(Rule::Later),
    key("agent", Kind::Name, "agent for every role that needs one").var("PLANEX_AGENT").rule(Rule::Agent),
    key("timeout", Kind::Duration, "limit of each agent job, over the defaults of its role")
        .var("PLANEX_TIMEOUT")
        .rule(Rule::Limit),
    key("overlap", Kind::Word(&["serialize", "error"]), "tasks of one wave whose scopes overlap").var("PLANEX_OVERLAP"),
    key("isolation", Kind::Word(&["auto", "worktree", "none"]), "a tree of its own for each task")
        .var("PLANEX_ISOLATION")
        .needs_trust(),
    key("scope", Kind::Word(&["enforce", "warn"]), "what a change outside of a task's scope means")
        .var("PLANEX_SCOPE")
        .needs_trust(),
    key("into", Kind::Destination, "where results go: tree, patch or branch=NAME")
        .var("PLANEX_INTO")
        .rule(Rule::Destination),
    key("verify", Kind::Bool, "planex runs the commands of tasks itself").needs_trust(),
    key("baseline", Kind::Bool, "the project's tests run once before the first task counts").needs_trust(),
    key("worktree.root", Kind::Text, "folder for tasks' trees").var("PLANEX_WORKTREE_ROOT").needs_trust(),
    key("worktree.copy", Kind::List, "ignored files and folders that are copied into each tree").needs_trust(),
    key("worktree.link", Kind::List, "ignored files and folders that are linked into each tree").needs_trust(),
    key("worktree.setup", Kind::List, "shell lines that prepare each new tree").needs_trust(),
    key("protect", Kind::List, "globs of files no agent may read or write; files add to each other"),
    key("timezone", Kind::Zone, "offset of stored times: local, utc or +HH:MM").var("PLANEX_TIMEZONE"),
    key("lang", Kind::Word(&["en", "ja", "zh"]), "language of messages").var("PLANEX_LANG"),
    key("test.command", Kind::Text, "runs the project's tests; beats what the manifests say")
        .var("PLANEX_TEST_COMMAND")
        .needs_trust(),
    key("limits.explore", Kind::Duration, "limit of exploring and other read-only jobs").rule(Rule::Limit),
    key("limits.execute", Kind::Duration, "limit of jobs that change files").rule(Rule::Limit),
    key("limits.review", Kind::Duration, "limit of review and fix jobs").rule(Rule::Limit),
    key("limits.tests", Kind::Duration, "limit of test commands").rule(Rule::Limit),
    key("limits.idle", Kind::Duration, "silence that ends a job; 0 switches it off").rule(Rule::Limit),
    key("limits.grace", Kind::Duration, "time between asking a job to end and killing it").rule(Rule::Lower),
    key("limits.prompt_bytes", Kind::Size, "most bytes of a prompt").rule(Rule::Lower),
    key("limits.log_bytes", Kind::Size, "most bytes of a run's log on disk").rule(Rule::Lower),
    key("limits.rate_limit_retries", Kind::Count, "how often a rate-limited job is tried again").rule(Rule::Lower),
    key("limits.max_cost", Kind::Money, "most US dollars of a session").var("PLANEX_MAX_COST").rule(Rule::Budget),
    key("limits.max_tokens", Kind::Size, "most tokens of a session").var("PLANEX_MAX_TOKENS").rule(Rule::Budget),
    key("limits.max_time", Kind::Duration, "most time of a session").var("PLANEX_MAX_TIME").rule(Rule::Budget),
    key("roles.*.agent", Kind::Name, "agent of this role").rule(Rule::Agent),
    key("roles.*.model", Kind::Name, "model of this role"),
    key("roles.*.timeout", Kind::Duration, "limit of this role's jobs").rule(Rule::Limit),
    key("roles.*.fallback", Kind::List, "agents or agent:model to try in order").rule(Rule::Agent),
    key("roles.*.args", Kind::List, "extra arguments").needs_trust(),
    key("roles.*.env", Kind::Map, "extra environment").needs_trust(),
    key("agents.*.command", Kind::List, "argument list that starts it").needs_trust(),
    key("agents.*.analysis_args", Kind::List, "appended when it may only read").needs_trust(),
    key("agents.*.write_args", Kind::List, "appended when it may change files").needs_trust(),
    key("agents.*.resume_args", Kind::List, "appended when a run goes on; {session} is replaced").needs_trust(),
    key("agents.*.prompt", Kind::Word(&["stdin", "file"]), "how it gets its prompt").needs_trust(),
    key("agents.*.result", Kind::Word(&["auto", "file", "stdout"]), "where its result is").needs_trust(),
    key("agents.*.env", Kind::Map, "added to its environment").needs_trust(),
    key("agents.*.concurrency", Kind::Positive, "jobs of this agent at once").needs_trust(),
    key("agents.*.model", Kind::Name, "its model where the role names none").needs_trust(),
    key("agents.*.full_access", Kind::Bool, "may run without its own sandbox").needs_trust(),
];

/// The key that a dotted name means, `*` matching one part.
#[must_use]
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| matches(key.name, name))
}

/// Whether a key begins with the dotted name, so that it has to be a table.
pub(super) fn is_table(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    KEYS.iter().any(|key| {
        let pattern: Vec<&str> = key.name.split('.').collect();
        pattern.len() > parts.len() && pattern.iter().zip(&parts).all(|(pattern, part)| fits(pattern, part))
    })
}

/// The names that may stand in table `parent` (empty: at the top).
pub(super) fn children(parent: &str) -> Vec<&'static str> {
    let depth = if parent.is_empty() { 0 } else { parent.split('.').count() };
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS {
        let pattern: Vec<&'static str> = key.name.split('.').collect();
        let inside = depth == 0 || pattern.iter().zip(parent.split('.')).all(|(pattern, part)| fits(pattern, part));
        if let Some(name) = pattern.get(depth).filter(|_| inside && pattern.len() > depth)
            && !names.contains(name)
        {
            names.push(name);
        }
    }
    names
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.split('.').count() == name.split('.').count()
        && pattern.split('.').zip(name.split('.')).all(|(pattern, part)| fits(pattern, part))
}

fn fits(pattern: &str, part: &str) -> bool {
    (pattern == "*" && !part.is_empty()) || pattern == part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_key() {
        for (name, expected) in [
            ("limits.idle", Some("limits.idle")),
            ("roles.plan.agent", Some("roles.*.agent")),
            ("agents.my-agent.env", Some("agents.*.env")),
            ("agents..env", None),
            ("limits", None),
            ("limits.idle.x", None),
            ("", None),
        ] {
            assert_eq!(find(name).map(|key| key.name), expected, "{name}");
        }
    }

    #[test]
    fn tables_know_their_children() {
        assert!(is_table("roles") && is_table("roles.plan") && !is_table("roles.plan.agent") && !is_table("gates"));
        assert_eq!(children("test"), ["command"]);
        assert_eq!(children("roles"), ["*"]);
        assert!(children("roles.plan").contains(&"fallback"));
        assert!(children("").contains(&"limits") && !children("").contains(&"*"));
    }

    #[test]
    fn every_key_is_its_own_and_variables_are_unique() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS.iter().skip(at + 1).all(|other| other.name != key.name), "{}", key.name);
            if let Some(variable) = key.variable {
                assert!(KEYS.iter().skip(at + 1).all(|other| other.variable != Some(variable)), "{variable}");
                assert!(variable.starts_with("PLANEX_"));
            }
        }
    }
}
