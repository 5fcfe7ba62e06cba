//! JSON out of what language models and people write (spec 10, *The result*).
//!
//! Owns: finding JSON values in a text ([`scan`]), mending what is certainly broken ([`fix`]), choosing one value by a
//! test ([`pick`]), and bending a value towards a schema ([`coerce`]). Must not guess: where two readings are possible
//! nothing is offered, and what was cut off is said to be cut off. Every repair is named, so that it can be logged.
//!
//! Everything here is linear in the text up to a fixed factor, uses no recursion on text, and never panics.

mod coerce;
mod fence;
mod fix;
mod lex;
mod pick;
mod spans;
#[cfg(test)]
mod tests;

pub use coerce::coerce;
pub use fix::{JsonFault, fix, read_tolerant};
pub use pick::{Picked, pick};
pub use spans::{Candidate, Level, Scan, candidates, scan};
