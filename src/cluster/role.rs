//! The Roles that a render needs: what it may ask, and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde_json::{Value, json};

use super::error::LookupError;
use super::lookup::check_names;
use super::namespace::is_namespace;
use super::resource::{Served, discovery_path, is_name};
use crate::manifest::ObjectKey;
use crate::policy::{Questions, RevisionKind};

/// A group and a resource.
type Resource = (String, String);

/// What a render may ask in one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// The objects that are read by name. A GET is the one verb that a rule can bind to names.
    reads: BTreeMap<Resource, BTreeSet<String>>,
    /// The histories. A LIST has no name that a rule could hold it to (the API's documentation of
    /// `resourceNames`).
    lists: BTreeSet<Resource>,
}

/// The Roles of a render.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// By namespace; None is that of the manifests which name none.
    pub roles: BTreeMap<Option<String>, Role>,
    /// The kinds whose resource only the cluster knows, each with the one that was taken.
    pub guessed: BTreeMap<String, String>,
}

/// Who renders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAccount {
    namespace: String,
    name: String,
}

/// Works out the Roles for `questions` and for the histories that may have to be asked for after them.
/// `namespace` is that of manifests without one.
///
/// How a kind is called in a rule that is not known beforehand is asked in a render by a discovery, which
/// every authenticated user may (`system:discovery`); here it is guessed.
///
/// # Errors
/// When the manifests name an object that cannot exist.
pub fn roles<'h>(
    questions: &Questions,
    histories: impl IntoIterator<Item = (Option<&'h str>, RevisionKind)>,
    namespace: Option<&str>,
) -> Result<Roles, LookupError> {
    let objects = questions.objects();
    check_names(objects.iter().copied())?;
    let mut roles = Roles::default();
    for key in objects {
        // Of a version that cannot be, there is nothing to read, and a render does not ask.
        if discovery_path(&key.api_version).is_none() {
            continue;
        }
        let served = Served::well_known(key).unwrap_or_else(|| roles.guess(key));
        let role = roles.of(key.namespace.as_deref().or(namespace));
        let names = role.reads.entry(resource(&served)).or_default();
        names.insert(key.name.clone());
    }
    for (own, kind) in histories {
        let role = roles.of(own.or(namespace));
        role.lists.insert(resource(&Served::revisions(kind)));
    }
    Ok(roles)
}

fn resource(served: &Served) -> Resource {
    (served.group().to_owned(), served.plural().to_owned())
}

impl Roles {
    fn of(&mut self, namespace: Option<&str>) -> &mut Role {
        self.roles.entry(namespace.map(str::to_owned)).or_default()
    }

    fn guess(&mut self, key: &ObjectKey) -> Served {
        let served = Served::guessed(key);
        let kind = format!("{} {}", key.api_version, key.kind);
        self.guessed.insert(kind, served.plural().to_owned());
        served
    }

    /// The objects to create: for each namespace a Role, called after the release if that is only one,
    /// and for `account` its RoleBinding.
    #[must_use]
    pub fn manifests(&self, release: Option<&str>, account: Option<&ServiceAccount>) -> Vec<Value> {
        let name = match release.filter(|release| is_name(release)) {
            Some(release) => format!("{release}-belay"),
            None => "belay".to_owned(),
        };
        let mut manifests = Vec::new();
        for (namespace, role) in &self.roles {
            let metadata = match namespace {
                Some(namespace) => json!({"name": name, "namespace": namespace}),
                None => json!({"name": name}),
            };
            manifests.push(json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": metadata,
                "rules": role.rules(),
            }));
            if let Some(account) = account {
                manifests.push(json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1",
                    "kind": "RoleBinding",
                    "metadata": metadata,
                    "roleRef": {
                        "apiGroup": "rbac.authorization.k8s.io",
                        "kind": "Role",
                        "name": name,
                    },
                    "subjects": [{
                        "kind": "ServiceAccount",
                        "name": account.name,
                        "namespace": account.namespace,
                    }],
                }));
            }
        }
        manifests
    }
}

