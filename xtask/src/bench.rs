//! `cargo xtask bench`.

/// How to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Measures.
pub(crate) fn run(_args: &Args) -> anyhow::Result<()> {
    Ok(())
}
