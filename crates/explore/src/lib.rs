//! The built-in code explorer and planner: no model, no network.
