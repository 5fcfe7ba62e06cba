//! Rows of `explore.csv` and `tasks.csv`: the state of a waves session, typed (spec 20, *Files of the session*).
//!
//! People edit these files at the gates, so a [`Sheet`] keeps the table it was read from: unknown columns, their order
//! and whatever planex does not use survive. Only the state columns are ever written back.

mod explore;
mod merge;
mod sheet;
mod task;

pub use explore::{ExploreRow, explore_table, explore_waves, read_explore};
pub use merge::{EXPLORE_FINDINGS, SKIPPED, TASK_FINDINGS, cascade, next_wave};
pub use sheet::{Fault, Row, RowStatus, Sheet, State};
pub use task::{
    COLUMNS as TASK_COLUMNS, INPUT_COLUMNS, STATE_COLUMNS, TaskPlan, TaskRow, approval_hash, hint_files, hint_tips,
    plan_of, read_tasks, task_table, validate_tasks,
};
