//! Which release a document belongs to, and that release's refresher and record.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::profile::{Profile, for_release};
use super::refresher::{is_refresher, variable};
use super::survey::RecordHint;
use crate::image::Reference;
use crate::manifest::{CronJob, Document, ObjectKey, Stream};

/// The label that says which release an object belongs to.
pub(super) const INSTANCE: &str = "app.kubernetes.io/instance";
/// Helm's annotations on every object of a release.
pub(super) const RELEASE_NAME: &str = "meta.helm.sh/release-name";
pub(super) const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// Which release a site belongs to.
pub(super) enum Release {
    Named(String),
    /// Nothing in the stream names a release, so there is one, without a name.
    Unnamed,
    /// The stream has several and the site says nothing.
    Ambiguous,
}

impl Release {
    /// Its name, if it has one.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Unnamed | Self::Ambiguous => None,
        }
    }
}

/// The releases of a stream.
pub(super) struct Releases<'s, 'h> {
    profile: &'s Profile,
    hint: Option<&'h RecordHint>,
    /// Their names, as managed images and refreshers are labelled.
    names: BTreeSet<&'s str>,
    /// Whether some managed image stands in a document that names no release.
    has_unlabelled: bool,
    /// Where the stream's Deployments stand, by their name and their release's label: the record's
    /// document is looked for at every site.
    deployments: HashMap<&'s str, HashMap<Option<&'s str>, Namespaces<'s>>>,
    /// The refreshers by their release's label: of several the last, which is the one that an apply
    /// leaves in place.
    refreshers: HashMap<Option<&'s str>, &'s CronJob>,
}

impl<'s, 'h> Releases<'s, 'h> {
    pub(super) fn new(
        stream: &'s Stream<'s>,
        profile: &'s Profile,
        hint: Option<&'h RecordHint>,
    ) -> Self {
        let images = documents_of_images(stream, profile);
        let jobs = refreshers(stream, profile).map(|job| job.document);
        let label = |index: usize| label_of(&stream.documents[index].labels);
        Self {
            profile,
            hint,
            names: images
                .iter()
                .copied()
                .chain(jobs)
                .filter_map(label)
                .collect(),
            has_unlabelled: images.iter().any(|&index| label(index).is_none()),
            deployments: deployments(stream),
            refreshers: refreshers(stream, profile)
                .map(|job| (label_of(&stream.documents[job.document].labels), job))
                .collect(),
        }
    }

    /// Whether there is a refresher, of whatever release.
    pub(super) fn have_refresher(&self) -> bool {
        !self.refreshers.is_empty()
    }

    /// The release that a document belongs to: by its label, else the stream's only one, else that of
    /// the files' only record.
    pub(super) fn of(&self, document: &Document) -> Release {
        self.of_label(label_of(&document.labels))
    }

    fn of_label(&self, label: Option<&str>) -> Release {
        if let Some(label) = label {
            return Release::Named(label.to_owned());
        }
        let hint = self.hint.and_then(|hint| hint.release.clone());
        match (self.names.first(), self.names.len(), hint) {
            (Some(only), 1, _) => Release::Named((*only).to_owned()),
            (_, _, Some(hint)) => Release::Named(hint),
            (None, _, None) => Release::Unnamed,
            (Some(_), _, None) => Release::Ambiguous,
        }
    }

