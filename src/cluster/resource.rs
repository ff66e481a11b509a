//! What an object is called in a URL.

use kube::Resource as _;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::Value;

use super::rule::Rule;
use crate::manifest::ObjectKey;
use crate::policy::RevisionKind;

/// The kinds that a chart may run images in, with their URL names. These are fixed by the API, so
/// that asking for one needs no discovery and no second round trip.
const WELL_KNOWN: [(&str, &str, &str); 9] = [
    ("apps/v1", "Deployment", "deployments"),
    ("apps/v1", "StatefulSet", "statefulsets"),
    ("apps/v1", "DaemonSet", "daemonsets"),
    ("apps/v1", "ReplicaSet", "replicasets"),
    ("batch/v1", "Job", "jobs"),
    ("batch/v1", "CronJob", "cronjobs"),
    ("v1", "Pod", "pods"),
    ("v1", "ReplicationController", "replicationcontrollers"),
    ("v1", "PodTemplate", "podtemplates"),
];

/// How the API serves a kind.
#[derive(Clone, Debug)]
pub(super) struct Served {
    resource: ApiResource,
    namespaced: bool,
}

impl Served {
    /// How the API serves the kind of `key`, if that is fixed.
    pub(super) fn well_known(key: &ObjectKey) -> Option<Self> {
        let (_, _, plural) = WELL_KNOWN
            .iter()
            .find(|(api_version, kind, _)| *api_version == key.api_version && *kind == key.kind)?;
        Some(Self::new(key, plural, true))
    }

    /// How the API serves the kind of `key`, by the list that [`discovery_path`] gives. None where
    /// the list does not have it.
    pub(super) fn discovered(key: &ObjectKey, list: &Value) -> Option<Self> {
        let resources = list["resources"].as_array()?;
        let found = resources.iter().find(|resource| {
            let name = resource["name"].as_str().unwrap_or_default();
            // `rollouts/status` is a part of the kind, not the kind.
            resource["kind"].as_str() == Some(&key.kind) && !name.contains('/')
        })?;
        let namespaced = found["namespaced"].as_bool().unwrap_or(true);
        Some(Self::new(key, found["name"].as_str()?, namespaced))
    }

    /// How the API serves what holds past pod templates.
    pub(super) fn revisions(kind: RevisionKind) -> Self {
        let key = ObjectKey {
            api_version: "apps/v1".to_owned(),
            kind: kind.kind().to_owned(),
            ..ObjectKey::default()
        };
        Self::new(&key, revisions(kind), true)
    }

    fn new(key: &ObjectKey, plural: &str, namespaced: bool) -> Self {
        let (group, version) = split(&key.api_version);
        let kind = GroupVersionKind::gvk(group, version, &key.kind);
        Self {
            resource: ApiResource::from_gvk_with_plural(&kind, plural),
            namespaced,
        }
    }

    /// Whether its objects live in namespaces.
    pub(super) fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// The URL's path of an object. None for a name that no object can have: it comes from a
    /// manifest, and one with a slash or a query in it would ask for something else.
    pub(super) fn path(&self, name: &str, namespace: &str) -> Option<String> {
        let namespace = self.namespaced.then_some(namespace);
        if !is_name(name) || !namespace.is_none_or(is_name) {
            return None;
        }
        let collection = DynamicObject::url_path(&self.resource, namespace);
        Some(format!("{collection}/{name}"))
    }

    /// The URL's path of the collection of a namespace.
    pub(super) fn collection(&self, namespace: &str) -> Option<String> {
        is_name(namespace).then(|| DynamicObject::url_path(&self.resource, Some(namespace)))
    }

    /// What an answer that lists such objects says of itself.
    pub(super) fn is_list(&self, answer: &Value) -> bool {
        answer["apiVersion"] == *self.resource.api_version
            && answer["kind"]
                .as_str()
                .and_then(|kind| kind.strip_suffix("List"))
                == Some(&self.resource.kind)
    }

