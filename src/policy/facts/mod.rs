//! What was read from outside, in the shape that decisions need. Reading it is other layers' work.

mod live;
mod malformed;
mod owners;
mod saved;
mod selector;
mod text;

use std::collections::BTreeMap;

pub use live::{LiveContainer, LiveObject, Revision};
pub use malformed::Malformed;
pub use owners::Owners;
pub use saved::{Namespaces, SavedError, SavedObjects};
pub use text::SavedTextError;

use crate::manifest::ObjectKey;

/// What came of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer<T> {
    /// Not asked, or the source cannot say.
    #[default]
    Unknown,
    /// Asked, and there is none.
    NotFound,
    /// Asked and found.
    Found(T),
}

impl<T> Answer<T> {
    /// What was found.
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(found) => Some(found),
            Self::Unknown | Self::NotFound => None,
        }
    }
}

/// Answers by the key of the question. A key without a namespace stands for the release's namespace,
/// whichever that turned out to be.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Live objects: records, workloads, refreshers.
    pub objects: BTreeMap<ObjectKey, Answer<LiveObject>>,
    /// The past pod templates of workloads.
    pub histories: BTreeMap<ObjectKey, Answer<Vec<Revision>>>,
    /// The namespace that was used for documents without one, where there was such a question.
    pub namespace: Option<UsedNamespace>,
    /// What is worth knowing about how the answers came about.
    pub notes: Vec<String>,
    /// Set where the source failed and the user wants the rendered images then: why.
    pub failure: Option<String>,
}

/// The namespace that was taken for documents without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedNamespace {
    /// The namespace.
    pub name: String,
    /// Where it comes from: `--namespace`, `HELM_NAMESPACE`, the kubeconfig, the default.
    pub source: String,
    /// Whether nobody named it for this run, so that "not found" may mean "the wrong place".
    pub guessed: bool,
}

impl Facts {
    /// The answer about an object.
    #[must_use]
    pub fn object(&self, key: &ObjectKey) -> &Answer<LiveObject> {
        self.objects.get(key).unwrap_or(&Answer::Unknown)
    }

    /// The past pod templates of a workload.
    #[must_use]
    pub fn history(&self, key: &ObjectKey) -> &Answer<Vec<Revision>> {
        self.histories.get(key).unwrap_or(&Answer::Unknown)
    }
}
