//! belay between real Helms and what they would apply: every Helm of scripts/rig.d/helm-versions.tsv,
//! without a cluster. What takes one is in scripts/scenarios.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as tests do"
)]

mod decisions;
mod failures;
mod hooks;
mod manifests;
mod options;
mod real;
#[path = "../support/mod.rs"]
mod support;