    /// How the API most likely serves the kind of `key`, for want of somebody to ask: by the plural that
    /// kubectl would guess.
    pub(super) fn guessed(key: &ObjectKey) -> Self {
        let (group, version) = split(&key.api_version);
        let kind = GroupVersionKind::gvk(group, version, &key.kind);
        Self {
            resource: ApiResource::from_gvk(&kind),
            namespaced: true,
        }
    }

    /// The API group, empty for the core group.
    pub(super) fn group(&self) -> &str {
        &self.resource.group
    }

    /// The resource, `deployments`.
    pub(super) fn plural(&self) -> &str {
        &self.resource.plural
    }

    /// The rule that reading an object needs.
    pub(super) fn rule(&self, name: &str, namespace: &str) -> Rule {
        Rule::Object {
            group: self.resource.group.clone(),
            resource: self.resource.plural.clone(),
            name: name.to_owned(),
            namespace: self.namespaced.then(|| namespace.to_owned()),
        }
    }
}

/// The resource that holds past pod templates.
fn revisions(kind: RevisionKind) -> &'static str {
    match kind {
        RevisionKind::ReplicaSet => "replicasets",
        RevisionKind::ControllerRevision => "controllerrevisions",
    }
}

/// Where the API lists the kinds of a group's version.
pub(super) fn discovery_path(api_version: &str) -> Option<String> {
    let (group, version) = split(api_version);
    if !is_name(version) || !(group.is_empty() || is_name(group)) {
        return None;
    }
    Some(if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    })
}

fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Whether the API could hold something of this name: the widest rule that it has
/// (`IsValidPathSegmentName` of apimachinery: neither `/` nor `%`, neither `.` nor `..`), less what
/// would end or break a URL's path. Every kind that runs Pods has a stricter one.
pub(super) fn is_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:@!$&'()*+,;=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key(api_version: &str, kind: &str) -> ObjectKey {
        ObjectKey {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            ..ObjectKey::default()
        }
    }

    #[test]
    fn well_known_kinds_have_their_paths() {
        for (api_version, kind, path) in [
            (
                "apps/v1",
                "Deployment",
                "/apis/apps/v1/namespaces/ns/deployments/x",
            ),
            (
                "batch/v1",
                "CronJob",
                "/apis/batch/v1/namespaces/ns/cronjobs/x",
            ),
            ("v1", "Pod", "/api/v1/namespaces/ns/pods/x"),
        ] {
            let served = Served::well_known(&key(api_version, kind)).unwrap();
            assert_eq!(served.path("x", "ns").as_deref(), Some(path));
        }
        assert!(Served::well_known(&key("apps/v1beta1", "Deployment")).is_none());
        assert!(Served::well_known(&key("argoproj.io/v1alpha1", "Rollout")).is_none());
    }

    #[test]
    fn other_kinds_are_discovered() {
        let list = json!({"resources": [
            {"name": "rollouts/status", "kind": "Rollout", "namespaced": true},
            {"name": "rollouts", "kind": "Rollout", "namespaced": true},
            {"name": "fleets", "kind": "Fleet", "namespaced": false},
        ]});
        let path = |kind| {
            let key = key("argoproj.io/v1alpha1", kind);
            Served::discovered(&key, &list)?.path("x", "ns")
        };
        assert_eq!(
            path("Rollout").as_deref(),
            Some("/apis/argoproj.io/v1alpha1/namespaces/ns/rollouts/x")
        );
        assert_eq!(
            path("Fleet").as_deref(),
            Some("/apis/argoproj.io/v1alpha1/fleets/x")
        );
        assert_eq!(path("Other"), None);
        assert_eq!(discovery_path("v1").as_deref(), Some("/api/v1"));
        assert_eq!(discovery_path("a.b/v1").as_deref(), Some("/apis/a.b/v1"));
    }

    #[test]
    fn a_name_cannot_lead_elsewhere() {
        let served = Served::well_known(&key("apps/v1", "Deployment")).unwrap();
        for name in [
            "", ".", "..", "a/b", "a?b", "a#b", "a%2fb", "a b", "ä", "a\nb",
        ] {
            assert_eq!(served.path(name, "ns"), None, "{name:?}");
            assert_eq!(served.path("x", name), None, "{name:?}");
        }
    }
}
