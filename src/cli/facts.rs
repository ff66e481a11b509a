//! Where answers come from: the cluster, record files, or nowhere.

use super::args::DecideArgs;
use super::record_file;
use crate::policy::{Facts, Profile, Questions, RecordHint, SavedObjects, Source};

/// The source of answers, ready to be asked.
pub(super) enum Answers {
    Cluster,
    File(SavedObjects),
    Nowhere,
}

impl Answers {
    /// Chooses by the options; record files are read now, so that a wrong one is told whatever the
    /// stream holds.
    pub(super) fn open(args: &DecideArgs) -> anyhow::Result<Self> {
        Ok(if !args.record.record.is_empty() {
            Self::File(record_file::load(&args.record.record)?)
        } else if args.record.no_cluster {
            Self::Nowhere
        } else {
            Self::Cluster
        })
    }

    pub(super) fn source(&self) -> Source {
        match self {
            Self::Cluster => Source::Cluster,
            Self::File(_) => Source::File,
            Self::Nowhere => Source::Nowhere,
        }
    }

    /// The record that names the release of sites which do not.
    pub(super) fn hint(&self, profile: &Profile) -> Option<RecordHint> {
        match self {
            Self::File(saved) => saved.hint(profile),
            Self::Cluster | Self::Nowhere => None,
        }
    }

    /// Asks.
    pub(super) fn answer(
        &self,
        questions: &Questions,
        profile: &Profile,
        args: &DecideArgs,
    ) -> anyhow::Result<Facts> {
        if questions.is_empty() {
            return Ok(Facts::default());
        }
        match self {
            Self::Nowhere => Ok(Facts::default()),
            Self::File(saved) => {
                Ok(saved.answer(questions, profile, args.cluster.namespace.as_deref())?)
            }
            Self::Cluster => anyhow::bail!("not yet"),
        }
    }
}
