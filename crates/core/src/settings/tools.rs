//! A `cli-tools.json` of the reference system, read to learn extra tool names (spec 00, *Project root and
//! configuration*).

use serde_json::Value;

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

#[cfg(test)]
mod tests {
    use super::*;

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
