//! Laws that hold for every stream: generated ones, with anchors and merge keys, in flow and in block, in
//! every scalar style, with comments, byte order marks and garbage between.
//!
//! `PROPTEST_CASES` raises the number of streams.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as tests do"
)]

#[path = "laws/libyaml.rs"]
mod libyaml;
#[path = "laws/meaning.rs"]
mod meaning;
#[path = "laws/node.rs"]
mod node;
#[path = "laws/object.rs"]
mod object;
#[path = "laws/oracle.rs"]
mod oracle;
#[path = "laws/rewriting.rs"]
mod rewriting;
#[path = "laws/scalar.rs"]
mod scalar;
#[path = "laws/share.rs"]
mod share;
#[path = "laws/stream.rs"]
mod stream;
#[path = "laws/tape.rs"]
mod tape;
#[path = "laws/write.rs"]
mod write;

use std::collections::{BTreeMap, BTreeSet};

use belay::edit::{self, Rewrite};
use belay::manifest::{Breadth, SiteStyle, Stream, scan};
use belay::policy::Profile;
use belay::yaml;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use rewriting::{Choices, rewrites, rewritten, scanned};
use stream::Bytes;

/// How many streams each law sees, where `PROPTEST_CASES` says nothing.
const CASES: u32 = 96;

fn config() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    config.max_shrink_iters = 20_000;
    // A broken law shows its stream, which then becomes a case of testdata; a seed says nothing.
    config.failure_persistence = None;
    config
}

prop_compose! {
    fn any_stream()(shape in vec(any::<u8>(), 0..160), looks in vec(any::<u8>(), 0..400)) -> Bytes {
        stream::stream(&shape, &looks)
    }
}

prop_compose! {
    fn any_release()(shape in vec(any::<u8>(), 0..120), looks in vec(any::<u8>(), 0..300)) -> Bytes {
        stream::release(&shape, &looks)
    }
}