    /// The release's CronJob with the profile's labels. Of several the last, which is the one that
    /// an apply leaves in place.
    pub(super) fn refresher(&self, release: &Release) -> Option<&'s CronJob> {
        let labelled = release
            .name()
            .and_then(|name| self.refreshers.get(&Some(name)));
        let is_only = self.names.len() <= 1 && !matches!(release, Release::Ambiguous);
        let unlabelled = self.refreshers.get(&None).filter(|_| is_only);
        let both = labelled.into_iter().chain(unlabelled).copied();
        both.max_by_key(|job| job.document)
    }

    /// The record Deployments of the stream's releases, also of one that only documents without a label
    /// belong to: once pinned they ask nothing, and the file with their record is as right as before.
    pub(super) fn records(&self) -> BTreeSet<ObjectKey> {
        let labelled = self.names.iter().map(|name| Some(*name));
        let labels = labelled.chain(self.has_unlabelled.then_some(None));
        let releases = labels.map(|label| self.of_label(label));
        releases
            .filter_map(|release| self.record(&release, self.refresher(&release)))
            .collect()
    }

    /// The record Deployment: named by the refresher, else by the release, else the files' only one.
    /// Its namespace is that of its own document.
    pub(super) fn record(
        &self,
        release: &Release,
        refresher: Option<&CronJob>,
    ) -> Option<ObjectKey> {
        let named = variable(refresher, &self.profile.refresher.deployment).map(str::to_owned);
        let name = named.or_else(|| {
            Some(for_release(
                &self.profile.record.deployment,
                release.name()?,
            ))
        });
        let Some(name) = name else {
            return self.hint.map(|hint| hint.object.clone());
        };
        let by_label = self.deployments.get(name.as_str());
        let mut namespaces = Namespaces::default();
        match (by_label, release.name()) {
            (None, _) => {}
            (Some(by_label), None) => by_label.values().for_each(|more| namespaces.join(more)),
            (Some(by_label), Some(release)) => [None, Some(release)]
                .iter()
                .filter_map(|label| by_label.get(label))
                .for_each(|more| namespaces.join(more)),
        }
        // The same name in two namespaces: two releases of one name in one stream.
        let namespace = namespaces.only().ok()?;
        Some(ObjectKey {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: namespace.map(str::to_owned),
            name,
        })
    }
}

/// The namespaces that documents of one name say, at most two of them: more make no difference.
#[derive(Default)]
struct Namespaces<'s>(BTreeSet<Option<&'s str>>);

impl<'s> Namespaces<'s> {
    fn add(&mut self, namespace: Option<&'s str>) {
        if self.0.len() < 2 {
            self.0.insert(namespace);
        }
    }

    fn join(&mut self, more: &Self) {
        more.0.iter().for_each(|namespace| self.add(*namespace));
    }

    /// The only one; none where no document says one; an error where they differ.
    fn only(&self) -> Result<Option<&'s str>, ()> {
        match self.0.len() {
            0 | 1 => Ok(self.0.first().copied().flatten()),
            _ => Err(()),
        }
    }
}

fn deployments<'s>(
    stream: &'s Stream<'s>,
) -> HashMap<&'s str, HashMap<Option<&'s str>, Namespaces<'s>>> {
    let mut deployments: HashMap<_, HashMap<_, Namespaces<'_>>> = HashMap::new();
    for document in &stream.documents {
        if document.object.kind == "Deployment" {
            let by_label = deployments.entry(document.object.name.as_str());
            let namespaces = by_label.or_default().entry(label_of(&document.labels));
            let namespace = document.object.namespace.as_deref();
            namespaces.or_default().add(namespace);
        }
    }
    deployments
}

/// The documents that hold an image which the profile looks at.
fn documents_of_images(stream: &Stream<'_>, profile: &Profile) -> BTreeSet<usize> {
    let managed = stream.sites.iter().filter(|site| {
        Reference::parse(&site.value)
            .is_some_and(|reference| profile.concerns(reference.repository()))
    });
    managed.map(|site| site.document).collect()
}

/// The release that an object's labels name. An empty label names none.
pub(super) fn label_of(labels: &BTreeMap<String, String>) -> Option<&str> {
    let label = labels.get(INSTANCE).map(String::as_str);
    label.filter(|label| !label.is_empty())
}

fn refreshers<'s>(stream: &'s Stream<'s>, profile: &Profile) -> impl Iterator<Item = &'s CronJob> {
    let labels = |job: &CronJob| &stream.documents[job.document].labels;
    let refreshers = stream.cron_jobs.iter();
    refreshers.filter(move |job| is_refresher(profile, labels(job)))
}
