//! Which names of variables look secret.

/// Words that make a name secret, as one of its words.
const SECRET_WORDS: [&str; 20] = [
    "KEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "AUTH",
    "PAT",
    "COOKIE",
    "APIKEY",
    "JWT",
];
/// Parts that make a name secret wherever they stand (`GITHUBTOKEN`, `DBPASSWORD`).
const SECRET_PARTS: [&str; 8] =
    ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ACCESSKEY", "AUTHTOKEN"];
/// Endings that say that the value is a place or a switch, not a secret.
const PLAIN_ENDINGS: [&str; 16] = [
    "SOCK",
    "SOCKET",
    "PATH",
    "FILE",
    "DIR",
    "HOME",
    "HOST",
    "PORT",
    "TYPE",
    "METHOD",
    "MODE",
    "PROVIDER",
    "ENABLED",
    "TTL",
    "TIMEOUT",
    "PARALLELISM",
];
/// Words that say that tokens are counted, not kept.
const COUNTS: [&str; 7] = ["MAX", "MIN", "LIMIT", "COUNT", "BUDGET", "NUM", "CONTEXT"];

/// Whether the value of a variable of this name is to be masked.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let last = words.last().map(String::as_str).unwrap_or_default();
    let shell = matches!(words.as_slice(), [only] if only == "PWD") || words == ["OLD", "PWD"] || words == ["OLDPWD"];
    if shell || PLAIN_ENDINGS.contains(&last) || (has(&["TOKENS"]) && has(&COUNTS)) {
        return false;
    }
    let upper = name.to_uppercase();
    has(&SECRET_WORDS) || last.ends_with("TOKEN") || SECRET_PARTS.iter().any(|part| upper.contains(part))
}

/// The words of `API_KEY`, `api-key`, `apiKey`, `npm_config_//host/:_authToken`, in upper case.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_small = false;
    for c in name.chars() {
        let breaks = !c.is_alphanumeric() || (c.is_uppercase() && after_small);
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_uppercase());
        }
        after_small = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::looks_secret;

    #[test]
    fn secret_names_are_told_from_others() {
        for name in [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "CREDENTIALS",
            "npm_config_//registry/:_authToken",
            "apiKey",
            "HTTP_AUTH",
            "GITHUBTOKEN",
            "SESSION_SECRET",
            "NPM_AUTH",
            "GH_PAT",
            "API_TOKENS",
            "SSH_PASSPHRASE",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "SSH_AUTH_SOCK",
            "HOME",
            "PWD",
            "OLDPWD",
            "KEYBOARD",
            "MONKEY",
            "XAUTHORITY",
            "LESSKEYIN_SYSTEM",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "TOKENIZERS_PARALLELISM",
            "SSH_KEY_PATH",
            "AUTHOR",
            "COMPASS",
            "TOKEN_FILE",
            "",
            "PATTERN",
            "MAX_TOKENS",
            "AUTH_TYPE",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
