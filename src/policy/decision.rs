//! The outcome for one site, with all that led to it.

use super::{Effect, Reason};
use crate::manifest::ObjectKey;

/// What becomes of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The rendered text stays.
    Left,
    /// This reference is written.
    Pinned(String),
    /// The run stops.
    Refused,
}

/// The decision for one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The index of the site in [`Stream::sites`](crate::manifest::Stream::sites).
    pub site: usize,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The row that decided.
    pub reason: Reason,
    /// What deserves a warning, in sentences; empty for most decisions.
    pub warnings: Vec<String>,
    /// What was looked at.
    pub evidence: Evidence,
}

impl Decision {
    /// A decision with nothing written for it yet: left, or refused where the reason says so.
    pub(super) fn new(site: usize, reason: Reason, evidence: Evidence) -> Self {
        let outcome = match reason.effect() {
            Effect::Refused => Outcome::Refused,
            Effect::Left | Effect::Recorded | Effect::Live => Outcome::Left,
        };
        let warnings = if reason.is_warned() {
            vec![reason.text().to_owned()]
        } else {
            Vec::new()
        };
        Self {
            site,
            outcome,
            reason,
            warnings,
            evidence,
        }
    }

    /// Whether somebody should look: refused under `--strict`.
    #[must_use]
    pub fn is_warned(&self) -> bool {
        !self.warnings.is_empty()
    }

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

    /// The reference that is written, if the site is rewritten.
    #[must_use]
    pub fn rewritten(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Pinned(text) => Some(text),
            Outcome::Left | Outcome::Refused => None,
        }
    }
}

/// What a decision looked at. Empty where the stream alone decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The release that the site belongs to.
    pub release: Option<String>,
    /// The image's record name.
    pub image: Option<String>,
    /// The record Deployment.
    pub record: Option<ObjectKey>,
    /// What it says of the image.
    pub recorded: Option<RecordedEvidence>,
    /// What runs.
    pub live: Option<LiveEvidence>,
}

/// What the record says of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedEvidence {
    /// The annotation's key.
    pub annotation: String,
    /// Its text, as found.
    pub digest: Option<String>,
    /// The reference that was resolved, where it speaks of the same digest.
    pub reference: Option<String>,
    /// Whether something keeps the record up to date.
    pub maintained: bool,
    /// Whether the digest was ever rolled out, and how that is known.
    pub applied: Option<(bool, String)>,
    /// Whether roll-outs keep failing.
    pub flap_detected: bool,
}

/// What runs in the site's place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveEvidence {
    /// The live image of the same object, container and repository.
    pub image: Option<String>,
    /// Why there is none: not known, no such object, no such container, another repository.
    pub absent: Option<&'static str>,
    /// The managers that own the image. None where the deployer is not known.
    pub owners: Option<Vec<String>>,
    /// The managers that deployed the object.
    pub deployers: Vec<String>,
}
