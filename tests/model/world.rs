//! A release in a cluster, a registry and an operator, and what each of them may do next.

use std::collections::{BTreeMap, BTreeSet};

use belay::policy::Decision;

use super::chart::{PLACES, Pinnable, Place, Values, Workload};
use super::cluster::{Apply, Cluster, Conflict, HELM, Release, digest_of};
use super::facts;
use super::refresher::{Tick, annotation, key};
use super::registry::{Image, Registry, Tag};
use super::step::{Change, Step};

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) registry: Registry,
    pub(crate) cluster: Cluster,
    pub(crate) values: Values,
    /// The releases that Helm could roll back to.
    releases: Vec<Release>,
    /// What ran where for which tag: what nobody can know better.
    pub(crate) ran: BTreeSet<(Place, String, Tag)>,
    /// Digests that were ever in the record.
    pub(crate) recorded: BTreeSet<(Image, String)>,
    /// The part of `ran` that says too much: the tag that the template was rendered for never named the
    /// digest.
    pub(crate) misleading: BTreeSet<(Place, String, Tag)>,
    /// The part of `ran` that a refresher rolled out.
    pub(crate) refreshed: BTreeSet<(Place, String, Tag)>,
}

/// An upgrade with belay, as far as it came.
#[derive(Debug)]
pub(crate) struct Upgrade {
    /// The decisions, in the order of the chart's places.
    pub(crate) decisions: Vec<(Place, Decision)>,
    pub(crate) values: Values,
    pub(crate) result: Result<(), Conflict>,
}

impl World {
    /// A release just installed by Helm with belay, which has nothing to say yet.
    pub(crate) fn new() -> Self {
        let mut world = Self {
            registry: Registry::new(),
            cluster: Cluster::default(),
            values: Values::new(),
            releases: Vec::new(),
            ran: BTreeSet::new(),
            recorded: BTreeSet::new(),
            misleading: BTreeSet::new(),
            refreshed: BTreeSet::new(),
        };
        world.upgrade(true, Apply::Client, Values::new());
        world
    }

    /// Takes a step. Returns what belay did, where it was asked.
    pub(crate) fn take(&mut self, step: &Step) -> Option<Upgrade> {
        let upgrade = match step {
            Step::Publish(image, tag, crashing) => {
                self.registry.publish(*image, *tag, *crashing);
                None
            }
            Step::Promote(image) => {
                self.registry.promote(*image);
                None
            }
            Step::Tick(tick) => {
                Tick::run(*tick, &mut self.cluster, &self.registry);
                None
            }
            Step::Upgrade { belay, how, change } => {
                let values = self.changed(*change);
                self.upgrade(*belay, *how, values)
            }
            Step::Rollback { back, how } => {
                self.roll_back(*back, *how);
                None
            }
            Step::ClearFlap => {
                if let Some(record) = self.cluster.record() {
                    record
                        .annotations
                        .remove(&annotation("refresh-flap-detected"));
                    record.annotations.remove(&annotation("refresh-attempt"));
                }
                None
            }
        };
        self.remember();
        upgrade
    }

    fn changed(&self, change: Change) -> Values {
        let mut values = self.values.clone();
        match change {
            Change::None => {}
            Change::Tag(tag) => values.tag = tag,
            Change::Suspend(suspended) => values.suspended = suspended,
            Change::Enable(enabled) => values.enabled = enabled,
            Change::Mirror(mirror) => values.mirror = mirror,
            Change::Pin(what) => {
                let image = match what {
                    Pinnable::Image(image) => image,
                    Pinnable::Proxy => Image::JobsManager,
                };
                let digest = self.registry.latest(image, values.tag).to_owned();
                values.pins.retain(|(pinned, _)| *pinned != what);
                values.pins.push((what, digest));
            }
            Change::Unpin => {
                values.pins.pop();
            }
        }
        values
    }

    fn upgrade(&mut self, belay: bool, how: Apply, values: Values) -> Option<Upgrade> {
        let rendered = PLACES.map(|place| (place, values.image(place)));
        let mut images = BTreeMap::from(rendered);
        let mut decisions = Vec::new();
        if belay {
            decisions = facts::decide(&self.cluster, &values);
            for (place, decision) in &decisions {
                if let Some(text) = decision.rewritten() {
                    images.insert(*place, text.to_owned());
                }
            }
        }
        let release = Release {
            values: values.clone(),
            images,
        };
        // A failed upgrade keeps its values: the operator tries again.
        self.values = values.clone();
        let result = self.cluster.apply(&release, how);
        if result.is_ok() {
            self.releases.push(release);
        }
        belay.then_some(Upgrade {
            decisions,
            values,
            result,
        })
    }

    fn roll_back(&mut self, back: usize, how: Apply) {
        let Some(index) = self.releases.len().checked_sub(1 + back) else {
            return;
        };
        let release = self.releases[index].clone();
        self.values = release.values.clone();
        if self.cluster.apply(&release, how).is_ok() {
            self.releases.push(release);
        }
    }

    fn remember(&mut self) {
        let refresher = self.cluster.refresher.as_ref();
        let refreshed_for = refresher.map(|refresher| refresher.values.tag);
        let record = self.cluster.objects.get(&Workload::JobsManager);
        for image in Image::ALL {
            let digest = annotation(&key(image, "digest"));
            if let Some(digest) = record.and_then(|record| record.annotations.get(&digest)) {
                self.recorded.insert((image, digest.clone()));
            }
        }
        for object in self.cluster.objects.values() {
            let rendered_for = object.tag.or(record.and_then(|record| record.tag));
            for (place, running) in &object.running {
                let Some(digest) = digest_of(&running.image) else {
                    continue;
                };
                let registry = &self.registry;
                let named = |tag: &Tag| registry.named(place.image, *tag, digest).is_some();
                if let Some(tag) = rendered_for.filter(|tag| !named(tag)) {
                    self.misleading.insert((*place, digest.to_owned(), tag));
                }
                // After an upgrade that failed halfway the two differ.
                for tag in [rendered_for, refreshed_for].into_iter().flatten() {
                    let run = (*place, digest.to_owned(), tag);
                    if running.owners.iter().any(|owner| *owner != HELM) {
                        self.refreshed.insert(run.clone());
                    }
                    self.ran.insert(run);
                }
            }
        }
    }
}
