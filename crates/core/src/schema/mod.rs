//! JSON Schemas: those that planex knows by name, and checking values against any (spec 10, *Result schemas by role*).
//!
//! Owns the only use of the `jsonschema` crate; none of its types leave this module. Schemas are never fetched: a
//! `$ref` that leaves the document is an error when the schema is compiled.

mod check;
mod codex;
mod names;
mod resolve;
pub mod results;
#[cfg(test)]
mod tests;

pub use check::{Checker, Fault, Fitted, SchemaError};
pub use codex::strict_for_codex;
pub use names::{names, schema};
pub use resolve::Resolver;
