//! `cargo xtask check`: all rules that a machine can hold. The rules themselves are in [`rules`].

mod arrows;
pub(crate) mod generated;
mod licences;
mod metadata;
mod rules;
mod sources;

use anyhow::bail;

use crate::shell::{cargo, run as start, say};

/// What to check.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Leave out clippy, the slow part
    #[arg(long)]
    quick: bool,
}

/// One broken rule, on one line.
type Fault = String;

/// Runs every check, even after one has failed, so that one run shows all that is to be mended.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut faults: Vec<Fault> = Vec::new();
    let metadata = metadata::load()?;
    faults.extend(arrows::check(&metadata));
    faults.extend(licences::check(&metadata));
    faults.extend(sources::check()?);
    if let Err(error) = start(cargo().args(["fmt", "--all", "--check"])) {
        faults.push(format!("{error:#}; `cargo fmt --all` mends it"));
    }
    if !args.quick {
        let mut clippy = cargo();
        clippy.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
        if let Err(error) = start(&mut clippy) {
            faults.push(format!("{error:#}"));
        }
        faults.extend(generated::check()?);
    }
    for fault in &faults {
        say(&format!("fault: {fault}"));
    }
    match faults.len() {
        0 => {
            say("check: all rules hold");
            Ok(())
        }
        1 => bail!("1 rule is broken"),
        count => bail!("{count} rules are broken"),
    }
}
