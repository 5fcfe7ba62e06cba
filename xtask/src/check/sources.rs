//! The text of the repository: forbidden words, lengths of files.

use std::fs;

use anyhow::Context as _;

use super::Fault;
use super::rules::{LONG_FILES, LONGEST, WORD_EXCEPTIONS, WORDS};
use crate::shell::{command, output, root};

/// Every fault of every file that git knows or would add.
pub(super) fn check() -> anyhow::Result<Vec<Fault>> {
    let list = output(command("git").args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))?;
    let mut faults = Vec::new();
    for path in list.split_terminator('\0') {
        let file = root().join(path);
        // Deleted but not yet committed: nothing to read. Links are checked where they lead to.
        if !file.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            continue;
        }
        let bytes = fs::read(&file).with_context(|| format!("cannot read {file}"))?;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            faults.extend(faults_of(path, text));
        }
    }
    let stale = LONG_FILES.iter().filter(|(path, _)| !root().join(path).exists());
    faults.extend(stale.map(|(path, _)| format!("length: {path} is listed as long, but is not there")));
    Ok(faults)
}

fn faults_of(path: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for word in WORDS.iter().filter(|word| path.ends_with(word.only)) {
        if WORD_EXCEPTIONS.iter().any(|(file, half, _)| *file == path && *half == word.halves.1) {
            continue;
        }
        let whole = format!("{}{}", word.halves.0, word.halves.1);
        let lines = text.lines().enumerate().filter(|(_, line)| contains(line, &whole));
        faults.extend(lines.map(|(at, _)| format!("words: {path}:{}: `{whole}`: {}", at + 1, word.reason)));
    }
    let lines = text.lines().count();
    if path.ends_with(".rs") && lines > LONGEST && !LONG_FILES.iter().any(|(file, _)| *file == path) {
        faults.push(format!("length: {path} has {lines} lines, {LONGEST} at most: split it by what changes together"));
    }
    faults
}

/// Whether a line holds a word; one that begins with `/` only as the beginning of a path, not inside a longer one.
fn contains(line: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "._-{}()[]*~$".contains(c);
    line.match_indices(word).any(|(at, _)| !word.starts_with('/') || !line[..at].ends_with(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_with_their_line() {
        let line = ["    to", "do!();\n"].concat();
        assert_eq!(faults_of("a.rs", &format!("fn a() {{\n{line}}}\n")).len(), 1);
        assert!(faults_of("a.rs", &format!("fn a() {{\n{line}}}\n"))[0].starts_with("words: a.rs:2: "));
        assert_eq!(faults_of("a.md", &line), Vec::<String>::new());
    }

    #[test]
    fn paths_of_one_machine_are_found_anywhere() {
        assert_eq!(faults_of("README.md", &["see /ro", "ot/x"].concat()).len(), 1);
    }

    #[test]
    fn the_middle_of_a_path_is_no_fault() {
        assert_eq!(faults_of("a.md", &["{root}/wo", "rk/x and src/ro", "ot/y"].concat()), Vec::<String>::new());
    }

    #[test]
    fn long_files_are_faults() {
        assert_eq!(faults_of("a.rs", &"\n".repeat(LONGEST)), Vec::<String>::new());
        assert_eq!(faults_of("a.rs", &"\n".repeat(LONGEST + 1)).len(), 1);
        assert_eq!(faults_of("a.json", &"\n".repeat(LONGEST + 1)), Vec::<String>::new());
    }
}
