//! From answers to decisions, once it is certain that the record is this release's. Each site is decided
//! by itself: a roll-out that stopped halfway leaves two digests of one image running, and a render
//! moves neither.

use std::collections::BTreeSet;

use super::case::{Case, evidence};
use super::decision::{Decision, Evidence};
use super::facts::{Answer, Facts, LiveObject};
use super::reason::Reason;
use super::release::{INSTANCE, RELEASE_NAME, RELEASE_NAMESPACE, label_of};
use super::survey::{Source, Survey};
use crate::manifest::ObjectKey;

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
            self.check(facts, &mut verdict.notes)?;
        }
        for open in &self.open {
            let decide = || Case::new(self, open, facts).decide();
            let decision = unless_failed(facts, open.index, evidence(open), decide);
            verdict.decisions.push(decision);
        }
        for live in &self.live {
            let decide = || live.decide(facts);
            let decision = unless_failed(facts, live.index, live.evidence(), decide);
            verdict.decisions.push(decision);
        }
        verdict.decisions.sort_by_key(|decision| decision.site);
        Ok(verdict)
    }

    /// Whether the answers are about this stream's releases.
    pub(super) fn check(&self, facts: &Facts, notes: &mut Vec<String>) -> Result<(), PolicyError> {
        self.check_named()?;
        self.check_records(facts, notes)?;
        self.check_live(facts, notes)
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

    /// A workload without a record tells by itself whose it is. Where none of those without a namespace
    /// is found in one that nobody named, it may be the wrong one.
    fn check_live(&self, facts: &Facts, notes: &mut Vec<String>) -> Result<(), PolicyError> {
        let mut missing = None;
        let mut found = false;
        for live in &self.live {
            let key = &live.document.object;
            match facts.object(key) {
                Answer::Found(object) => {
                    found |= key.namespace.is_none();
                    check_release(key, object, live.release.as_deref(), notes)?;
                }
                Answer::NotFound => missing = missing.or(Some(key)),
                Answer::Unknown => {}
            }
        }
        match missing.filter(|key| key.namespace.is_none() && !found) {
            Some(key) => self.check_guess(key, facts),
            None => Ok(()),
        }
    }

    fn check_missing(&self, record: &ObjectKey, facts: &Facts) -> Result<(), PolicyError> {
        if self.policy.require_record {
            return Err(PolicyError::RecordMissing {
                record: Box::new(record.clone()),
            });
        }
        self.check_guess(record, facts)
    }

    /// What is missing from a namespace that nobody named may be in another.
    fn check_guess(&self, record: &ObjectKey, facts: &Facts) -> Result<(), PolicyError> {
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

/// What `decide` says of a site, where the cluster could be asked.
fn unless_failed(
    facts: &Facts,
    site: usize,
    evidence: Evidence,
    decide: impl FnOnce() -> Decision,
) -> Decision {
    match &facts.failure {
        Some(why) => {
            let mut decision = Decision::new(site, Reason::LookupFailed, evidence);
            decision.warnings = vec![why.clone()];
            decision
        }
        None => decide(),
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
        ("the label", INSTANCE, label_of(&object.labels), release),
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
