//! The rows that need answers (9-19), one site at a time: a roll-out that stopped halfway leaves two
//! digests of one image running, and a render moves neither.

use std::collections::BTreeSet;

use super::decision::{Decision, Evidence, LiveEvidence, Outcome, RecordedEvidence};
use super::facts::{Answer, Facts, LiveContainer, LiveObject, Revision};
use super::reason::Reason;
use super::record::{Record, Recorded};
use super::survey::{INSTANCE, OpenSite, Source, Survey, skips};
use crate::image::{Pin, Reference};
use crate::manifest::ObjectKey;

/// Helm's annotations on every object of a release.
const RELEASE_NAME: &str = "meta.helm.sh/release-name";
const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// All decisions, and what else is worth knowing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// One for each site, in the order of the stream.
    pub decisions: Vec<Decision>,
    /// What is noted without being a warning.
    pub notes: Vec<String>,
}

/// The record is not to be trusted for this stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The record Deployment carries another release's name.
    #[error(
        "{record} has {what} `{found}`, but this stream is of `{expected}`: check --namespace, --context or --record"
    )]
    AnotherRelease {
        /// The record Deployment.
        record: Box<ObjectKey>,
        /// Which of its marks.
        what: String,
        /// The mark's text.
        found: String,
        /// What the stream says.
        expected: String,
    },
    /// The user named another namespace than the record Deployment's document.
    #[error(
        "--namespace {given} contradicts the manifest of {record}: give that namespace, or leave --namespace out"
    )]
    NamespaceContradicted {
        /// The record Deployment.
        record: Box<ObjectKey>,
        /// What the user said.
        given: String,
    },
    /// `--require-record`, and there is none.
    #[error(
        "{record} was not found, and --require-record asks for it: check --namespace and --context, or leave --require-record out for a first install"
    )]
    RecordMissing {
        /// The record Deployment.
        record: Box<ObjectKey>,
    },
    /// `--require-record`, and it cannot be told which.
    #[error(
        "--require-record asks for a record, but several releases are in the input and {object} does not carry the label {INSTANCE}: label it"
    )]
    RecordUnnamed {
        /// The object without a release.
        object: Box<ObjectKey>,
    },
    /// There is none in a namespace that nobody named.
    #[error(
        "{record} was not found in namespace `{namespace}`, which is only a guess (from {from}): name the release's namespace with --namespace"
    )]
    NamespaceGuessed {
        /// The record Deployment.
        record: Box<ObjectKey>,
        /// The namespace that was asked.
        namespace: String,
        /// Where it came from.
        from: String,
    },
}