fn any_choices() -> impl Strategy<Value = Choices> {
    vec(any::<u8>(), 1..6).prop_map(Choices::new)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_stream_with_nothing_decided_stays_as_it_is(bytes in any_stream()) {
        let chunks = yaml::split(&bytes);
        let joined: Vec<_> = chunks.iter().map(|chunk| &bytes[chunk.span.clone()]).collect();
        prop_assert_eq!(joined.concat(), bytes.to_vec());
        if let Some(stream) = scanned(&bytes) {
            let plan = edit::plan(&stream, &[]);
            prop_assert_eq!(rewritten(&stream, &plan), bytes.to_vec());
        }
        // Offline nothing is ever decided, so this is all of the policy.
        if let Some(pinned) = rewriting::pinned(&bytes, None) {
            prop_assert_eq!(pinned, bytes.to_vec());
        }
    }

    #[test]
    fn every_span_slices_back_to_its_scalar(bytes in any_stream()) {
        let Some(stream) = scanned(&bytes) else { return Ok(()) };
        for site in &stream.sites {
            let token = &bytes[site.token.clone()];
            match site.style {
                SiteStyle::Alias => prop_assert!(token.starts_with(b"*a"), "{}", token.escape_ascii()),
                SiteStyle::Scalar(style) => {
                    prop_assert_eq!(&site.token, &site.scalar);
                    let meant = oracle::meant(token, style);
                    prop_assert!(meant.contains(&site.value), "{:?} {:?}", meant, site);
                }
            }
        }
    }

    #[test]
    fn libyaml_finds_the_same_events_but_for_the_edits(bytes in any_stream(), choices in any_choices()) {
        let Some(stream) = scanned(&bytes) else { return Ok(()) };
        let plan = edit::plan(&stream, &rewrites(&stream, &choices));
        let after = rewritten(&stream, &plan);
        oracle::same_events(&stream, &plan, &after).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn kubernetes_is_told_the_same_but_for_the_decided_images(
        bytes in any_stream(),
        choices in any_choices(),
    ) {
        let Some(stream) = scanned(&bytes) else { return Ok(()) };
        let plan = edit::plan(&stream, &rewrites(&stream, &choices));
        let after = rewritten(&stream, &plan);
        oracle::same_meaning(&stream, &plan, &choices, &after).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn rewriting_twice_is_rewriting_once(bytes in any_stream(), choices in any_choices()) {
        let Some(stream) = scanned(&bytes) else { return Ok(()) };
        let asked = rewrites(&stream, &choices);
        let plan = edit::plan(&stream, &asked);
        let once = rewritten(&stream, &plan);
        let again = scanned(&once).expect("the result can be read");
        prop_assert_eq!(rewriting::places(&stream), rewriting::places(&again));
        let second = edit::plan(&again, &asked);
        prop_assert_eq!(rewritten(&again, &second), once);
        prop_assert_eq!(rewriting::refused(&plan), rewriting::refused(&second));
    }

    #[test]
    fn rendering_twice_is_rendering_once(bytes in any_release(), digits in vec(0..16_u8, 3)) {
        if let Some(once) = rewriting::pinned(&bytes, Some(&digits)) {
            let twice = rewriting::pinned(&once, Some(&digits));
            prop_assert_eq!(twice.as_deref(), Some(&*once));
        }
    }

    #[test]
    fn edits_in_any_order_give_the_same_bytes(
        bytes in any_stream(),
        choices in any_choices(),
        order in any::<u64>(),
    ) {
        let Some(stream) = scanned(&bytes) else { return Ok(()) };
        let mut asked = rewrites(&stream, &choices);
        let plan = edit::plan(&stream, &asked);
        let at_once = rewritten(&stream, &plan);
        // Sites that share a scalar are decided together; each such group is written by itself.
        let refused: BTreeSet<usize> = rewriting::refused(&plan).into_iter().collect();
        let mut groups: BTreeMap<usize, Vec<Rewrite>> = BTreeMap::new();
        for rewrite in asked.iter().filter(|rewrite| !refused.contains(&rewrite.site)) {
            let scalar = stream.sites[rewrite.site].scalar.start;
            groups.entry(scalar).or_default().push(rewrite.clone());
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        rewriting::shuffle(&mut groups, order);
        rewriting::shuffle(&mut asked, order);
        prop_assert_eq!(&edit::plan(&stream, &asked), &plan);
        let mut one_by_one = bytes.to_vec();
        for group in groups {
            let stream = scanned(&one_by_one).expect("the result can be read");
            let step = edit::plan(&stream, &group);
            prop_assert_eq!(&step.refused, &[]);
            one_by_one = rewritten(&stream, &step);
        }
        prop_assert_eq!(one_by_one, at_once);
    }

    #[test]
    fn no_managed_image_hides_from_the_search(bytes in any_stream()) {
        let profile = Profile::default();
        let marked = scan(&bytes, &profile.needles(), Breadth::Marked);
        let all = scan(&bytes, &profile.needles(), Breadth::All);
        prop_assert_eq!(marked.as_ref().err(), all.as_ref().err());
        let managed = |found: &Stream<'_>| rewriting::managed(found, &profile);
        prop_assert_eq!(marked.as_ref().ok().map(managed), all.as_ref().ok().map(managed));
    }
}

/// Laws about cases that never come up are cheap.
#[test]
fn the_streams_hold_every_style_and_every_obstacle() {
    let mut met = BTreeSet::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..500 {
        let trees = (any_stream(), any_choices()).new_tree(&mut runner);
        let (bytes, choices) = trees.expect("a stream").current();
        let Some(stream) = scanned(&bytes) else {
            continue;
        };
        let plan = edit::plan(&stream, &rewrites(&stream, &choices));
        for edit in &plan.edits {
            let sites = stream.sites.iter().filter(|site| site.token == edit.token);
            met.extend(sites.map(|site| format!("{:?}", site.style)));
        }
        for (_, obstacle) in &plan.refused {
            let obstacle = format!("{obstacle:?}");
            met.extend(obstacle.split('(').next().map(str::to_owned));
        }
    }
    let styles = ["Plain", "Single", "Double", "Literal", "Folded"];
    let styles = styles.map(|style| format!("Scalar({style})")).into_iter();
    let obstacles = [
        "Binary",
        "Borrowed",
        "Disagreement",
        "Lent",
        "OddAnchor",
        "OddLineBreak",
    ];
    let others = obstacles.into_iter().chain(["Alias"]).map(str::to_owned);
    assert_eq!(met, styles.chain(others).collect());
}
