//! A live object as the API server answers it, reduced to what decisions need.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Owners, selector};
use crate::manifest::{Container, ContainerList, ObjectKey, Step, pod_spec_paths};

/// A container (or image volume) of a live object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveContainer {
    /// Its list and name.
    pub container: Container,
    /// Its image.
    pub image: String,
    /// Its environment variables that have a value of their own.
    pub variables: BTreeMap<String, String>,
}

/// A live object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveObject {
    /// Its name in full.
    pub key: ObjectKey,
    /// What tells it from a predecessor of the same name.
    pub uid: Option<String>,
    /// `spec.selector` as a request writes it, of what owns its Pods by one.
    pub selector: Option<String>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// The containers of its pod spec, empty where it has none.
    pub containers: Vec<LiveContainer>,
    /// Who owns its images.
    pub owners: Owners,
    /// `spec.suspend` of a CronJob.
    pub suspended: bool,
}

/// A past pod template of a workload: of a ReplicaSet or a ControllerRevision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The containers of the template.
    pub containers: Vec<LiveContainer>,
}

impl LiveObject {
    /// Reads an object as the API server or `kubectl get -o json` gives it. Unexpected shapes read as
    /// absent: the API server has checked what it stores.
    #[must_use]
    pub fn from_json(object: &Value) -> Self {
        let kind = text(&object["kind"]);
        let metadata = &object["metadata"];
        let (path, spec) = pod_spec(&kind, object).unwrap_or((&[], &Value::Null));
        Self {
            key: ObjectKey {
                api_version: text(&object["apiVersion"]),
                namespace: metadata["namespace"].as_str().map(str::to_owned),
                name: text(&metadata["name"]),
                kind,
            },
            uid: metadata["uid"].as_str().map(str::to_owned),
            selector: selector::text(&object["spec"]["selector"]),
            labels: texts(&metadata["labels"]),
            annotations: texts(&metadata["annotations"]),
            containers: containers(spec),
            owners: Owners::from_json(&metadata["managedFields"], path),
            suspended: object["spec"]["suspend"].as_bool().unwrap_or(false),
        }
    }

    /// The container with this list and name.
    #[must_use]
    pub fn container(&self, container: &Container) -> Option<&LiveContainer> {
        self.containers
            .iter()
            .find(|live| live.container == *container)
    }

    /// A variable of any of its containers, for objects that have one program, such as a refresher.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.containers
            .iter()
            .find_map(|live| live.variables.get(name))
            .map(String::as_str)
    }
}

impl Revision {
    /// Reads the pod template of a ReplicaSet, or the one that a ControllerRevision stores as a patch
    /// of its owner (`data.spec.template`).
    #[must_use]
    pub fn from_json(object: &Value) -> Self {
        let template = match object["kind"].as_str() {
            Some("ControllerRevision") => &object["data"]["spec"]["template"],
            _ => &object["spec"]["template"],
        };
        Self {
            containers: containers(&template["spec"]),
        }
    }
}

/// The pod spec and the path to it.
fn pod_spec<'a>(kind: &str, object: &'a Value) -> Option<(&'static [Step], &'a Value)> {
    pod_spec_paths(kind).iter().find_map(|path| {
        let spec = path.iter().try_fold(object, |at, step| at.get(step))?;
        Some((*path, spec))
    })
}

fn containers(spec: &Value) -> Vec<LiveContainer> {
    let mut found = Vec::new();
    for list in ContainerList::ALL {
        for item in spec[list.field()].as_array().into_iter().flatten() {
            let image = list
                .image_path()
                .iter()
                .try_fold(item, |at, step| at.get(step));
            let Some(image) = image.and_then(Value::as_str) else {
                continue;
            };
            let variables = item["env"].as_array().into_iter().flatten();
            found.push(LiveContainer {
                container: Container {
                    list,
                    name: text(&item["name"]),
                },
                image: image.to_owned(),
                variables: variables
                    .filter_map(|entry| {
                        Some((text(&entry["name"]), entry["value"].as_str()?.to_owned()))
                    })
                    .collect(),
            });
        }
    }
    found
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(map: &Value) -> BTreeMap<String, String> {
    map.as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}
