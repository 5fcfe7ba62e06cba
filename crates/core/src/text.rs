//! Text of others, made fit to store, to cut and to show.
//!
//! Four concerns, four files: `cut` keeps texts below a limit, `safe` takes the teeth out of foreign text
//! (terminal sequences, control, bidirectional and invisible characters; spec 70, *Security*), `markdown` keeps it
//! from becoming markup, `columns` measures what it takes on a terminal.

mod columns;
mod cut;
mod markdown;
mod safe;

pub use columns::{fit, pad, width, wrap};
pub use cut::{end_chars, head_tail, truncate_bytes, truncate_chars};
pub use markdown::{md_cell, md_text};
pub use safe::{one_line, safe, strip_controls};