impl Role {
    fn rules(&self) -> Vec<Value> {
        let reads = self.reads.iter().map(|((group, resource), names)| {
            json!({"apiGroups": [group], "resources": [resource], "resourceNames": names, "verbs": ["get"]})
        });
        let lists = self.lists.iter().map(|(group, resource)| {
            json!({"apiGroups": [group], "resources": [resource], "verbs": ["list"]})
        });
        reads.chain(lists).collect()
    }
}

impl FromStr for ServiceAccount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((namespace, name)) if is_namespace(namespace) && is_name(name) => Ok(Self {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err("it is no NAMESPACE/NAME of a ServiceAccount".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
        ObjectKey {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }
    }

    fn questions() -> Questions {
        let deployment = |name| key("apps/v1", "Deployment", Some("prod"), name);
        Questions {
            records: [deployment("a")].into(),
            workloads: [
                deployment("a"),
                deployment("b"),
                key("apps/v1", "DaemonSet", None, "agent"),
            ]
            .into(),
            refreshers: [key("batch/v1", "CronJob", Some("prod"), "tick")].into(),
            ..Questions::default()
        }
    }

    #[test]
    fn each_namespace_has_a_role_with_the_names_that_are_read() {
        let histories = [
            (Some("prod"), RevisionKind::ReplicaSet),
            (None, RevisionKind::ControllerRevision),
        ];
        let roles = roles(&questions(), histories, None).unwrap();
        let role = |namespace: Option<&str>, rules: Value| {
            let mut metadata = json!({"name": "demo-belay"});
            if let Some(namespace) = namespace {
                metadata["namespace"] = namespace.into();
            }
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
                "metadata": metadata, "rules": rules})
        };
        let expected = [
            role(
                None,
                json!([
                    {"apiGroups": ["apps"], "resources": ["daemonsets"], "resourceNames": ["agent"], "verbs": ["get"]},
                    {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["list"]},
                ]),
            ),
            role(
                Some("prod"),
                json!([
                    {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["a", "b"], "verbs": ["get"]},
                    {"apiGroups": ["batch"], "resources": ["cronjobs"], "resourceNames": ["tick"], "verbs": ["get"]},
                    {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": ["list"]},
                ]),
            ),
        ];
        assert_eq!(roles.manifests(Some("demo"), None), expected);
        assert!(roles.guessed.is_empty());
    }

    #[test]
    fn a_namespace_that_is_given_is_that_of_manifests_without_one() {
        let histories = [(None, RevisionKind::ControllerRevision)];
        let roles = roles(&questions(), histories, Some("prod")).unwrap();
        assert_eq!(roles.roles.len(), 1);
        assert_eq!(roles.roles[&Some("prod".to_owned())].rules().len(), 4);
    }

    #[test]
    fn an_account_is_bound_in_every_namespace() {
        let roles = roles(&questions(), [], None).unwrap();
        let account = "ci/deployer".parse().unwrap();
        let manifests = roles.manifests(None, Some(&account));
        let bindings: Vec<_> = manifests
            .iter()
            .filter(|manifest| manifest["kind"] == "RoleBinding")
            .collect();
        assert_eq!((manifests.len(), bindings.len()), (4, 2));
        for binding in bindings {
            assert_eq!(binding["roleRef"]["name"], "belay");
            let subject = json!({"kind": "ServiceAccount", "name": "deployer", "namespace": "ci"});
            assert_eq!(binding["subjects"], json!([subject]));
        }
    }

    #[test]
    fn the_resource_of_another_kind_is_a_guess() {
        let rollout = key("argoproj.io/v1alpha1", "Rollout", Some("prod"), "a");
        let questions = Questions {
            workloads: [rollout, key("a/b/c", "Nothing", None, "x")].into(),
            ..Questions::default()
        };
        let roles = roles(&questions, [], None).unwrap();
        assert_eq!(roles.guessed["argoproj.io/v1alpha1 Rollout"], "rollouts");
        assert_eq!(roles.roles.len(), 1);
    }

    #[test]
    fn a_name_that_no_object_can_have_is_refused() {
        let mut questions = questions();
        questions
            .workloads
            .insert(key("apps/v1", "Deployment", None, "a/b"));
        assert!(roles(&questions, [], None).is_err());
        for account in ["deployer", "ci/", "/deployer", "Ci/deployer", "ci/a/b"] {
            assert!(account.parse::<ServiceAccount>().is_err(), "{account}");
        }
    }
}
