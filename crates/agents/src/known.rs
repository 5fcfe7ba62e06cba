//! The agents planex knows without configuration.

use crate::adapter::Adapter;
use crate::adapters::{claude::Claude, codex::Codex, gemini::Gemini, opencode::Opencode, qwen::Qwen};

/// One known agent.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name, as written in settings and on the command line.
    pub name: &'static str,
    /// Its program.
    pub program: &'static str,
    /// Its package on the npm registry.
    pub package: &'static str,
    /// How to log in.
    pub login: &'static str,
    /// Variables that log in by themselves when they are set.
    pub login_vars: &'static [&'static str],
    /// Files whose existence says that someone logged in: a variable that names the base folder or `~`, the path below.
    pub login_files: &'static [(LoginBase, &'static str)],
    /// The agent's own command that says whether someone is logged in: exit 0 means yes.
    pub login_command: &'static [&'static str],
    /// Files of its configuration: where one exists, a missing login cannot be told from outside (own providers, key
    /// helpers, key chains).
    pub config_files: &'static [(LoginBase, &'static str)],
    /// Whether it may work for someone who never logged in (local models).
    pub login_optional: bool,
    /// Makes its adapter.
    pub(crate) adapter: fn() -> Box<dyn Adapter>,
}

/// Where a file of an agent's login is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginBase {
    /// Below the home folder.
    Home,
    /// Below the folder that this variable names, when it is set.
    Var(&'static str),
}

/// Every known agent, in the order in which `agent` picks the first usable (spec 10, *Adapters*: claude, codex, gemini,
/// qwen, opencode).
pub const KNOWN: [Known; 5] = [
    Known {
        name: "claude",
        program: "claude",
        package: "@anthropic-ai/claude-code",
        login: "run `claude` once and log in, or set ANTHROPIC_API_KEY",
        login_vars: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        login_files: &[
            (LoginBase::Var("CLAUDE_CONFIG_DIR"), ".credentials.json"),
            (LoginBase::Home, ".claude/.credentials.json"),
        ],
        login_command: &[],
        // On macOS the credentials are in the key chain; settings may name a key helper.
        config_files: &[
            (LoginBase::Var("CLAUDE_CONFIG_DIR"), "settings.json"),
            (LoginBase::Home, ".claude/settings.json"),
            (LoginBase::Home, ".claude.json"),
        ],
        login_optional: false,
        adapter: || Box::new(Claude),
    },
    Known {
        name: "codex",
        program: "codex",
        package: "@openai/codex",
        login: "run `codex login`, or set CODEX_API_KEY",
        login_vars: &["CODEX_API_KEY"],
        login_files: &[(LoginBase::Var("CODEX_HOME"), "auth.json"), (LoginBase::Home, ".codex/auth.json")],
        login_command: &["login", "status"],
        // A provider of one's own has its key in a variable of any name.
        config_files: &[(LoginBase::Var("CODEX_HOME"), "config.toml"), (LoginBase::Home, ".codex/config.toml")],
        login_optional: false,
        adapter: || Box::new(Codex),
    },
    Known {
        name: "gemini",
        program: "gemini",
        package: "@google/gemini-cli",
        login: "run `gemini` once and log in, or set GEMINI_API_KEY",
        login_vars: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
        login_files: &[
            (LoginBase::Var("GEMINI_CLI_HOME"), ".gemini/oauth_creds.json"),
            (LoginBase::Home, ".gemini/oauth_creds.json"),
        ],
        login_command: &[],
        config_files: &[
            (LoginBase::Var("GEMINI_CLI_HOME"), ".gemini/settings.json"),
            (LoginBase::Home, ".gemini/settings.json"),
        ],
        login_optional: false,
        adapter: || Box::new(Gemini),
    },
    Known {
        name: "qwen",
        program: "qwen",
        package: "@qwen-code/qwen-code",
        login: "run `qwen` once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL",
        login_vars: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        login_files: &[(LoginBase::Home, ".qwen/oauth_creds.json")],
        login_command: &[],
        config_files: &[(LoginBase::Home, ".qwen/settings.json")],
        login_optional: false,
        adapter: || Box::new(Qwen),
    },
    Known {
        name: "opencode",
        program: "opencode",
        package: "opencode-ai",
        login: "run `opencode auth login`",
        login_vars: &["OPENCODE_CONFIG_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        login_files: &[
            (LoginBase::Var("XDG_DATA_HOME"), "opencode/auth.json"),
            (LoginBase::Home, ".local/share/opencode/auth.json"),
        ],
        login_command: &[],
        config_files: &[],
        // Local models need no login.
        login_optional: true,
        adapter: || Box::new(Opencode),
    },
];

impl Known {
    /// The known agent called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.name == name)
    }

    /// How to install it, one line.
    #[must_use]
    pub fn install_hint(&self) -> String {
        format!("install it with `npm install -g {}`", self.package)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_in_the_order_of_the_specification() {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        assert_eq!(names, ["claude", "codex", "gemini", "qwen", "opencode"]);
        for known in &KNOWN {
            assert!((known.adapter)().capabilities().write, "{}", known.name);
            assert!(known.install_hint().contains(known.package));
        }
        assert!(Known::find("codex").is_some());
        assert!(Known::find("nobody").is_none());
    }
}
