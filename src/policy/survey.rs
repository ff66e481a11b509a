//! What the stream alone decides (rows 1-8), and what must be asked for the rest.

use std::collections::{BTreeSet, HashMap};

use super::profile::{ManagedRepository, Profile, for_release};
use super::{Decision, Evidence, Reason};
use crate::image::{Pin, Reference};
use crate::manifest::{CronJob, Document, ObjectKey, Site, Stream};

/// The label that says which release an object belongs to.
pub(super) const INSTANCE: &str = "app.kubernetes.io/instance";

/// Where answers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The cluster.
    Cluster,
    /// Record files.
    File,
    /// Nowhere: `--no-cluster` without `--record`.
    Nowhere,
}

/// Whether the refresher runs, as the user knows it (`--refresher`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refreshing {
    /// As the stream's CronJob says.
    #[default]
    Auto,
    /// It does, whatever the stream says.
    Active,
    /// It does not.
    Inactive,
}

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Where answers come from.
    pub source: Source,
    /// Whether the refresher runs.
    pub refreshing: Refreshing,
    /// A missing record is an error: this release was refreshed before.
    pub require_record: bool,
    /// The release's namespace, where the user named it for this run.
    pub namespace: Option<String>,
}

/// The only record of the record files: it names the release of sites that do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHint {
    /// The record Deployment.
    pub object: ObjectKey,
    /// Its release, where its label or Helm's annotation says so.
    pub release: Option<String>,
}

/// What to ask. Keys without a namespace mean the release's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// The record Deployments, one for each release.
    pub records: BTreeSet<ObjectKey>,
    /// The workloads that run a managed image.
    pub workloads: BTreeSet<ObjectKey>,
    /// The live refreshers.
    pub refreshers: BTreeSet<ObjectKey>,
    /// The record Deployments of all releases in the stream, also of those with no open question.
    pub of_stream: BTreeSet<ObjectKey>,
}

impl Questions {
    /// Whether there is nothing to ask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Every object that is asked for, once.
    #[must_use]
    pub fn objects(&self) -> BTreeSet<&ObjectKey> {
        self.records
            .iter()
            .chain(&self.workloads)
            .chain(&self.refreshers)
            .collect()
    }
}

/// The stream with each site settled or open.
#[derive(Debug)]
pub struct Survey<'s> {
    pub(super) stream: &'s Stream<'s>,
    pub(super) profile: &'s Profile,
    pub(super) policy: &'s Policy,
    pub(super) settled: Vec<Decision>,
    pub(super) open: Vec<OpenSite<'s>>,
    records: BTreeSet<ObjectKey>,
}

/// A site that the stream alone does not decide.
#[derive(Clone, Debug)]
pub(super) struct OpenSite<'s> {
    pub(super) index: usize,
    pub(super) site: &'s Site,
    pub(super) document: &'s Document,
    pub(super) reference: Reference,
    pub(super) image: String,
    pub(super) release: Option<String>,
    pub(super) record: ObjectKey,
    pub(super) refresher: Option<&'s CronJob>,
}

/// Settles what the stream alone decides.
#[must_use]
pub fn survey<'s>(
    stream: &'s Stream<'s>,
    profile: &'s Profile,
    policy: &'s Policy,
    hint: Option<&RecordHint>,
) -> Survey<'s> {
    let surveyor = Surveyor {
        stream,
        profile,
        policy,
        hint,
        releases: releases(stream, profile),
        deployments: deployments(stream),
    };
    let mut survey = Survey {
        stream,
        profile,
        policy,
        settled: Vec::new(),
        open: Vec::new(),
        records: surveyor.records(),
    };
    for (index, site) in stream.sites.iter().enumerate() {
        match surveyor.look(index, site) {
            Ok(open) => survey.open.push(open),
            Err(decision) => survey.settled.push(*decision),
        }
    }
    survey
}

impl Survey<'_> {
    /// What to ask before [`Survey::decide`].
    #[must_use]
    pub fn questions(&self) -> Questions {
        let mut questions = Questions {
            of_stream: self.records.clone(),
            ..Questions::default()
        };
        for open in &self.open {
            questions.records.insert(open.record.clone());
            if !open.document.object.name.is_empty() {
                questions.workloads.insert(open.document.object.clone());
            }
            if let Some(refresher) = open.refresher {
                questions
                    .refreshers
                    .insert(self.stream.documents[refresher.document].object.clone());
            }
        }
        questions
    }
}

