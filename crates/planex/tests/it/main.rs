//! The binary as people and scripts meet it.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod codes;
#[cfg(test)]
mod config;
#[cfg(test)]
mod dry;
#[cfg(test)]
mod help;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod screen;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod trust;

use planex_testkit::{Output, Run, TestEnv};

/// The binary in a hermetic place.
fn planex(env: &TestEnv, args: &[&str]) -> Run {
    env.command(env!("CARGO_BIN_EXE_planex")).args(args)
}

/// Runs it; it must end with 0.
fn ok(env: &TestEnv, args: &[&str]) -> Output {
    exits(env, args, 0)
}

/// Runs it; it must end with this code.
fn exits(env: &TestEnv, args: &[&str], code: i32) -> Output {
    planex(env, args).output().exits(code)
}

/// Standard error with the place's own path taken out.
fn tidy(env: &TestEnv, text: &str) -> String {
    text.replace(env.root().as_str(), "[ROOT]").trim_end().to_owned()
}

/// Waits for `done`, at most 20 seconds.
fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !done() {
        assert!(std::time::Instant::now() < end, "{what} did not come");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
