//! Why a site was decided as it was: one code per row of the decision table.

use std::fmt;

/// What a reason does to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The rendered text stays.
    Left,
    /// The recorded digest is written.
    Recorded,
    /// What runs is written.
    Live,
    /// The run stops.
    Refused,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::Recorded => "recorded digest",
            Self::Live => "live reference",
            Self::Refused => "error",
        })
    }
}

/// The reason for a decision. Codes and order are stable: the order is that in which rows are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The repository is none of the profile's.
    NotManaged,
    /// The operator wrote a digest.
    OperatorPin,
    /// The operator wrote a digest that no runtime accepts.
    DigestMalformed,
    /// The document is a Helm hook.
    Hook,
    /// The image comes from another registry than the refresher watches.
    Mirror,
    /// Nothing refreshes this image.
    RefreshAbsent,
    /// The refresher is suspended.
    RefreshSuspended,
    /// The record is about another tag than the rendered one.
    TagChanged,
    /// Neither cluster nor record file was to be asked.
    Offline,
    /// It cannot be told which record is this site's.
    RecordUnnamed,
    /// The cluster could not be asked, and `--on-lookup-error=leave` was given.
    LookupFailed,
    /// There is no record Deployment yet.
    FirstInstall,
    /// The recorded digest.
    Pinned,
    /// The recorded digest, over one whose roll-out keeps failing.
    PinnedOverFlap,
    /// What somebody set after Helm.
    PinnedLive,
    /// Nobody keeps the record up to date.
    RecordUnmaintained,
    /// Nothing is recorded for this image.
    NoRecord,
    /// What is recorded is no digest.
    RecordInvalid,
    /// The digest was seen in the registry but never rolled out.
    ObservedOnly,
    /// The recorded digest, over one that Helm itself put back.
    PinnedOverRollback,
    /// What others than the deployer set, of an image without a record.
    KeptLive,
    /// Nobody but the deployer has set an image without a record.
    NothingToKeep,
    /// The image must be rewritten, but its bytes cannot be without changing something else.
    NotEditable,
}

/// What is known of a reason before any site is looked at.
struct Row {
    code: &'static str,
    effect: Effect,
    warned: bool,
    text: &'static str,
}

impl Reason {
    /// All reasons in the order of the decision table.
    pub const ALL: [Self; 23] = [
        Self::NotManaged,
        Self::OperatorPin,
        Self::DigestMalformed,
        Self::Hook,
        Self::Mirror,
        Self::RefreshAbsent,
        Self::RefreshSuspended,
        Self::TagChanged,
        Self::Offline,
        Self::RecordUnnamed,
        Self::LookupFailed,
        Self::FirstInstall,
        Self::Pinned,
        Self::PinnedOverFlap,
        Self::PinnedLive,
        Self::RecordUnmaintained,
        Self::NoRecord,
        Self::RecordInvalid,
        Self::ObservedOnly,
        Self::PinnedOverRollback,
        Self::KeptLive,
        Self::NothingToKeep,
        Self::NotEditable,
    ];

    /// The stable code, as reports and `explain` print it.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// What this reason does to a site.
    #[must_use]
    pub fn effect(self) -> Effect {
        self.row().effect
    }

    /// Whether the outcome always deserves a warning, and so is refused under `--strict`.
    #[must_use]
    pub fn is_warned(self) -> bool {
        self.row().warned
    }

    /// The reason in a sentence.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.row().text
    }

    fn row(self) -> Row {
        let row = |code, effect, warned, text| Row {
            code,
            effect,
            warned,
            text,
        };
        let (quiet, warned) = (false, true);
        match self {
            Self::NotManaged => row(
                "not-managed",
                Effect::Left,
                quiet,
                "the repository is none of the profile's",
            ),
            Self::OperatorPin => row(
                "operator-pin",
                Effect::Left,
                quiet,
                "the manifest already names a digest: the operator's own pin",
            ),
            Self::DigestMalformed => row(
                "digest-malformed",
                Effect::Refused,
                warned,
                "the manifest names a digest that no kubelet could start",
            ),
            Self::Hook => row("hook", Effect::Left, quiet, "the document is a Helm hook"),
            Self::Mirror => row(
                "mirror",
                Effect::Left,
                quiet,
                "the image comes from another registry than the refresher watches",
            ),
            Self::RefreshAbsent => row(
                "refresh-absent",
                Effect::Left,
                quiet,
                "the stream has no refresher for this release, or it skips this image",
            ),
            Self::RefreshSuspended => row(
                "refresh-suspended",
                Effect::Left,
                quiet,
                "the refresher is suspended",
            ),
            Self::TagChanged => row(
                "tag-changed",
                Effect::Left,
                warned,
                "refresher or record speak of another tag than the rendered one",
            ),
            Self::Offline => row(
                "offline",
                Effect::Left,
                quiet,
                "--no-cluster without --record: nothing was asked",
            ),
            Self::RecordUnnamed => row(
                "record-unnamed",
                Effect::Left,
                warned,
                "it cannot be told which release's record is meant",
            ),
            Self::LookupFailed => row(
                "lookup-failed",
                Effect::Left,
                warned,
                "the cluster could not be asked, and --on-lookup-error=leave was given",
            ),
            Self::FirstInstall => row(
                "first-install",
                Effect::Left,
                quiet,
                "the record Deployment does not exist yet",
            ),
            Self::Pinned => row(
                "pinned",
                Effect::Recorded,
                quiet,
                "the refresher's recorded digest",
            ),
            Self::PinnedOverFlap => row(
                "pinned-over-flap",
                Effect::Recorded,
                warned,
                "the recorded digest, since the roll-out of the one that runs keeps failing",
            ),
            Self::PinnedLive => row(
                "pinned-live",
                Effect::Live,
                quiet,
                "the digest that runs: the record is behind it, or says nothing usable",
            ),
            Self::RecordUnmaintained => row(
                "record-unmaintained",
                Effect::Left,
                warned,
                "nothing keeps the record up to date, so it may be months old",
            ),
            Self::NoRecord => row(
                "no-record",
                Effect::Left,
                quiet,
                "nothing is recorded for this image and no digest runs",
            ),
            Self::RecordInvalid => row(
                "record-invalid",
                Effect::Left,
                warned,
                "the recorded text is no digest and none runs",
            ),
            Self::ObservedOnly => row(
                "observed-only",
                Effect::Left,
                quiet,
                "the recorded digest was only observed, never rolled out: the same content runs by its tag",
            ),
            Self::PinnedOverRollback => row(
                "pinned-over-rollback",
                Effect::Recorded,
                quiet,
                "the recorded digest, over an older one that a rollback put back",
            ),
            Self::KeptLive => row(
                "kept-live",
                Effect::Live,
                quiet,
                "what somebody other than Helm set, of an image that --image names",
            ),
            Self::NothingToKeep => row(
                "nothing-to-keep",
                Effect::Left,
                quiet,
                "nobody but Helm has set the image that --image names, or it does not run yet",
            ),
            Self::NotEditable => row(
                "not-editable",
                Effect::Refused,
                warned,
                "the image cannot be rewritten without changing something else",
            ),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_is_listed_once_under_its_own_code() {
        let codes: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
        // `ALL` is in declaration order, so a variant that it lacks shows as a gap.
        for (index, reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, index);
        }
    }
}
