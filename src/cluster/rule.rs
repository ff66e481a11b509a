//! A rule that is missing, as a message names it.

use std::fmt;

use super::resource::Served;
use crate::policy::RevisionKind;

/// A rule that is missing, in the form in which it stands in a Role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// To read one object.
    Object {
        /// The API group, empty for the core group.
        group: String,
        /// The resource, `deployments`.
        resource: String,
        /// The object's name.
        name: String,
        /// Its namespace; None for an object that has none, which needs a ClusterRole.
        namespace: Option<String>,
    },
    /// To find the past pod templates of workloads. A list knows no names.
    List {
        /// The API group.
        group: String,
        /// The resource, `replicasets`.
        resource: String,
        /// The namespace.
        namespace: String,
    },
    /// To read what kinds a group has, which every authenticated user may by default.
    Discovery {
        /// The URL's path.
        path: String,
    },
}

impl Rule {
    /// The rule that asking for past pod templates in a namespace needs.
    pub(super) fn revisions_in(kind: RevisionKind, namespace: &str) -> Self {
        Self::List {
            group: "apps".to_owned(),
            resource: Served::revisions(kind).plural().to_owned(),
            namespace: namespace.to_owned(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object {
                group,
                resource,
                name,
                namespace,
            } => {
                write!(
                    f,
                    "{{apiGroups: [\"{group}\"], resources: [\"{resource}\"], resourceNames: [\"{name}\"], verbs: [\"get\"]}}"
                )?;
                match namespace {
                    Some(namespace) => write!(f, " in namespace `{namespace}`"),
                    None => write!(f, " in a ClusterRole"),
                }
            }
            Self::List {
                group,
                resource,
                namespace,
            } => write!(
                f,
                "{{apiGroups: [\"{group}\"], resources: [\"{resource}\"], verbs: [\"list\"]}} in namespace `{namespace}`"
            ),
            Self::Discovery { path } => write!(
                f,
                "{{nonResourceURLs: [\"{path}\"], verbs: [\"get\"]}} in a ClusterRole"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::ObjectKey;

    #[test]
    fn a_rule_reads_as_it_stands_in_a_role() {
        let key = ObjectKey {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            ..ObjectKey::default()
        };
        let served = Served::well_known(&key).unwrap();
        assert_eq!(
            served.rule("demo-jobs-manager", "prod").to_string(),
            "{apiGroups: [\"apps\"], resources: [\"deployments\"], \
             resourceNames: [\"demo-jobs-manager\"], verbs: [\"get\"]} in namespace `prod`"
        );
        assert_eq!(
            Rule::revisions_in(RevisionKind::ReplicaSet, "prod").to_string(),
            "{apiGroups: [\"apps\"], resources: [\"replicasets\"], verbs: [\"list\"]} \
             in namespace `prod`"
        );
    }
}
