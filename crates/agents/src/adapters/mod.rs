//! One file per agent. What the comments call "measured" was measured with the versions that the tests pin.

pub mod claude;
pub mod codex;
pub mod custom;
pub mod gemini;
pub mod opencode;
pub mod qwen;
mod shared;

#[cfg(test)]
pub(crate) mod testing;
