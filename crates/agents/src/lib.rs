//! Agent adapters: pure command builders and line readers, one shared driver.
