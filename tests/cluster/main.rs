//! The lookup against [`FaultyApiServer`](server::FaultyApiServer). What a real API server answers is the
//! rig's to show.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // as in the tests of src/

mod answers;
mod binary;
mod faults;
mod files;
mod history;
mod hostile;
mod leave;
mod run;
mod saved;
mod server;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "the other tests use more of it")]
mod support;
mod tls;
