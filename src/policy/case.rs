//! The rows that need answers (9-19), for one site.

use super::decision::{Decision, Evidence, Outcome, RecordedEvidence};
use super::facts::{Answer, Facts, LiveObject};
use super::live_image::LiveImage;
use super::reason::Reason;
use super::record::{Record, Recorded};
use super::refresher::{is_refresher, skips};
use super::release::label_of;
use super::survey::{OpenSite, Survey};

/// One site and all that is known about it.
pub(super) struct Case<'c> {
    pub(super) survey: &'c Survey<'c>,
    pub(super) open: &'c OpenSite<'c>,
    pub(super) facts: &'c Facts,
    record: Option<Record<'c>>,
    refresher: &'c Answer<LiveObject>,
    live: LiveImage,
}

impl<'c> Case<'c> {
    pub(super) fn new(survey: &'c Survey<'c>, open: &'c OpenSite<'c>, facts: &'c Facts) -> Self {
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
            live: LiveImage::find(open.site, open.document, &open.reference, facts),
        }
    }

    pub(super) fn decide(&self) -> Decision {
        let mut evidence = evidence(self.open);
        evidence.live = Some(self.live.evidence());
        let Some(record) = &self.record else {
            return Decision::new(self.open.index, Reason::FirstInstall, evidence); // row 9
        };
        let applied = self.applied(record);
        evidence.recorded = Some(RecordedEvidence {
            annotation: record.digest_key(),
            digest: record.digest_text().map(str::to_owned),
            reference: record.reference().map(|found| found.as_str().to_owned()),
            maintained: self.is_maintained(record),
            applied: matches!(record.recorded(), Recorded::Digest(_)).then(|| applied.clone()),
            flap_detected: record.flap_detected(),
        });
        let (reason, text) = self.row(record, applied.0);
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

    /// Whether the decision is another one for a digest that was applied than for one that was only
    /// observed, and the record does not say which it is.
    pub(super) fn hangs_on_history(&self) -> bool {
        let Some(record) = &self.record else {
            return false;
        };
        record.applied().is_none() && self.row(record, true) != self.row(record, false)
    }

    /// Rows 10-19: the reason and the reference to write. `applied` says whether the recorded digest
    /// was ever rolled out.
    fn row(&self, record: &Record<'_>, applied: bool) -> (Reason, Option<String>) {
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
                && applied
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
        if !applied {
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
                // One that was told a mirror has been inert until now.
                let registry = refresher.variable(&self.survey.profile.refresher.registry);
                let watches = |host| self.survey.profile.is_watched_registry(host);
                !refresher.suspended
                    && registry.filter(|host| !host.is_empty()).is_none_or(watches)
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
    let is_of_release = |object: &LiveObject| {
        let label = label_of(&object.labels);
        object.key.kind == "CronJob"
            && is_refresher(survey.profile, &object.labels)
            && label.is_none_or(|of| open.release.as_deref().is_none_or(|name| name == of))
    };
    facts
        .objects
        .values()
        .find(|answer| answer.found().is_some_and(is_of_release))
        .unwrap_or(&Answer::Unknown)
}

/// What is known of an open site before anything was asked.
pub(super) fn evidence(open: &OpenSite<'_>) -> Evidence {
    Evidence {
        release: open.release.clone(),
        image: Some(open.image.clone()),
        record: Some(open.record.clone()),
        ..Evidence::default()
    }
}
