//! Runaways of every kind against the real guardian, keepers and kills (spec 10, *Running*).
//!
//! This program plays all parts by its arguments: the runner; a case (a sub-reaper of its own, so that it counts every
//! survivor exactly, however it hides: nothing is left when `waitid` says that there is no child); the driver in
//! planex's place; the runaways; and, started by the driver, guardian and keepers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "all of this is a test, though clippy cannot see it without a test harness"
)]

#[cfg(target_os = "linux")]
mod case;
#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod runaway;

#[cfg(target_os = "linux")]
fn main() {
    planex_sys::process::main_if_guardian();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["runaway", kind, notes] => runaway::run(kind, notes),
        ["driver", scenario, dir] => driver::run(scenario, dir),
        ["case", scenario] => case::run(scenario),
        ["--list", ..] | [.., "--list"] => {}
        filters => case::run_all(filters),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
