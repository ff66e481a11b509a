//! What holds after every upgrade with belay (design.md section 5).

use belay::policy::{Decision, Reason};

use super::chart::{Place, Values, Workload};
use super::cluster::{HELM, digest_of};
use super::facts;
use super::refresher::{annotation, key};
use super::world::{Upgrade, World};

/// Everything that is known about one site at an upgrade.
struct Site<'w> {
    place: Place,
    decision: &'w Decision,
    upgrade: &'w Upgrade,
    before: &'w World,
    after: &'w World,
}

/// What is broken at `upgrade`, which led from `before` to `after`.
pub(crate) fn broken(before: &World, upgrade: &Upgrade, after: &World) -> Option<String> {
    let sites = upgrade.decisions.iter().map(|(place, decision)| Site {
        place: *place,
        decision,
        upgrade,
        before,
        after,
    });
    for site in sites {
        for (name, holds) in site.promises() {
            if !holds {
                let running = |world: &World| world.cluster.running(site.place).cloned();
                return Some(format!(
                    "{name}: {:?} {} ({:?}) from {:?} to {:?}, result {:?}",
                    site.place.container,
                    site.decision.reason.code(),
                    site.decision.outcome,
                    running(before),
                    running(after),
                    upgrade.result,
                ));
            }
        }
    }
    (!again_changes_nothing(before, upgrade, after))
        .then(|| format!("a second upgrade changes nothing: {upgrade:?}"))
}

/// An upgrade that changed no values leaves nothing to do for the next one.
fn again_changes_nothing(before: &World, upgrade: &Upgrade, after: &World) -> bool {
    let is_same = before.cluster.refresher == after.cluster.refresher;
    if upgrade.result.is_err() || !is_same {
        return true;
    }
    let decided = facts::decide(&after.cluster, &upgrade.values).into_iter();
    let again = decided.map(|(place, decision)| {
        let pinned = decision.rewritten().map(str::to_owned);
        (place, pinned.unwrap_or_else(|| upgrade.values.image(place)))
    });
    again.into_iter().all(|(place, image)| {
        let running = after.cluster.running(place);
        running.is_some_and(|running| running.image == image)
    })
}

