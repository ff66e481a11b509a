//! What an object is called.

use std::fmt;

/// An object's name in full. Two documents of a stream may carry the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// `apps/v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// None where the document leaves it to whoever applies it.
    pub namespace: Option<String>,
    /// `demo-jobs-manager`.
    pub name: String,
}

impl ObjectKey {
    /// The API group, empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version
            .rsplit_once('/')
            .map_or("", |(group, _)| group)
    }

    /// Whether both name the same kind of object; API versions of one group are the same kind.
    #[must_use]
    pub fn same_kind(&self, other: &Self) -> bool {
        self.kind == other.kind && self.group() == other.group()
    }
}

impl fmt::Display for ObjectKey {
    /// `Deployment prod/demo-jobs-manager`, as messages name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}
