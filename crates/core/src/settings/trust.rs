//! Which parts of a repository's configuration take effect only after the user trusted them (spec 70, *Security*).

use super::file::Entry;

/// Whether an entry of a repository runs a command or widens what an agent may do.
#[must_use]
pub fn needs_trust(entry: &Entry) -> bool {
    entry.key.trust
}

/// The entries that need trust, by name.
#[must_use]
pub fn trusted_parts(entries: &[Entry]) -> Vec<&Entry> {
    let mut parts: Vec<&Entry> = entries.iter().filter(|entry| needs_trust(entry)).collect();
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    parts
}

/// The text that trust is bound to: one line per entry, independent of order, comments and layout. Empty when nothing
/// needs trust.
#[must_use]
pub fn trusted_text(entries: &[Entry]) -> String {
    trusted_parts(entries)
        .iter()
        .fold(String::new(), |text, entry| text + &format!("{} = {:?}\n", entry.name, entry.value))
}

#[cfg(test)]
mod tests {
    use super::super::file::{Source, parse};
    use super::*;

    fn entries(text: &str) -> Vec<Entry> {
        parse(Source { file: "planex.toml", text }).unwrap()
    }

    #[test]
    fn what_runs_or_widens_needs_trust() {
        let entries = entries(
            "lang = \"en\"\nconcurrency = 9\n[test]\ncommand = \"make\"\n[limits]\nmax_cost = 100\nidle = 1\n\
             [roles.plan]\nagent = \"a\"\nmodel = \"m\"\nargs = [\"-x\"]\nenv = { A = \"1\" }\n\
             [agents.a]\ncommand = [\"c\"]\nfull_access = true\nmodel = \"m\"\n[agents.b]\nfull_access = false\n",
        );
        let names: Vec<&str> = trusted_parts(&entries).iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "agents.a.command",
                "agents.a.full_access",
                "agents.a.model",
                "agents.b.full_access",
                "roles.plan.args",
                "roles.plan.env",
                "test.command"
            ]
        );
    }

    #[test]
    fn the_text_follows_the_content_not_the_layout() {
        let one = trusted_text(&entries("lang = \"en\"\n[test]\ncommand = \"make\"\n[agents.a]\ncommand = [\"c\"]\n"));
        let two = trusted_text(&entries("# hello\nagents.a.command = ['c']\ntest = { command = 'make' }\n"));
        let other = trusted_text(&entries("[test]\ncommand = \"make all\"\n[agents.a]\ncommand = [\"c\"]\n"));
        assert_eq!(one, two);
        assert_ne!(one, other);
        assert_eq!(trusted_text(&entries("lang = \"en\"\n")), "");
    }

    #[test]
    fn values_cannot_fake_lines() {
        let sly = entries("[agents.a]\ncommand = [\"c\\\"])\\ntest.command = Text(\\\"x\"]\n");
        assert_eq!(trusted_text(&sly).lines().count(), 1);
    }
}
