//! What can happen next.

use proptest::prelude::*;

use super::chart::Pinnable;
use super::cluster::Apply;
use super::refresher::{Kind, Tick};
use super::registry::{Image, Tag};

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Somebody pushes a new image; it may crash.
    Publish(Image, Tag, bool),
    /// Somebody lets prod name what stg names.
    Promote(Image),
    Tick(Tick),
    Upgrade {
        belay: bool,
        how: Apply,
        change: Change,
    },
    Rollback {
        back: usize,
        how: Apply,
    },
    /// A human takes the flap marker away.
    ClearFlap,
}

/// What an upgrade changes in the values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    None,
    Tag(Tag),
    Suspend(bool),
    Enable(bool),
    Mirror(bool),
    /// To what its tag names now.
    Pin(Pinnable),
    Unpin,
}

fn image() -> impl Strategy<Value = Image> {
    // Mostly one, so that steps of a short history have to do with each other.
    prop_oneof![
        4 => Just(Image::JobsManager),
        1 => Just(Image::PodsMonitor),
        1 => Just(Image::ResourceMonitor),
    ]
}

fn tag() -> impl Strategy<Value = Tag> {
    prop_oneof![6 => Just(Tag::Prod), 1 => Just(Tag::Stg)]
}

fn how() -> impl Strategy<Value = Apply> {
    prop_oneof![
        4 => Just(Apply::Client),
        4 => Just(Apply::Server),
        1 => Just(Apply::Forced),
        1 => Just(Apply::Replace),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let pin = prop_oneof![
        image().prop_map(|image| Change::Pin(Pinnable::Image(image))),
        Just(Change::Pin(Pinnable::Proxy)),
    ];
    prop_oneof![
        20 => Just(Change::None),
        2 => tag().prop_map(Change::Tag),
        1 => any::<bool>().prop_map(Change::Suspend),
        1 => any::<bool>().prop_map(Change::Enable),
        1 => any::<bool>().prop_map(Change::Mirror),
        1 => pin,
        1 => Just(Change::Unpin),
    ]
}

fn tick() -> impl Strategy<Value = Tick> {
    let kind = prop_oneof![Just(Kind::Shell), Just(Kind::Belay)];
    let dies_after = prop_oneof![5 => Just(None), 1 => (0..4_u8).prop_map(Some)];
    (kind, dies_after, prop::bool::weighted(0.5)).prop_map(
        |(kind, dies_after, takes_for_settled)| Tick {
            kind,
            dies_after,
            takes_for_settled,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let upgrade = (prop::bool::weighted(0.75), how(), change());
    prop_oneof![
        3 => (image(), tag(), prop::bool::weighted(0.3))
            .prop_map(|(image, tag, crashing)| Step::Publish(image, tag, crashing)),
        1 => image().prop_map(Step::Promote),
        8 => tick().prop_map(Step::Tick),
        6 => upgrade.prop_map(|(belay, how, change)| Step::Upgrade { belay, how, change }),
        3 => (0..3_usize, how()).prop_map(|(back, how)| Step::Rollback { back, how }),
        1 => Just(Step::ClearFlap),
    ]
}

/// A random history of up to `longest` steps.
pub(crate) fn history(longest: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..longest)
}
