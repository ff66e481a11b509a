//! Whether a recorded digest was ever rolled out: what belay's refresher says of it, else what the
//! workload's own history says, else how often the record Deployment was rolled out.

use super::case::Case;
use super::facts::{LiveContainer, Revision};
use super::record::{Record, Recorded};
use crate::image::{Pin, Reference};

impl Case<'_> {
    /// Whether the recorded digest was ever rolled out, and how that is known.
    pub(super) fn applied(&self, record: &Record<'_>) -> (bool, String) {
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
                Some(tag) => vec![Some(tag)],
                None => self.tags_in_record_history(digest),
            };
            if tags
                .iter()
                .any(|tag| tag.is_some() && *tag == self.open.reference.tag())
            {
                return Some(true);
            }
            unknown |= tags.contains(&None);
        }
        if unknown { None } else { Some(false) }
    }

    fn is_at(&self, past: &LiveContainer, digest: &str) -> bool {
        Reference::parse(&past.image).is_some_and(|reference| {
            reference.repository() == self.open.reference.repository()
                && matches!(reference.pin(), Pin::Digest(text) if text == digest)
        })
    }

    fn is_of_image(&self, past: &LiveContainer) -> bool {
        Reference::parse(&past.image)
            .is_some_and(|reference| reference.repository() == self.open.reference.repository())
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
    /// the variable (requests-proxy) follows it. None among them where that cannot be told: its history
    /// is not known or never ran this image, or a template that ran the digest says no tag.
    fn tags_in_record_history(&self, digest: &str) -> Vec<Option<&str>> {
        let revisions = self.facts.history(&self.open.record).found();
        let revisions = || revisions.into_iter().flatten();
        let ran_image = revisions()
            .flat_map(|revision| &revision.containers)
            .any(|past| self.is_of_image(past));
        if !ran_image {
            return vec![None];
        }
        revisions()
            .filter(|revision| {
                let containers = &revision.containers;
                containers.iter().any(|past| self.is_at(past, digest))
            })
            .map(|revision| self.tag_of(revision))
            .collect()
    }
}
