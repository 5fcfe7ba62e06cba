//! The one test command.

use crate::agents;
use crate::shell::{self, cargo, exists, say};

/// How to test.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this package (default: all)
    #[arg(short, long)]
    package: Vec<String>,
    /// With `cargo test` even where cargo-nextest is installed
    #[arg(long)]
    plain: bool,
    /// Handed to the test runner (a filter, for example)
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Sets up, then tests. Nothing is skipped: the tests with real agents have what they need after the set-up.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    agents::install(&agents::Args::default())?;
    let nextest = !args.plain && exists("cargo-nextest");
    let mut test = cargo();
    test.args(if nextest { &["nextest", "run", "--no-fail-fast"][..] } else { &["test", "--no-fail-fast"][..] });
    // Programs of the workspace that tests start by path: they must be there before the first test looks.
    let mut build = cargo();
    build.args(["build", "--bins"]);
    if args.package.is_empty() {
        test.arg("--workspace");
        build.arg("--workspace");
    } else {
        build.args(["--package", "planex-testkit"]);
    }
    for package in &args.package {
        test.args(["--package", package]);
        build.args(["--package", package]);
    }
    if !args.rest.is_empty() {
        test.arg("--").args(&args.rest);
    }
    shell::run(&mut build)?;
    shell::run(&mut test)?;
    if nextest && args.package.is_empty() && args.rest.is_empty() {
        say("nextest runs no documentation tests: those follow");
        let mut doc = cargo();
        shell::run(doc.args(["test", "--workspace", "--doc"]))?;
    }
    Ok(())
}
