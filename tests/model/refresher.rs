//! One tick of a refresher: the chart's shell script, and belay's by the rules of design.md section 7.

use std::collections::BTreeMap;

use super::chart::{PLACES, Pinnable, Place, Workload};
use super::cluster::{Cluster, Manager, Refresher, digest_of};
use super::registry::{Image, Registry};

/// Roll-outs of one digest that are tried before the refresher gives up. The chart says more; with few it
/// happens within a short history.
const MOST_ATTEMPTS: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Writes digests only.
    Shell,
    /// Writes reference and state too, and puts a lost pin back.
    Belay,
}

/// How a tick goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) kind: Kind,
    /// The process dies before it has patched so many workloads and one more.
    pub(crate) dies_after: Option<u8>,
    /// Pods that are not ready go unnoticed: those of the last template still are.
    pub(crate) takes_for_settled: bool,
}

/// What a tick works with.
struct Ticking<'w> {
    cluster: &'w mut Cluster,
    registry: &'w Registry,
    refresher: Refresher,
    tick: Tick,
    patches: u8,
}

/// The tick ended early.
struct Stopped;

impl Tick {
    pub(crate) fn run(self, cluster: &mut Cluster, registry: &Registry) {
        let Some(refresher) = cluster.refresher.clone() else {
            return;
        };
        if refresher.values.suspended || refresher.values.mirror {
            return;
        }
        let mut ticking = Ticking {
            cluster,
            registry,
            refresher,
            tick: self,
            patches: 0,
        };
        if !ticking.is_settled() {
            ticking.count("refresh-skip-streak");
            return;
        }
        ticking.clear("refresh-skip-streak");
        for image in Image::ALL {
            if !ticking.refresher.skips(Pinnable::Image(image)) && ticking.refresh(image).is_err() {
                return;
            }
        }
    }
}

impl Ticking<'_> {
    fn is_settled(&self) -> bool {
        let crashes = |place: Place| {
            let running = self.cluster.running(place);
            let digest = running.and_then(|running| digest_of(&running.image));
            digest.is_some_and(|digest| self.registry.crashes(digest))
        };
        self.tick.takes_for_settled || !PLACES.into_iter().any(crashes)
    }

    fn refresh(&mut self, image: Image) -> Result<(), Stopped> {
        let latest = self
            .registry
            .latest(image, self.refresher.values.tag)
            .to_owned();
        let Some(recorded) = self.annotation(&key(image, "digest")) else {
            let state = if self.lacking(image, &latest).is_empty() {
                "applied"
            } else {
                "observed"
            };
            self.write(image, &latest, state);
            return Ok(());
        };
        if recorded == latest {
            let is_lost = !self.lacking(image, &latest).is_empty();
            if self.tick.kind == Kind::Belay && is_lost && self.was_applied(image, &latest) {
                self.roll(image, &latest)?;
            }
            return Ok(());
        }
        if self.annotation("refresh-flap-detected").is_some() {
            return Err(Stopped);
        }
        let attempts = self.annotation("refresh-attempt");
        if attempts.is_some_and(|count| count.parse::<u32>().is_ok_and(|n| n >= MOST_ATTEMPTS)) {
            self.annotate("refresh-flap-detected", "true".to_owned());
            return Err(Stopped);
        }
        self.count("refresh-attempt");
        self.roll(image, &latest)?;
        self.clear("refresh-attempt");
        self.write(image, &latest, "applied");
        Ok(())
    }

    /// The places of an image that the refresher moves and that do not run `digest`.
    fn lacking(&self, image: Image, digest: &str) -> Vec<Place> {
        let places = PLACES.into_iter().filter(|place| place.image == image);
        places
            .filter(|place| !self.refresher.skips(place.pinnable()))
            .filter(|place| {
                let running = self.cluster.running(*place);
                running.is_some_and(|running| digest_of(&running.image) != Some(digest))
            })
            .collect()
    }

    /// As belay's refresher knows it: by the state, else by what ran.
    fn was_applied(&self, image: Image, digest: &str) -> bool {
        let Some(state) = self.annotation(&key(image, "state")) else {
            let object = &self.cluster.objects[&Workload::JobsManager];
            let tag = self.refresher.values.tag;
            return object.history.iter().any(|past| {
                let mut images = past.images.iter();
                past.tag == Some(tag)
                    && images.any(|(at, text)| at.image == image && digest_of(text) == Some(digest))
            });
        };
        state == format!("applied@{digest}")
    }

    fn roll(&mut self, image: Image, digest: &str) -> Result<(), Stopped> {
        // The same repository in two spellings.
        let (manager, registry): (Manager, _) = match self.tick.kind {
            Kind::Shell => ("kubectl-set", ""),
            Kind::Belay => ("belay-refresh", "docker.io/"),
        };
        let text = format!("{registry}tracebloc/{}@{digest}", image.name());
        for workload in [Workload::JobsManager, Workload::Proxy, Workload::Monitor] {
            let lacking = self.lacking(image, digest).into_iter();
            let here = lacking.filter(|place| place.workload == workload);
            let images: BTreeMap<_, _> = here.map(|place| (place, text.clone())).collect();
            if images.is_empty() {
                continue;
            }
            if self.tick.dies_after == Some(self.patches) {
                return Err(Stopped);
            }
            self.patches += 1;
            if let Some(object) = self.cluster.objects.get_mut(&workload) {
                object.set(&images, manager);
            }
            if self.registry.crashes(digest) {
                // The roll-out times out.
                return Err(Stopped);
            }
        }
        // The last moment to die in: rolled out, not recorded. And one more tick on a roll-out that never
        // gets ready patches nothing and times out again.
        if self.tick.dies_after == Some(self.patches) || self.registry.crashes(digest) {
            return Err(Stopped);
        }
        Ok(())
    }

    fn write(&mut self, image: Image, digest: &str, state: &str) {
        self.annotate(&key(image, "digest"), digest.to_owned());
        if self.tick.kind == Kind::Belay {
            let tag = self.refresher.values.tag.name();
            let reference = format!("docker.io/tracebloc/{}:{tag}@{digest}", image.name());
            self.annotate(&key(image, "ref"), reference);
            self.annotate(&key(image, "state"), format!("{state}@{digest}"));
        }
    }

    fn annotation(&self, name: &str) -> Option<String> {
        let object = self.cluster.objects.get(&Workload::JobsManager)?;
        object.annotations.get(&annotation(name)).cloned()
    }

    fn annotate(&mut self, name: &str, value: String) {
        if let Some(object) = self.cluster.record() {
            object.annotations.insert(annotation(name), value);
        }
    }

    fn clear(&mut self, name: &str) {
        if let Some(object) = self.cluster.record() {
            object.annotations.remove(&annotation(name));
        }
    }

    fn count(&mut self, name: &str) {
        let count = self
            .annotation(name)
            .and_then(|text| text.parse::<u32>().ok());
        self.annotate(name, (count.unwrap_or(0) + 1).to_string());
    }
}

/// The full name of an annotation of the refresher.
pub(crate) fn annotation(name: &str) -> String {
    format!("tracebloc.io/{name}")
}

/// An annotation of one image.
pub(crate) fn key(image: Image, what: &str) -> String {
    format!("last-refreshed-{}-{what}", image.name())
}
