//! Images without a record (`liveImages`): what others than the deployer set is kept as it runs, and
//! nothing else is touched.

use super::decision::{Decision, Evidence, Outcome};
use super::facts::Facts;
use super::live_image::LiveImage;
use super::reason::Reason;
use crate::image::{Pin, Reference};
use crate::manifest::{Document, Site};

/// A site whose live image is to be asked for.
#[derive(Clone, Debug)]
pub(super) struct LiveSite<'s> {
    pub(super) index: usize,
    pub(super) site: &'s Site,
    pub(super) document: &'s Document,
    pub(super) reference: Reference,
    pub(super) release: Option<String>,
}

impl LiveSite<'_> {
    pub(super) fn decide(&self, facts: &Facts) -> Decision {
        let live = LiveImage::find(self.site, self.document, &self.reference, facts);
        let evidence = Evidence {
            live: Some(live.evidence()),
            ..self.evidence()
        };
        let mut decision = Decision::new(self.index, Reason::NothingToKeep, evidence);
        let Some(text) = live.text() else {
            return decision;
        };
        let is_rendered = text == self.reference.as_str();
        let is_broken =
            Reference::parse(&text).is_none_or(|live| matches!(live.pin(), Pin::Malformed(_)));
        match live.others_own {
            _ if is_rendered => {}
            Some(false) => {}
            None => decision.warnings.push(format!(
                "`{text}` runs, and it is not known who set it (no managedFields), so it is not kept"
            )),
            Some(true) if is_broken => decision.warnings.push(format!(
                "`{text}` runs, which names a digest that no kubelet could start, so it is not kept"
            )),
            Some(true) => {
                decision.reason = Reason::KeptLive;
                decision.outcome = Outcome::Pinned(text);
            }
        }
        decision
    }

    /// What is known before anything was asked.
    pub(super) fn evidence(&self) -> Evidence {
        Evidence {
            release: self.release.clone(),
            ..Evidence::default()
        }
    }
}