/// Which release a site belongs to.
enum Release {
    Named(String),
    /// Nothing in the stream names a release, so there is one, without a name.
    Unnamed,
    /// The stream has several and the site says nothing.
    Ambiguous,
}

struct Surveyor<'s, 'h> {
    stream: &'s Stream<'s>,
    profile: &'s Profile,
    policy: &'s Policy,
    hint: Option<&'h RecordHint>,
    releases: BTreeSet<&'s str>,
    /// The stream's Deployments by name: the record's document is looked for at every site.
    deployments: HashMap<&'s str, Vec<&'s Document>>,
}

impl<'s> Surveyor<'s, '_> {
    /// Rows 1-8, in order.
    fn look(&self, index: usize, site: &'s Site) -> Result<OpenSite<'s>, Box<Decision>> {
        let mut evidence = Evidence::default();
        let settle = |reason, evidence: &Evidence| {
            Err(Box::new(Decision::new(index, reason, evidence.clone())))
        };
        let document = &self.stream.documents[site.document];
        let managed = Reference::parse(&site.value)
            .and_then(|reference| Some((self.profile.managed(reference.repository())?, reference)));
        let Some((managed, reference)) = managed else {
            return settle(Reason::NotManaged, &evidence);
        };
        evidence.image = Some(managed.image.clone());
        match reference.pin() {
            Pin::Digest(_) => return settle(Reason::OperatorPin, &evidence),
            Pin::Malformed(_) => return settle(Reason::DigestMalformed, &evidence),
            Pin::None => {}
        }
        if document.hook {
            return settle(Reason::Hook, &evidence);
        }
        let release = self.release(document);
        if let Release::Named(name) = &release {
            evidence.release = Some(name.clone());
        }
        let refresher = self.refresher(&release);
        if let Some(reason) = self.unrefreshed(document, managed, &reference, &release, refresher) {
            return settle(reason, &evidence);
        }
        if self.policy.source == Source::Nowhere {
            return settle(Reason::Offline, &evidence);
        }
        let Some(record) = self.record(&release, refresher) else {
            return settle(Reason::RecordUnnamed, &evidence);
        };
        Ok(OpenSite {
            index,
            site,
            document,
            reference,
            image: managed.image.clone(),
            release: evidence.release,
            record,
            refresher,
        })
    }

    /// Rows 4-7: what the refresher would not touch.
    fn unrefreshed(
        &self,
        document: &Document,
        managed: &ManagedRepository,
        reference: &Reference,
        release: &Release,
        refresher: Option<&CronJob>,
    ) -> Option<Reason> {
        let variable = |name: &str| variable(refresher, name);
        let watches = |host: &str| self.profile.is_watched_registry(host);
        if !self.profile.is_watched(reference.repository(), managed)
            || variable(&self.profile.refresher.registry).is_some_and(|host| !watches(host))
        {
            return Some(Reason::Mirror);
        }
        let Some(refresher) = refresher else {
            return match (self.policy.refreshing, release) {
                (Refreshing::Active, _) => None,
                // Which of the refreshers would be this site's cannot be told: its record cannot either.
                (Refreshing::Auto, Release::Ambiguous)
                    if refreshers(self.stream, self.profile).next().is_some() =>
                {
                    None
                }
                (Refreshing::Auto | Refreshing::Inactive, _) => Some(Reason::RefreshAbsent),
            };
        };
        if self.policy.refreshing == Refreshing::Inactive
            || skips(
                self.profile,
                &managed.image,
                &document.object.name,
                name_of(release),
                variable,
            )
        {
            return Some(Reason::RefreshAbsent);
        }
        if refresher.suspend && self.policy.refreshing == Refreshing::Auto {
            return Some(Reason::RefreshSuspended);
        }
        let tag = variable(&self.profile.refresher.tag)?;
        (reference.tag() != Some(tag)).then_some(Reason::TagChanged)
    }

    fn release(&self, document: &Document) -> Release {
        if let Some(label) = document
            .labels
            .get(INSTANCE)
            .filter(|label| !label.is_empty())
        {
            return Release::Named(label.clone());
        }
        let hint = self.hint.and_then(|hint| hint.release.clone());
        match (self.releases.first(), self.releases.len(), hint) {
            (Some(only), 1, _) => Release::Named((*only).to_owned()),
            (_, _, Some(hint)) => Release::Named(hint),
            (None, _, None) => Release::Unnamed,
            (Some(_), _, None) => Release::Ambiguous,
        }
    }

    /// The release's CronJob with the profile's labels. Of several the last, which is the one that
    /// an apply leaves in place.
    fn refresher(&self, release: &Release) -> Option<&'s CronJob> {
        refreshers(self.stream, self.profile)
            .filter(|job| {
                let label = self.stream.documents[job.document].labels.get(INSTANCE);
                match (label, release) {
                    (_, Release::Ambiguous) => false,
                    (Some(label), Release::Named(name)) => label == name,
                    (Some(_), Release::Unnamed) => false,
                    (None, _) => self.releases.len() <= 1,
                }
            })
            .last()
    }

    /// The record Deployments of the releases that the stream names.
    fn records(&self) -> BTreeSet<ObjectKey> {
        let record = |name: &&str| {
            let release = Release::Named((*name).to_owned());
            self.record(&release, self.refresher(&release))
        };
        self.releases.iter().filter_map(record).collect()
    }

    /// The record Deployment: named by the refresher, else by the release, else the files' only one.
    /// Its namespace is that of its own document.
    fn record(&self, release: &Release, refresher: Option<&CronJob>) -> Option<ObjectKey> {
        let named = variable(refresher, &self.profile.refresher.deployment).map(str::to_owned);
        let name = named.or_else(|| {
            Some(for_release(
                &self.profile.record.deployment,
                name_of(release)?,
            ))
        });
        let Some(name) = name else {
            return self.hint.map(|hint| hint.object.clone());
        };
        let namespaces: BTreeSet<_> = self
            .deployments
            .get(name.as_str())
            .into_iter()
            .flatten()
            .filter(|document| {
                let label = document.labels.get(INSTANCE).map(String::as_str);
                label.is_none() || name_of(release).is_none() || label == name_of(release)
            })
            .map(|document| document.object.namespace.clone())
            .collect();
        let mut namespaces = namespaces.into_iter();
        let namespace = namespaces.next().flatten();
        // The same name in two namespaces: two releases of one name in one stream.
        namespaces.next().is_none().then(|| ObjectKey {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace,
            name,
        })
    }
}

