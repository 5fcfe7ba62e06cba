//! Files that the binary itself writes: committed, and never out of date.

use std::fs;

use anyhow::Context as _;

use super::Fault;
use super::rules::GENERATED;
use crate::shell::{cargo, output, root, say};

/// Every generated file that is not what the binary says now.
pub(super) fn check() -> anyhow::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for (path, args) in GENERATED {
        let wanted = ask(args)?;
        if fs::read_to_string(root().join(path)).ok().as_deref() != Some(wanted.as_str()) {
            faults.push(format!("generated: {path} is out of date; `cargo xtask generate` mends it"));
        }
    }
    Ok(faults)
}

/// Writes them anew.
pub(crate) fn write() -> anyhow::Result<()> {
    for (path, args) in GENERATED {
        let file = root().join(path);
        let text = ask(args)?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {folder}"))?;
        }
        fs::write(&file, text).with_context(|| format!("cannot write {file}"))?;
        say(&format!("wrote {path}"));
    }
    Ok(())
}

fn ask(args: &[&str]) -> anyhow::Result<String> {
    output(cargo().args(["run", "--quiet", "--package", "planex", "--bin", "planex", "--"]).args(args))
}
