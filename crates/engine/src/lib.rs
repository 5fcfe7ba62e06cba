//! Sessions on disk, the dispatcher, the workflows.
