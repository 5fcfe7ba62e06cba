//! Writes into real trees: every kind of change, every conflict, a stop at every call.
#![cfg(unix)]

mod kills;
mod model;
mod races;
mod random;
mod refusals;
mod steps;
