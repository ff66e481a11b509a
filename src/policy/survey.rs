//! What the stream alone decides (rows 1-8), and what must be asked for the rest.

use std::collections::BTreeSet;

use super::kept::LiveSite;
use super::profile::{ManagedRepository, Profile};
use super::refresher::{skips, variable};
use super::release::{Release, Releases};
use super::{Decision, Evidence, Reason};
use crate::image::{Pin, Reference};
use crate::manifest::{CronJob, Document, ObjectKey, Site, Stream};

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
        self.records.is_empty() && self.workloads.is_empty()
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
    pub(super) live: Vec<LiveSite<'s>>,
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
        releases: Releases::new(stream, profile, hint),
    };
    let mut survey = Survey {
        stream,
        profile,
        policy,
        settled: Vec::new(),
        open: Vec::new(),
        live: Vec::new(),
        records: surveyor.releases.records(),
    };
    for (index, site) in stream.sites.iter().enumerate() {
        match surveyor.look(index, site) {
            Ok(Found::Refreshed(open)) => survey.open.push(*open),
            Ok(Found::Live(live)) => survey.live.push(live),
            Err(decision) => survey.settled.push(*decision),
        }
    }
    survey
}

impl Survey<'_> {
    /// The release that all open sites belong to, if it is one and has a name.
    #[must_use]
    pub fn only_release(&self) -> Option<&str> {
        let refreshed = self.open.iter().map(|open| &open.release);
        let names: BTreeSet<_> = refreshed
            .chain(self.live.iter().map(|live| &live.release))
            .collect();
        match names.len() {
            1 => names.first()?.as_deref(),
            _ => None,
        }
    }

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
        let live = self.live.iter().map(|live| &live.document.object);
        let named = live.filter(|object| !object.name.is_empty());
        questions.workloads.extend(named.cloned());
        questions
    }
}

/// A site that needs answers.
enum Found<'s> {
    /// With a record.
    Refreshed(Box<OpenSite<'s>>),
    /// Without.
    Live(LiveSite<'s>),
}

/// Looks at one site after the other.
struct Surveyor<'s, 'h> {
    stream: &'s Stream<'s>,
    profile: &'s Profile,
    policy: &'s Policy,
    releases: Releases<'s, 'h>,
}

impl<'s> Surveyor<'s, '_> {
    /// Rows 1-8, in order.
    fn look(&self, index: usize, site: &'s Site) -> Result<Found<'s>, Box<Decision>> {
        let mut evidence = Evidence::default();
        let settle = |reason, evidence: &Evidence| {
            Err(Box::new(Decision::new(index, reason, evidence.clone())))
        };
        let document = &self.stream.documents[site.document];
        let Some(reference) = Reference::parse(&site.value) else {
            return settle(Reason::NotManaged, &evidence);
        };
        let managed = self.profile.managed(reference.repository());
        if managed.is_none() && !self.profile.keeps_live(reference.repository()) {
            return settle(Reason::NotManaged, &evidence);
        }
        evidence.image = managed.map(|managed| managed.image.clone());
        match reference.pin() {
            Pin::Digest(_) => return settle(Reason::OperatorPin, &evidence),
            Pin::Malformed(_) => return settle(Reason::DigestMalformed, &evidence),
            Pin::None => {}
        }
        if document.hook {
            return settle(Reason::Hook, &evidence);
        }
        let release = self.releases.of(document);
        if let Release::Named(name) = &release {
            evidence.release = Some(name.clone());
        }
        let refresher = self.releases.refresher(&release);
        if let Some(managed) = managed
            && let Some(reason) =
                self.unrefreshed(document, managed, &reference, &release, refresher)
        {
            return settle(reason, &evidence);
        }
        if self.policy.source == Source::Nowhere {
            return settle(Reason::Offline, &evidence);
        }
        let Some(managed) = managed else {
            return Ok(Found::Live(LiveSite {
                index,
                site,
                document,
                reference,
                release: evidence.release,
            }));
        };
        let Some(record) = self.releases.record(&release, refresher) else {
            return settle(Reason::RecordUnnamed, &evidence);
        };
        Ok(Found::Refreshed(Box::new(OpenSite {
            index,
            site,
            document,
            reference,
            image: managed.image.clone(),
            release: evidence.release,
            record,
            refresher,
        })))
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
                (Refreshing::Auto, Release::Ambiguous) if self.releases.have_refresher() => None,
                (Refreshing::Auto | Refreshing::Inactive, _) => Some(Reason::RefreshAbsent),
            };
        };
        if self.policy.refreshing == Refreshing::Inactive
            || skips(
                self.profile,
                &managed.image,
                &document.object.name,
                release.name(),
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
}
