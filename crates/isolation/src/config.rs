//! Which of the user's git configuration a task's repository takes over.

use std::fmt::Write as _;

/// Sections that stay behind: remotes and branches (nothing to push to), programs, what is bound to one place.
const SECTIONS: [&str; 13] = [
    "extensions",
    "remote",
    "branch",
    "submodule",
    "include",
    "includeif",
    "gc",
    "maintenance",
    "credential",
    "url",
    "alias",
    "filter",
    "fsmonitor",
];

/// Single keys that stay behind.
const KEYS: [&str; 11] = [
    "core.bare",
    "core.worktree",
    "core.hookspath",
    "core.fsmonitor",
    "core.untrackedcache",
    "core.splitindex",
    "core.repositoryformatversion",
    "core.sshcommand",
    "core.logallrefupdates",
    "commit.gpgsign",
    "tag.gpgsign",
];

/// What every task's repository has: no hooks, no background work, no signatures that would ask for a passphrase.
const OURS: &str = "[core]\n\thooksPath = /dev/null\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n";

/// Configuration to append to a task's own, from `git config --local --includes --list -z` of the user's repository.
///
/// Clean and smudge filters come along (files must look as in the user's tree), but LFS does not fetch.
pub(crate) fn for_task(listed: &[u8]) -> String {
    let mut text = String::new();
    for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        if let Some(line) = line(key, value) {
            text.push_str(&line);
        }
    }
    text.push_str(OURS);
    text
}

fn line(key: &str, value: &str) -> Option<String> {
    let (section, rest) = key.split_once('.')?;
    let lower = section.to_lowercase();
    let is_filter = lower == "filter" && !rest.to_lowercase().starts_with("lfs.");
    if (SECTIONS.contains(&lower.as_str()) && !is_filter) || KEYS.contains(&key.to_lowercase().as_str()) {
        return None;
    }
    let mut line = String::new();
    match rest.rsplit_once('.') {
        Some((sub, name)) => {
            let _ = writeln!(line, "[{section} \"{}\"]\n\t{name} = \"{}\"", quoted(sub), quoted(value));
        }
        None => {
            let _ = writeln!(line, "[{section}]\n\t{rest} = \"{}\"", quoted(value));
        }
    }
    Some(line)
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bound_to_the_users_place_stays_behind() {
        let listed = b"core.bare\nfalse\0core.autocrlf\ntrue\0remote.origin.url\nx\0user.name\nA \"B\"\\\0diff.a.b.textconv\ncat\0commit.gpgsign\ntrue\0filter.crypt.clean\nc\0filter.lfs.clean\nl\0core.ignorecase\0";
        let text = for_task(listed);
        let want = "[core]\n\tautocrlf = \"true\"\n[user]\n\tname = \"A \\\"B\\\"\\\\\"\n[diff \"a.b\"]\n\ttextconv = \"cat\"\n[filter \"crypt\"]\n\tclean = \"c\"\n[core]\n\tignorecase = \"true\"\n";
        assert_eq!(text, format!("{want}{OURS}"));
    }
}
