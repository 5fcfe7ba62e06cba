//! A `cli-tools.json` of the reference system, read to learn extra tool names (spec 00, *Project root and
//! configuration*).

use serde_json::Value;

use super::load::{Loaded, Resolved};
use super::origin::Origin;
use super::value::{Kind, Value as Setting};

/// One tool of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name: what an executor may be called.
    pub name: String,
    /// Whether the file has it switched on.
    pub enabled: bool,
    /// The model it prefers.
    pub model: Option<String>,
}

/// Reads the file's text. It belongs to another program: what is not as expected is left out, and a file that is no
/// JSON gives its fault as a text to show, never an error.
///
/// # Errors
/// The text is no JSON object.
pub fn parse_tools(text: &str) -> Result<Vec<Tool>, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let tools = file.get("tools").unwrap_or(&file).as_object().ok_or("expected a JSON object")?;
    Ok(tools
        .iter()
        .filter_map(|(name, tool)| {
            let tool = tool.as_object()?;
            super::file::is_agent_name(name).then(|| Tool {
                name: name.clone(),
                enabled: tool.get("enabled").and_then(Value::as_bool).unwrap_or(true),
                model: tool.get("primaryModel").and_then(Value::as_str).filter(|m| !m.is_empty()).map(str::to_owned),
            })
        })
        .collect())
}

/// Other names that tools of the reference system have for agents that planex knows.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("claude-code", "claude"),
    ("codex-cli", "codex"),
    ("gemini-cli", "gemini"),
    ("qwen-code", "qwen"),
    ("qwen-cli", "qwen"),
    ("opencode-ai", "opencode"),
];

impl Tool {
    /// The agent of planex that it is, if its name says so.
    #[must_use]
    pub fn agent<'a>(&'a self, known: &[&str]) -> Option<&'a str> {
        let name = self.name.as_str();
        let other = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, agent)| *agent);
        other.or(Some(name)).filter(|agent| known.contains(agent))
    }
}

impl Loaded {
    /// Takes the models that enabled tools prefer as those of their agents, where nothing else names one. `known` are the
    /// agents planex knows, `file` is where the tools were read.
    pub fn prefer(&mut self, tools: &[Tool], known: &[&str], file: &str) {
        for tool in tools.iter().filter(|tool| tool.enabled) {
            let Some((agent, model)) = tool.agent(known).zip(tool.model.as_deref()) else { continue };
            // It ends up as an argument: what could be taken for an option is none.
            let Ok(value @ Setting::Text(_)) = Kind::Name.parse_word(model) else { continue };
            let settings = self.settings.agents.entry(agent.to_owned()).or_default();
            if settings.model.is_none() {
                settings.model = Some(model.to_owned());
                self.resolved.push(Resolved {
                    name: format!("agents.{agent}.model"),
                    value: Some(value),
                    origin: Origin::Tools(file.to_owned()),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preferred_model_is_taken_where_nothing_else_names_one() {
        let tool =
            |name: &str, enabled, model: &str| Tool { name: name.to_owned(), enabled, model: Some(model.to_owned()) };
        let tools = [
            tool("gemini-cli", true, "g-pro"),
            tool("gemini", true, "g-second"),
            tool("codex", false, "off"),
            tool("claude", true, "--evil"),
            tool("mine", true, "m"),
            tool("qwen", true, "q-file"),
        ];
        let mut loaded = Loaded::default();
        loaded.settings.agents.entry("qwen".to_owned()).or_default().model = Some("q-config".to_owned());
        loaded.prefer(&tools, &["claude", "codex", "gemini", "qwen"], "cli-tools.json");
        let models: Vec<(&str, Option<&str>)> =
            loaded.settings.agents.iter().map(|(name, agent)| (name.as_str(), agent.model.as_deref())).collect();
        assert_eq!(models, [("gemini", Some("g-pro")), ("qwen", Some("q-config"))]);
        let shown: Vec<String> =
            loaded.resolved.iter().map(|value| format!("{} # {}", value.name, value.origin)).collect();
        assert_eq!(shown, ["agents.gemini.model # cli-tools.json"]);
    }

    #[test]
    fn tools_are_read_and_the_rest_is_left_out() {
        let text = r#"{"version": "3", "tools": {
            "gemini": {"enabled": true, "primaryModel": "g-pro", "tags": []},
            "codex": {"enabled": false, "primaryModel": ""},
            "../evil": {"enabled": true}, "odd": 3}}"#;
        let tools = parse_tools(text).unwrap();
        let shown: Vec<(&str, bool, Option<&str>)> =
            tools.iter().map(|tool| (tool.name.as_str(), tool.enabled, tool.model.as_deref())).collect();
        assert_eq!(shown, [("gemini", true, Some("g-pro")), ("codex", false, None)]);
        assert!(parse_tools("[]").is_err());
        assert!(parse_tools("nonsense").is_err());
    }
}
