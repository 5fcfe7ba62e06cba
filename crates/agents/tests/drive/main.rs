//! The driver with real processes: agents that hang, flood, lie, crash, and leave children behind.

#![cfg(unix)]

mod ending;
mod inside;
mod results;
mod support;
