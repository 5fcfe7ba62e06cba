//! Chores of this repository: `cargo xtask <chore>`.
//!
//! | chore    | what it does                                                                 |
//! | -------- | ---------------------------------------------------------------------------- |
//! | setup    | everything that the tests need (today: the real agents)                      |
//! | agents   | installs the pinned agents of `agents.toml`                                  |
//! | check    | format, lints, arrows between rooms, words, licences, lengths, generated files |
//! | test     | sets up, then runs all tests: the one test command                           |
//! | generate | writes the generated files anew                                              |
//! | bench    | wall time of a fan-out against `xargs`, memory by number of tasks            |

mod agents;
mod bench;
mod check;
mod shell;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of this repository.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Install all that the tests need
    Setup,
    /// Install the real agents that tests drive, pinned
    Agents(agents::Args),
    /// Check everything that is checked without running tests
    Check(check::Args),
    /// Set up, then run all tests
    Test(test::Args),
    /// Write the generated files anew
    Generate,
    /// Measure a fan-out against xargs, and memory
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().chore {
        Chore::Setup => agents::install(&agents::Args::default()),
        Chore::Agents(args) => agents::install(&args),
        Chore::Check(args) => check::run(&args),
        Chore::Test(args) => test::run(&args),
        Chore::Generate => check::generated::write(),
        Chore::Bench(args) => bench::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            shell::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
