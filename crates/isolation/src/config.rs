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

/// How git lists what [`for_task`] reads: a sparse checkout is set up in the worktree's own file, if there is one.
pub(crate) const LIST: [&str; 5] = ["config", "--includes", "--show-scope", "--list", "-z"];

/// Configuration to append to a task's own, from what [`LIST`] prints in the user's repository. What the user or the
/// system has set for all repositories holds in the task's as well.
///
/// Clean and smudge filters come along (files must look as in the user's tree), but LFS does not fetch.
pub(crate) fn for_task(listed: &[u8]) -> String {
    let mut text = String::new();
    let mut parts = listed.split(|byte| *byte == 0);
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        if !matches!(scope, b"local" | b"worktree") {
            continue;
        }
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
        let entries = [
            "core.bare\nfalse",
            "core.autocrlf\ntrue",
            "remote.origin.url\nx",
            "user.name\nA \"B\"\\",
            "diff.a.b.textconv\ncat",
            "commit.gpgsign\ntrue",
            "filter.crypt.clean\nc",
            "filter.lfs.clean\nl",
            "core.ignorecase",
        ];
        let mut listed: String = entries.map(|entry| format!("local\0{entry}\0")).concat();
        listed.push_str("global\0core.editor\nvi\0command\0core.hooksPath\nx\0worktree\0core.sparsecheckout\ntrue\0");
        let text = for_task(listed.as_bytes());
        let want = "[core]\n\tautocrlf = \"true\"\n[user]\n\tname = \"A \\\"B\\\"\\\\\"\n[diff \"a.b\"]\n\ttextconv = \"cat\"\n[filter \"crypt\"]\n\tclean = \"c\"\n[core]\n\tignorecase = \"true\"\n[core]\n\tsparsecheckout = \"true\"\n";
        assert_eq!(text, format!("{want}{OURS}"));
    }
}
