//! An agent of our own for tests, see `planex_testkit::scripted`.

use std::process::ExitCode;

fn main() -> ExitCode {
    planex_testkit::scripted::main(std::env::args().skip(1).collect())
}