impl Survey<'_> {
    /// Decides every site.
    ///
    /// # Errors
    /// When the record is another release's, missing where it is required, or may have been looked
    /// for in the wrong place.
    pub fn decide(&self, facts: &Facts) -> Result<Verdict, PolicyError> {
        let mut verdict = Verdict {
            decisions: self.settled.clone(),
            notes: facts.notes.clone(),
        };
        if let Some(used) = &facts.namespace {
            verdict.notes.push(format!(
                "manifests without a namespace were looked up in `{}` (from {})",
                used.name, used.source
            ));
        }
        if facts.failure.is_none() {
            self.check_named()?;
            self.check_records(facts, &mut verdict.notes)?;
        }
        for open in &self.open {
            let decision = match &facts.failure {
                Some(why) => {
                    let mut decision =
                        Decision::new(open.index, Reason::LookupFailed, evidence(open));
                    decision.warnings = vec![why.clone()];
                    decision
                }
                None => Case::new(self, open, facts).decide(),
            };
            verdict.decisions.push(decision);
        }
        verdict.decisions.sort_by_key(|decision| decision.site);
        Ok(verdict)
    }

    fn check_named(&self) -> Result<(), PolicyError> {
        let unnamed = self
            .settled
            .iter()
            .find(|decision| decision.reason == Reason::RecordUnnamed);
        match unnamed {
            Some(decision) if self.policy.require_record => {
                let document = self.stream.sites[decision.site].document;
                Err(PolicyError::RecordUnnamed {
                    object: Box::new(self.stream.documents[document].object.clone()),
                })
            }
            _ => Ok(()),
        }
    }

    fn check_records(&self, facts: &Facts, notes: &mut Vec<String>) -> Result<(), PolicyError> {
        let records: BTreeSet<_> = self
            .open
            .iter()
            .map(|open| (&open.record, open.release.as_deref()))
            .collect();
        for (record, release) in records {
            if let (Some(given), Some(rendered)) = (&self.policy.namespace, &record.namespace)
                && given != rendered
            {
                return Err(PolicyError::NamespaceContradicted {
                    record: Box::new(record.clone()),
                    given: given.clone(),
                });
            }
            match facts.object(record) {
                Answer::Found(object) => check_release(record, object, release, notes)?,
                Answer::NotFound | Answer::Unknown => self.check_missing(record, facts)?,
            }
        }
        Ok(())
    }

    fn check_missing(&self, record: &ObjectKey, facts: &Facts) -> Result<(), PolicyError> {
        if self.policy.require_record {
            return Err(PolicyError::RecordMissing {
                record: Box::new(record.clone()),
            });
        }
        match &facts.namespace {
            Some(used)
                if used.guessed
                    && record.namespace.is_none()
                    && self.policy.source == Source::Cluster =>
            {
                Err(PolicyError::NamespaceGuessed {
                    record: Box::new(record.clone()),
                    namespace: used.name.clone(),
                    from: used.source.clone(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// A mark that is present and different is another release's; one that is absent (installed by
/// kubectl or Argo CD) is noted.
fn check_release(
    record: &ObjectKey,
    object: &LiveObject,
    release: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(), PolicyError> {
    let annotation = |key: &str| object.annotations.get(key).map(String::as_str);
    let namespace = object.key.namespace.as_deref();
    let marks = [
        (
            "the label",
            INSTANCE,
            object.labels.get(INSTANCE).map(String::as_str),
            release,
        ),
        (
            "the annotation",
            RELEASE_NAME,
            annotation(RELEASE_NAME),
            release,
        ),
        (
            "the annotation",
            RELEASE_NAMESPACE,
            annotation(RELEASE_NAMESPACE),
            namespace,
        ),
    ];
    for (what, key, found, expected) in marks {
        match (found, expected) {
            (Some(found), Some(expected)) if found != expected => {
                return Err(PolicyError::AnotherRelease {
                    record: Box::new(record.clone()),
                    what: format!("{what} {key}"),
                    found: found.to_owned(),
                    expected: expected.to_owned(),
                });
            }
            (None, _) => notes.push(format!("{record} does not carry {what} {key}")),
            _ => {}
        }
    }
    Ok(())
}

fn evidence(open: &OpenSite<'_>) -> Evidence {
    Evidence {
        release: open.release.clone(),
        image: Some(open.image.clone()),
        record: Some(open.record.clone()),
        ..Evidence::default()
    }
}

/// One site and all that is known about it.
struct Case<'c> {
    survey: &'c Survey<'c>,
    open: &'c OpenSite<'c>,
    facts: &'c Facts,
    record: Option<Record<'c>>,
    refresher: &'c Answer<LiveObject>,
    live: LiveImage,
}

/// The live reference of the site's place.
struct LiveImage {
    /// The text and the digest in it, where the repository is the same.
    image: Option<(String, Option<String>)>,
    absent: Option<&'static str>,
    others_own: Option<bool>,
    owners: Option<Vec<String>>,
    deployers: Vec<String>,
}

impl<'c> Case<'c> {
    fn new(survey: &'c Survey<'c>, open: &'c OpenSite<'c>, facts: &'c Facts) -> Self {
        let record = facts
            .object(&open.record)
            .found()
            .map(|object| Record::new(object, &survey.profile.record, &open.image));
        Self {
            survey,
            open,
            facts,
            record,
            refresher: live_refresher(survey, open, facts),
            live: LiveImage::find(open, facts),
        }
    }

    fn decide(&self) -> Decision {
        let mut evidence = evidence(self.open);
        evidence.live = Some(self.live.evidence());
        let Some(record) = &self.record else {
            return Decision::new(self.open.index, Reason::FirstInstall, evidence); // row 9
        };
        evidence.recorded = Some(RecordedEvidence {
            annotation: record.digest_key(),
            digest: record.digest_text().map(str::to_owned),
            reference: record.reference().map(|found| found.as_str().to_owned()),
            maintained: self.is_maintained(record),
            applied: matches!(record.recorded(), Recorded::Digest(_)).then(|| self.applied(record)),
            flap_detected: record.flap_detected(),
        });
        let (reason, text) = self.row(record);
        let mut decision = Decision::new(self.open.index, reason, evidence);
        if let Some(text) = text {
            decision.outcome = Outcome::Pinned(text);
        }
        if reason == Reason::PinnedOverRollback && self.live.others_own.is_none() {
            decision.warnings.push(
                "it is not known who set the image that runs (no managedFields), so it may not be \
                 a rollback"
                    .to_owned(),
            );
        }
        if let Recorded::Invalid(text) = record.recorded() {
            // Row 16: warned, whichever row decides; where it decides itself, this says it better.
            decision
                .warnings
                .retain(|_| reason != Reason::RecordInvalid);
            decision.warnings.push(format!(
                "the annotation {} on {} is no digest: {text:?}",
                record.digest_key(),
                self.open.record
            ));
        }
        decision
    }

    /// Rows 10-19: the reason and the reference to write.
    fn row(&self, record: &Record<'_>) -> (Reason, Option<String>) {
        let tag = self.open.reference.tag();
        let refresher_tag = self.refresher.found().and_then(|refresher| {
            let tag = refresher.variable(&self.survey.profile.refresher.tag);
            tag.filter(|tag| !tag.is_empty())
        });
        if refresher_tag.is_some() && refresher_tag != tag {
            return (Reason::TagChanged, None); // row 10
        }
        let other_tag = record
            .reference()
            .and_then(|resolved| Some(Some(resolved.tag()?) != tag))
            .unwrap_or(false);
        let recorded = match record.recorded() {
            Recorded::Digest(digest) if !other_tag => Some(digest.as_str().to_owned()),
            _ => None,
        };
        let live = self.live.digest();
        if let Some(digest) = &recorded
            && live == Some(digest)
        {
            return (Reason::Pinned, Some(self.write(digest))); // row 11
        }
        if self.live.others_own == Some(true) && live.is_some() {
            if let Some(digest) = &recorded
                && record.flap_detected()
                && self.applied(record).0
            {
                return (Reason::PinnedOverFlap, Some(self.write(digest))); // row 12
            }
            return (Reason::PinnedLive, self.live.text()); // row 13
        }
        if !self.is_maintained(record) {
            return (Reason::RecordUnmaintained, None); // row 14
        }
        // Without a usable record, what runs is kept if it is a digest.
        let without = |reason| match live {
            Some(_) => (Reason::PinnedLive, self.live.text()),
            None => (reason, None),
        };
        let Some(digest) = recorded else {
            return match record.recorded() {
                Recorded::Nothing => without(Reason::NoRecord), // row 15
                Recorded::Digest(_) => without(Reason::TagChanged), // row 15, of another tag
                Recorded::Invalid(_) => without(Reason::RecordInvalid), // row 16
            };
        };
        if !self.applied(record).0 {
            return without(Reason::ObservedOnly); // row 17
        }
        let reason = match live {
            Some(_) => Reason::PinnedOverRollback, // row 18
            None => Reason::Pinned,                // row 19
        };
        (reason, Some(self.write(&digest)))
    }

    /// The reference for `digest`: the live text where it already names it, so that nothing rolls and
    /// server-side apply sees no change; else the rendered repository text. The tag is not kept.
    fn write(&self, digest: &str) -> String {
        match &self.live.image {
            Some((text, Some(live))) if live == digest => text.clone(),
            _ => format!("{}@{digest}", self.open.reference.name()),
        }
    }

    /// Whether something keeps the record up to date. What is not known of the live refresher is taken
    /// from the stream, which has got this far only with an active one.
    fn is_maintained(&self, record: &Record<'_>) -> bool {
        let refreshed = match self.refresher {
            Answer::Unknown => true,
            Answer::NotFound => false,
            Answer::Found(refresher) => {
                !refresher.suspended
                    && !skips(
                        self.survey.profile,
                        &self.open.image,
                        &self.open.document.object.name,
                        self.open.release.as_deref(),
                        |name| refresher.variable(name),
                    )
            }
        };
        refreshed && (!record.is_skipping() || record.reference().is_some())
    }

    /// Whether the recorded digest was ever rolled out, and how that is known.
    fn applied(&self, record: &Record<'_>) -> (bool, String) {
        if let Some(applied) = record.applied() {
            return (applied, "the state annotation".to_owned());
        }
        if let Recorded::Digest(digest) = record.recorded()
            && let Some(applied) = self.ran(digest.as_str())
        {
            let key = &self.open.document.object;
            return (applied, format!("the history of {key}"));
        }
        let revision = "the record Deployment's revision".to_owned();
        (record.was_rolled_out(), revision)
    }

    /// Whether a past template of the workload ran `digest` for the rendered tag; None where the
    /// history cannot tell.
    fn ran(&self, digest: &str) -> Option<bool> {
        let revisions = self.facts.history(&self.open.document.object).found()?;
        if revisions.is_empty() {
            return None;
        }
        let mut unknown = false;
        for revision in revisions {
            let ran = revision
                .containers
                .iter()
                .any(|past| past.container == self.open.site.container && self.is_at(past, digest));
            if !ran {
                continue;
            }
            let tags = match self.tag_of(revision) {
                Some(tag) => vec![tag],
                None => self.tags_in_record_history(digest),
            };
            if tags
                .iter()
                .any(|tag| Some(*tag) == self.open.reference.tag())
            {
                return Some(true);
            }
            unknown |= tags.is_empty();
        }
        if unknown { None } else { Some(false) }
    }

    fn is_at(&self, past: &LiveContainer, digest: &str) -> bool {
        Reference::parse(&past.image).is_some_and(|reference| {
            reference.repository() == self.open.reference.repository()
                && matches!(reference.pin(), Pin::Digest(text) if text == digest)
        })
    }

    /// The tag that a template was rendered for: the variable of this container, else of any.
    fn tag_of<'r>(&self, revision: &'r Revision) -> Option<&'r str> {
        let own = |past: &&LiveContainer| past.container == self.open.site.container;
        let containers = &revision.containers;
        containers
            .iter()
            .filter(own)
            .chain(containers)
            .find_map(|past| past.variables.get(&self.survey.profile.tag_variable))
            .map(String::as_str)
    }

    /// The tags that the record Deployment was rendered for when it ran `digest`: a workload without
    /// the variable (requests-proxy) follows it.
    fn tags_in_record_history(&self, digest: &str) -> Vec<&str> {
        let revisions = self.facts.history(&self.open.record).found();
        revisions
            .into_iter()
            .flatten()
            .filter(|revision| {
                let containers = &revision.containers;
                containers.iter().any(|past| self.is_at(past, digest))
            })
            .filter_map(|revision| self.tag_of(revision))
            .collect()
    }
}

/// The live refresher of a site: the stream's by name, else the one that a record file holds.
fn live_refresher<'f>(
    survey: &Survey<'_>,
    open: &OpenSite<'_>,
    facts: &'f Facts,
) -> &'f Answer<LiveObject> {
    if let Some(refresher) = open.refresher {
        return facts.object(&survey.stream.documents[refresher.document].object);
    }
    let selector = &survey.profile.refresher.selector;
    let is_refresher = |object: &LiveObject| {
        let label = |key: &str| object.labels.get(key);
        object.key.kind == "CronJob"
            && selector
                .iter()
                .all(|(key, value)| label(key) == Some(value))
            && label(INSTANCE).is_none_or(|of| open.release.as_ref().is_none_or(|name| name == of))
    };
    facts
        .objects
        .values()
        .find(|answer| answer.found().is_some_and(is_refresher))
        .unwrap_or(&Answer::Unknown)
}

impl LiveImage {
    fn find(open: &OpenSite<'_>, facts: &Facts) -> Self {
        let mut live = Self {
            image: None,
            absent: None,
            others_own: None,
            owners: None,
            deployers: Vec::new(),
        };
        let object = match facts.object(&open.document.object) {
            Answer::Found(object) => object,
            Answer::NotFound => return live.without("there is no such object"),
            Answer::Unknown => return live.without("the object was not asked for"),
        };
        live.deployers = object.owners.deployers().map(str::to_owned).collect();
        let Some(container) = object.container(&open.site.container) else {
            return live.without("the object has no such container");
        };
        let reference = Reference::parse(&container.image)
            .filter(|reference| reference.repository() == open.reference.repository());
        let Some(reference) = reference else {
            return live.without("the container runs another repository");
        };
        live.others_own = object.owners.others_own(&container.container);
        live.owners = object
            .owners
            .of_image(&container.container)
            .map(|names| names.into_iter().map(str::to_owned).collect());
        let digest = match reference.pin() {
            Pin::Digest(digest) => Some(digest.clone()),
            Pin::None | Pin::Malformed(_) => None,
        };
        live.image = Some((reference.as_str().to_owned(), digest));
        live
    }

    fn without(mut self, why: &'static str) -> Self {
        self.absent = Some(why);
        self
    }

    fn digest(&self) -> Option<&String> {
        self.image.as_ref()?.1.as_ref()
    }

    fn text(&self) -> Option<String> {
        Some(self.image.as_ref()?.0.clone())
    }

    fn evidence(&self) -> LiveEvidence {
        LiveEvidence {
            image: self.text(),
            absent: self.absent,
            owners: self.owners.clone(),
            deployers: self.deployers.clone(),
        }
    }
}

impl Decision {
    /// Turns a rewrite that cannot be made into a refusal, or, where the user said so, into a warning.
    pub fn not_editable(&mut self, why: &str, leave: bool) {
        self.reason = Reason::NotEditable;
        self.outcome = if leave {
            Outcome::Left
        } else {
            Outcome::Refused
        };
        self.warnings = vec![format!("the image cannot be rewritten: {why}")];
    }
}
