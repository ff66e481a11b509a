//! What the record Deployment says of one image.

use super::facts::LiveObject;
use super::profile::{RecordProfile, for_image};
use crate::image::{Digest, Reference};

/// The digest annotation of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// No annotation, or an empty one.
    Nothing,
    /// A text that is no digest.
    Invalid(String),
    /// A digest.
    Digest(Digest),
}

/// The record of one image: the Deployment's annotations under the profile's names.
pub(super) struct Record<'f> {
    object: &'f LiveObject,
    names: &'f RecordProfile,
    image: &'f str,
}

impl<'f> Record<'f> {
    pub(super) fn new(object: &'f LiveObject, names: &'f RecordProfile, image: &'f str) -> Self {
        Self {
            object,
            names,
            image,
        }
    }

    /// The key of the digest annotation.
    pub(super) fn digest_key(&self) -> String {
        for_image(&self.names.digest, self.image)
    }

    /// The digest annotation's text.
    pub(super) fn digest_text(&self) -> Option<&'f str> {
        self.annotation(&self.names.digest)
    }

    /// The recorded digest.
    pub(super) fn recorded(&self) -> Recorded {
        match self.digest_text() {
            None | Some("") => Recorded::Nothing,
            Some(text) => match Digest::parse(text) {
                Ok(digest) => Recorded::Digest(digest),
                Err(invalid) => Recorded::Invalid(invalid.text),
            },
        }
    }

    /// The reference that the digest was resolved from; ignored where it ends in another digest,
    /// which a refresher that writes only digests leaves behind.
    pub(super) fn reference(&self) -> Option<Reference> {
        let reference = Reference::parse(self.annotation(&self.names.reference)?)?;
        match self.recorded() {
            Recorded::Digest(digest) if reference.digest() == Some(digest.clone()) => {
                Some(reference)
            }
            _ => None,
        }
    }

    /// Whether the state annotation says that the digest was rolled out; None where it is missing or
    /// speaks of another digest.
    pub(super) fn applied(&self) -> Option<bool> {
        let (state, of) = self.annotation(&self.names.state)?.split_once('@')?;
        let Recorded::Digest(digest) = self.recorded() else {
            return None;
        };
        match state {
            _ if of != digest.as_str() => None,
            "applied" => Some(true),
            "observed" => Some(false),
            _ => None,
        }
    }

    /// Whether a roll-out was given up on. The marker counts by its presence.
    pub(super) fn flap_detected(&self) -> bool {
        self.annotation(&self.names.flap_detected).is_some()
    }

    /// Whether the refresher has been skipping ticks. A count that cannot be read is not zero.
    pub(super) fn is_skipping(&self) -> bool {
        let streak = self.annotation(&self.names.skip_streak);
        streak.is_some_and(|count| count.parse::<u64>() != Ok(0))
    }

    /// Whether the Deployment's revision speaks for a roll-out: every one but the first.
    pub(super) fn was_rolled_out(&self) -> bool {
        let revision = self
            .object
            .annotations
            .get("deployment.kubernetes.io/revision");
        revision.is_none_or(|revision| revision != "1")
    }

    fn annotation(&self, pattern: &str) -> Option<&'f str> {
        let key = for_image(pattern, self.image);
        self.object.annotations.get(&key).map(String::as_str)
    }
}