impl Site<'_> {
    fn promises(&self) -> [(&'static str, bool); 6] {
        [
            ("what somebody set stays", self.what_somebody_set_stays()),
            (
                "only digests of this tag are pinned",
                self.only_digests_of_this_tag(),
            ),
            ("nothing goes backwards", self.nothing_goes_backwards()),
            ("a dropped pin comes back", self.a_dropped_pin_comes_back()),
            (
                "what is pinned never conflicts",
                self.what_is_pinned_never_conflicts(),
            ),
            (
                "what was only observed never rolls",
                self.only_what_ran_is_rolled_out(),
            ),
        ]
    }

    fn live(&self) -> Option<&str> {
        let running = self.before.cluster.running(self.place)?;
        digest_of(&running.image)
    }

    fn pinned(&self) -> Option<&str> {
        digest_of(self.decision.rewritten()?)
    }

    fn others_own(&self) -> bool {
        let running = self.before.cluster.running(self.place);
        running.is_some_and(|running| running.owners.iter().any(|owner| *owner != HELM))
    }

    /// When the rendered tag named `digest` first and last.
    fn named(&self, digest: &str) -> Option<(usize, usize)> {
        let tag = self.upgrade.values.tag;
        self.before.registry.named(self.place.image, tag, digest)
    }

    /// A digest that another than Helm set stays, unless the operator has decided otherwise in the
    /// values, or the roll-out of it keeps failing.
    fn what_somebody_set_stays(&self) -> bool {
        use Reason::{
            Mirror, OperatorPin, PinnedOverFlap, RefreshAbsent, RefreshSuspended, TagChanged,
        };
        let exempt = [
            Mirror,
            OperatorPin,
            PinnedOverFlap,
            RefreshAbsent,
            RefreshSuspended,
            TagChanged,
        ];
        if self.live().is_none() || !self.others_own() || exempt.contains(&self.decision.reason) {
            return true;
        }
        let image = |world: &World| {
            let running = world.cluster.running(self.place);
            running.map(|running| running.image.clone())
        };
        image(self.before) == image(self.after)
    }

    /// A digest that the rendered tag never named is put nowhere. It may be kept where it runs, but not by
    /// the upgrade that switches the tag. And a record that does not say its tag is only as good as the
    /// history of the workload: where a digest ran in a template rendered for another tag than its own,
    /// that says the wrong one. (An operator's pin that outlived a switch of the tag does it, or a switch
    /// that was applied to half of the release while the refresher went on with the old tag. The next
    /// tick puts it right.)
    fn only_digests_of_this_tag(&self) -> bool {
        let tag = self.upgrade.values.tag;
        let refresher = self.before.cluster.refresher.as_ref();
        let switches = refresher.is_some_and(|refresher| refresher.values.tag != tag);
        let reference = self.annotation(&key(self.place.image, "ref"));
        self.pinned().is_none_or(|digest| {
            let says_its_tag = reference.is_some_and(|text| text.ends_with(digest));
            let mut misleading = self.before.misleading.iter();
            self.live() == Some(digest) && !switches
                || self.named(digest).is_some()
                || !says_its_tag
                    && misleading.any(|(place, ran, of)| {
                        place.image == self.place.image && ran == digest && *of == tag
                    })
        })
    }

    /// No pin is older than what runs, but a proven one: over one that crashes, or over one that Helm
    /// alone put there and the refresher never recorded. (A tick sets it and dies, belay keeps it in the
    /// release, and a rollback away and one back bring it again when nobody knows any more who set it.)
    fn nothing_goes_backwards(&self) -> bool {
        let (Some(live), Some(pinned)) = (self.live(), self.pinned()) else {
            return true;
        };
        let recorded = (self.place.image, live.to_owned());
        match self.decision.reason {
            Reason::PinnedOverFlap => self.has_run(pinned),
            Reason::PinnedOverRollback if !self.before.recorded.contains(&recorded) => {
                self.has_run(pinned)
            }
            _ => {
                let first = self.named(live).map(|(first, _)| first);
                first <= self.named(pinned).map(|(_, last)| last)
            }
        }
    }

    /// Whether the image ran `digest` for the rendered tag, in some place of it.
    fn has_run(&self, digest: &str) -> bool {
        let tag = self.upgrade.values.tag;
        self.before
            .ran
            .iter()
            .any(|(place, ran, of)| place.image == self.place.image && ran == digest && *of == tag)
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        let record = self.before.cluster.objects.get(&Workload::JobsManager)?;
        record
            .annotations
            .get(&annotation(name))
            .map(String::as_str)
    }

    /// Where Helm put the tag back over a digest that ran, and a live refresher keeps the record, the
    /// recorded digest is pinned.
    fn a_dropped_pin_comes_back(&self) -> bool {
        let values = &self.upgrade.values;
        let Some(recorded) = self.annotation(&key(self.place.image, "digest")) else {
            return true;
        };
        let of_another_tag = self
            .annotation(&key(self.place.image, "ref"))
            .is_some_and(|text| {
                text.ends_with(recorded) && !text.contains(&format!(":{}@", values.tag.name()))
            });
        let only_observed = self.annotation(&key(self.place.image, "state"))
            == Some(&format!("observed@{recorded}"));
        let object = &self.before.cluster.objects[&self.place.workload];
        let is_on = |on: &Values| {
            on.enabled
                && !on.suspended
                && !on.mirror
                && on.tag == values.tag
                && on.pin(self.place.pinnable()).is_none()
        };
        let ran_here = object.history.iter().any(|past| {
            digest_of(&past.images[&self.place]) == Some(recorded)
                && past.tag.is_none_or(|tag| tag == values.tag)
        });
        let is_due = self.live().is_none()
            && is_on(values)
            && self
                .before
                .cluster
                .refresher
                .as_ref()
                .is_some_and(|live| is_on(&live.values))
            && self.annotation("refresh-skip-streak").is_none()
            && !of_another_tag
            && !only_observed
            && ran_here
            && self
                .before
                .refreshed
                .contains(&(self.place, recorded.to_owned(), values.tag));
        !is_due || self.pinned() == Some(recorded)
    }

    fn what_is_pinned_never_conflicts(&self) -> bool {
        let conflicts = match &self.upgrade.result {
            Ok(()) => false,
            Err(conflict) => conflict.places.contains(&self.place),
        };
        !conflicts || self.pinned().is_none() || self.decision.reason == Reason::PinnedOverFlap
    }

    /// A digest that the refresher has only seen, while the same content runs by its tag, replaces no Pod.
    fn only_what_ran_is_rolled_out(&self) -> bool {
        self.pinned()
            .is_none_or(|digest| self.live() == Some(digest) || self.has_run(digest))
    }
}
