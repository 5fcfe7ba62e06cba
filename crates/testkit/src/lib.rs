//! Test-only: hermetic environment, scripted agents, scripted model server.
//!
//! Depends on no room of planex, so that a fault of a room cannot hide itself in its own tests.
//!
//! - [`TestEnv`]: a temporary home with a cleared environment, in which programs run with a time limit.
//! - [`ModelServer`], [`Script`], [`Rule`]: the real agents against a model that says what a test wants.
//! - [`require_agent`]: the real agents that `cargo xtask agents` installed.
//! - [`scripted`]: an agent of our own that misbehaves in every way that a script asks for.
//! - [`waves`]: what tests of whole sessions share.

mod bins;
mod env;
pub mod model;
mod run;
pub mod scripted;
pub mod waves;

pub use bins::{agents_dir, find_agent, require_agent, scripted_agent, workspace_bin};
pub use env::TestEnv;
pub use model::{Call, Dialect, Failure, ModelRequest, ModelServer, Reply, Rule, Script, Turn, Usage, When};
pub use run::{Output, Run, Running};