fn deployments<'s>(stream: &'s Stream<'s>) -> HashMap<&'s str, Vec<&'s Document>> {
    let mut deployments: HashMap<&str, Vec<&Document>> = HashMap::new();
    for document in &stream.documents {
        if document.object.kind == "Deployment" {
            let name = document.object.name.as_str();
            deployments.entry(name).or_default().push(document);
        }
    }
    deployments
}

/// The names of the stream's releases, as its managed images and refreshers are labelled.
fn releases<'s>(stream: &'s Stream<'s>, profile: &Profile) -> BTreeSet<&'s str> {
    let managed = stream.sites.iter().filter(|site| {
        Reference::parse(&site.value)
            .is_some_and(|reference| profile.managed(reference.repository()).is_some())
    });
    managed
        .map(|site| site.document)
        .chain(refreshers(stream, profile).map(|job| job.document))
        .filter_map(|index| stream.documents[index].labels.get(INSTANCE))
        .map(String::as_str)
        .filter(|label| !label.is_empty())
        .collect()
}

fn refreshers<'s>(stream: &'s Stream<'s>, profile: &Profile) -> impl Iterator<Item = &'s CronJob> {
    stream.cron_jobs.iter().filter(|job| {
        let labels = &stream.documents[job.document].labels;
        let selector = &profile.refresher.selector;
        selector
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value))
    })
}

/// A variable of the stream's refresher; an empty one is not set.
fn variable<'j>(refresher: Option<&'j CronJob>, name: &str) -> Option<&'j str> {
    let value = refresher?.variables.get(name)?;
    (!value.is_empty()).then_some(value)
}

fn name_of(release: &Release) -> Option<&str> {
    match release {
        Release::Named(name) => Some(name),
        Release::Unnamed | Release::Ambiguous => None,
    }
}

/// Whether a refresher with these variables skips `image`, or the workload called `workload`.
pub(super) fn skips<'v>(
    profile: &Profile,
    image: &str,
    workload: &str,
    release: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> bool {
    profile.refresher.pins.iter().any(|pin| {
        let of_image = pin.image.as_deref() == Some(image);
        let of_workload = pin.workload.as_ref().is_some_and(|name| {
            let fallback = || Some(for_release(&name.fallback, release?));
            let named = variable(&name.variable)
                .map(str::to_owned)
                .or_else(fallback);
            named.as_deref() == Some(workload)
        });
        (of_image || of_workload) && variable(&pin.variable).is_some_and(is_set)
    })
}

/// The chart writes `1`; `true` is what a person would.
fn is_set(value: &str) -> bool {
    matches!(value, "1" | "true")
}
