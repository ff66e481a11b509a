//! The decisions over time: random histories of a release, its refreshers, its operator and Helm, with
//! the real policy asked at every upgrade and the promises of design.md section 5 checked after it.
//!
//! `PROPTEST_CASES` raises the number of histories.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as tests do"
)]

#[path = "model/chart.rs"]
mod chart;
#[path = "model/cluster.rs"]
mod cluster;
#[path = "model/facts.rs"]
mod facts;
#[path = "model/properties.rs"]
mod properties;
#[path = "model/refresher.rs"]
mod refresher;
#[path = "model/registry.rs"]
mod registry;
#[path = "model/step.rs"]
mod step;
#[path = "model/world.rs"]
mod world;

use std::collections::BTreeSet;

use belay::policy::Reason;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use world::World;

/// How many histories, where `PROPTEST_CASES` says nothing.
const CASES: u32 = 200;

/// The steps of the longest.
const LONGEST: usize = 30;

fn config() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    config.max_shrink_iters = 20_000;
    // A broken promise shows its history, which is all there is to it.
    config.failure_persistence = None;
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_promises_hold_after_every_upgrade(history in step::history(LONGEST)) {
        let mut world = World::new();
        for step in &history {
            let before = world.clone();
            if let Some(upgrade) = world.take(step)
                && let Some(broken) = properties::broken(&before, &upgrade, &world)
            {
                prop_assert!(false, "{broken}");
            }
        }
    }
}

/// Promises about cases that never come up are cheap.
#[test]
fn the_histories_meet_every_reason_that_a_cluster_can_give() {
    use Reason::{
        FirstInstall, Mirror, NoRecord, ObservedOnly, OperatorPin, Pinned, PinnedLive,
        PinnedOverFlap, PinnedOverRollback, RecordUnmaintained, RefreshAbsent, RefreshSuspended,
        TagChanged,
    };
    // Every world begins with an install.
    let mut met = BTreeSet::from([FirstInstall]);
    let mut runner = TestRunner::deterministic();
    for _ in 0..400 {
        let history = step::history(LONGEST).new_tree(&mut runner);
        let mut world = World::new();
        for step in history.expect("a history").current() {
            let upgrade = world.take(&step).into_iter();
            let decisions = upgrade.flat_map(|upgrade| upgrade.decisions);
            met.extend(decisions.map(|(_, decision)| decision.reason));
        }
    }
    let expected = [
        OperatorPin,
        Mirror,
        RefreshAbsent,
        RefreshSuspended,
        TagChanged,
        FirstInstall,
        Pinned,
        PinnedOverFlap,
        PinnedLive,
        RecordUnmaintained,
        NoRecord,
        ObservedOnly,
        PinnedOverRollback,
    ];
    assert_eq!(met, BTreeSet::from(expected));
}
