//! The cluster: live objects with the owners of their images, and the templates that they ran.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{Pinnable, Place, Values, Workload};
use super::registry::Tag;

/// `spec.revisionHistoryLimit`, as Kubernetes has it by default.
const HISTORY: usize = 10;

/// Who writes.
pub(crate) type Manager = &'static str;

/// Helm, whichever way it applies.
pub(crate) const HELM: Manager = "helm";

/// An image and who owns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) image: String,
    pub(crate) owners: BTreeSet<Manager>,
}

/// A pod template, as far as decisions look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) images: BTreeMap<Place, String>,
    /// `CLIENT_ENV`, where the workload has it.
    pub(crate) tag: Option<Tag>,
}

/// A Deployment or DaemonSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) running: BTreeMap<Place, Running>,
    pub(crate) tag: Option<Tag>,
    pub(crate) annotations: BTreeMap<String, String>,
    /// The templates that ReplicaSets or ControllerRevisions keep, the current one last.
    pub(crate) history: Vec<Template>,
    pub(crate) revision: u64,
}

/// The refresher's CronJob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refresher {
    pub(crate) values: Values,
}

/// An apply that another owner stands against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) places: Vec<Place>,
}

/// How Helm writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apply {
    /// Helm 3, and Helm 4 where it keeps to it: a three-way merge.
    Client,
    /// Helm 4: server-side apply.
    Server,
    /// The same with `--force-conflicts`.
    Forced,
    /// Helm 3's `--force`: the object is replaced.
    Replace,
}

/// Everything live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cluster {
    pub(crate) objects: BTreeMap<Workload, Object>,
    pub(crate) refresher: Option<Refresher>,
}

impl Object {
    fn new(template: &Template) -> Self {
        let owned = |image: &String| Running {
            image: image.clone(),
            owners: BTreeSet::from([HELM]),
        };
        let images = template.images.iter();
        let mut object = Self {
            running: images
                .map(|(place, image)| (*place, owned(image)))
                .collect(),
            tag: template.tag,
            annotations: BTreeMap::new(),
            history: Vec::new(),
            revision: 0,
        };
        object.roll();
        object
    }

    fn template(&self) -> Template {
        let running = self.running.iter();
        Template {
            images: running
                .map(|(place, running)| (*place, running.image.clone()))
                .collect(),
            tag: self.tag,
        }
    }

    /// What the controller does after a write: a template that is not the current one rolls.
    fn roll(&mut self) {
        let template = self.template();
        if self.history.last() == Some(&template) {
            return;
        }
        // A template that ran before gets its old ReplicaSet.
        self.history.retain(|past| *past != template);
        self.history.push(template);
        let surplus = self.history.len().saturating_sub(HISTORY + 1);
        self.history.drain(..surplus);
        self.revision += 1;
    }

    /// A plain update by somebody, as `kubectl set image` makes it: who writes another value owns it
    /// alone; who writes the same changes nothing.
    pub(crate) fn set(&mut self, images: &BTreeMap<Place, String>, manager: Manager) {
        for (place, image) in images {
            if let Some(running) = self.running.get_mut(place)
                && running.image != *image
            {
                running.image.clone_from(image);
                running.owners = BTreeSet::from([manager]);
            }
        }
        self.roll();
    }

    fn apply(&mut self, template: &Template, how: Apply) -> Result<(), Conflict> {
        match how {
            Apply::Client => self.set(&template.images, HELM),
            Apply::Replace => {
                self.annotations.clear();
                self.set(&template.images, HELM);
                for running in self.running.values_mut() {
                    running.owners = BTreeSet::from([HELM]);
                }
            }
            Apply::Server | Apply::Forced => {
                let places: Vec<_> = self.conflicts(template).collect();
                if how == Apply::Server && !places.is_empty() {
                    return Err(Conflict { places });
                }
                for (place, image) in &template.images {
                    if let Some(running) = self.running.get_mut(place) {
                        if running.image != *image {
                            running.owners.clear();
                        }
                        running.image.clone_from(image);
                        running.owners.insert(HELM);
                    }
                }
            }
        }
        self.tag = template.tag;
        self.roll();
        Ok(())
    }

    /// The images that server-side apply would take from somebody else.
    fn conflicts<'a>(&'a self, template: &'a Template) -> impl Iterator<Item = Place> + 'a {
        let images = template.images.iter();
        images
            .filter(|(place, image)| {
                self.running.get(place).is_some_and(|running| {
                    running.image != **image && running.owners.iter().any(|owner| *owner != HELM)
                })
            })
            .map(|(place, _)| *place)
    }
}

impl Cluster {
    /// Applies a release: workload by workload, the refresher last, up to the first conflict.
    pub(crate) fn apply(&mut self, release: &Release, how: Apply) -> Result<(), Conflict> {
        for workload in Workload::ALL {
            let template = release.template(workload);
            match self.objects.get_mut(&workload) {
                Some(object) => object.apply(&template, how)?,
                None => {
                    self.objects.insert(workload, Object::new(&template));
                }
            }
        }
        self.refresher = release.values.enabled.then(|| Refresher {
            values: release.values.clone(),
        });
        Ok(())
    }

    pub(crate) fn running(&self, place: Place) -> Option<&Running> {
        self.objects.get(&place.workload)?.running.get(&place)
    }

    /// The record Deployment.
    pub(crate) fn record(&mut self) -> Option<&mut Object> {
        self.objects.get_mut(&Workload::JobsManager)
    }
}

impl Refresher {
    pub(crate) fn skips(&self, what: Pinnable) -> bool {
        self.values.pin(what).is_some()
    }
}

/// A release as Helm stores it: after post-rendering.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub(crate) values: Values,
    pub(crate) images: BTreeMap<Place, String>,
}

impl Release {
    fn template(&self, workload: Workload) -> Template {
        let images = workload
            .places()
            .map(|place| (place, self.images[&place].clone()));
        Template {
            images: images.collect(),
            tag: workload.says_its_tag().then_some(self.values.tag),
        }
    }
}

/// The digest in an image, if it names one.
pub(crate) fn digest_of(image: &str) -> Option<&str> {
    image.split_once('@').map(|(_, digest)| digest)
}
