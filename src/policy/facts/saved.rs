//! Answers from objects that somebody saved: `kubectl get … -o yaml --show-managed-fields`.
//!
//! What is not among them is unknown and never invented, but for the record itself: a file is given to
//! say what is recorded, so a record that it lacks is not there.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::malformed::{self, Malformed};
use super::{Answer, Facts, LiveObject, Revision};
use crate::manifest::ObjectKey;
use crate::policy::release::{INSTANCE, RELEASE_NAME};
use crate::policy::{Profile, Questions, RecordHint};

/// The label and the annotation that name an object's release.
const RELEASE_MARKS: [(&str, &str); 2] = [("labels", INSTANCE), ("annotations", RELEASE_NAME)];

/// The kinds that answers are read from, beside any other that holds a pod template.
const READABLE: [&str; 10] = [
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "ControllerRevision",
    "Job",
    "CronJob",
    "Pod",
    "PodTemplate",
];

/// The kinds that hold past pod templates of their owner.
const HISTORY: [&str; 2] = ["ReplicaSet", "ControllerRevision"];

/// Saved objects, lists unpacked.
#[derive(Clone, Debug, Default)]
pub struct SavedObjects {
    objects: Vec<Value>,
    /// The places of objects by kind and name, and of past templates by their owner's kind and name: a
    /// cluster's worth of objects is asked for as many.
    named: HashMap<Name, Vec<usize>>,
    owned: HashMap<Name, Vec<usize>>,
}

/// A kind and a name.
type Name = (String, String);

/// The namespace of documents that name none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Namespaces<'a> {
    /// The one that the user named for this run.
    pub given: Option<&'a str>,
    /// The one to take where saved objects of one name stand in several: it may be stale.
    pub likely: Option<&'a str>,
}

/// The saved objects cannot answer for this stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// The files hold a record, but of another release or namespace.
    #[error("the record file holds {found}, not {expected}: give the record of this release")]
    AnotherRecord {
        /// A record that is there.
        found: Box<ObjectKey>,
        /// The one that the stream needs.
        expected: Box<ObjectKey>,
    },
    /// The files hold the record for several namespaces, and the stream names none.
    #[error(
        "the record file holds several objects called {name}, and the manifests name no namespace: give --namespace"
    )]
    Ambiguous {
        /// The name of the record Deployment.
        name: String,
    },
}

impl SavedObjects {
    /// Adds an object, or the items of a list.
    ///
    /// # Errors
    /// When it is no Kubernetes object.
    pub(super) fn add(&mut self, object: Value) -> Result<(), Malformed> {
        malformed::check(&object)?;
        let kind = object["kind"].as_str().unwrap_or_default();
        let Some(of_items) = kind.strip_suffix("List").map(str::to_owned) else {
            self.push(object);
            return Ok(());
        };
        malformed::check_items(&object)?;
        let mut list = object;
        let Value::Array(items) = list["items"].take() else {
            return Ok(());
        };
        for mut item in items {
            // The API server leaves both out in a list of one kind; kubectl fills them in, but for --raw.
            if item["kind"].is_null() && !of_items.is_empty() {
                item["kind"] = of_items.as_str().into();
                item["apiVersion"] = list["apiVersion"].clone();
            }
            malformed::check(&item)?;
            // Lists do not nest: the API server gives none that do.
            self.push(item);
        }
        Ok(())
    }

    fn push(&mut self, object: Value) {
        let index = self.objects.len();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let name = (text(&object["kind"]), text(&metadata["name"]));
        if HISTORY.contains(&name.0.as_str()) {
            let owners = metadata["ownerReferences"].as_array();
            for owner in owners.into_iter().flatten() {
                let owner = (text(&owner["kind"]), text(&owner["name"]));
                self.owned.entry(owner).or_default().push(index);
            }
        }
        self.named.entry(name).or_default().push(index);
        self.objects.push(object);
    }

    /// The objects at the places that an index has for `key`.
    fn at<'s>(
        &'s self,
        index: &'s HashMap<Name, Vec<usize>>,
        key: &ObjectKey,
    ) -> impl Iterator<Item = &'s Value> {
        let places = index.get(&(key.kind.clone(), key.name.clone()));
        places
            .into_iter()
            .flatten()
            .map(|&place| &self.objects[place])
    }

    /// Whether some object is of a kind that answers can be read from; true for no objects at all, as
    /// an empty list says that nothing was found.
    #[must_use]
    pub(super) fn is_readable(&self) -> bool {
        let readable = |object: &Value| {
            let kind = object["kind"].as_str().unwrap_or_default();
            READABLE.contains(&kind) || !LiveObject::from_json(object).containers.is_empty()
        };
        self.objects.is_empty() || self.objects.iter().any(readable)
    }

    /// Takes over what other files hold.
    pub fn extend(&mut self, other: Self) {
        other
            .objects
            .into_iter()
            .for_each(|object| self.push(object));
    }

    /// The only record, if there is just one.
    #[must_use]
    pub fn hint(&self, profile: &Profile) -> Option<RecordHint> {
        let mut records = self.records(profile);
        let only = records.next()?;
        if records.next().is_some() {
            return None;
        }
        let release = RELEASE_MARKS
            .iter()
            .find_map(|(map, key)| only["metadata"][map][key].as_str())
            .map(str::to_owned);
        Some(RecordHint {
            object: LiveObject::from_json(only).key,
            release,
        })
    }

    /// Answers `questions`.
    ///
    /// # Errors
    /// When the files hold records, but not one that this stream needs.
    pub fn answer(
        &self,
        questions: &Questions,
        profile: &Profile,
        namespaces: Namespaces<'_>,
    ) -> Result<Facts, SavedError> {
        let mut facts = Facts::default();
        // A refresher that the stream lacks is found by its labels.
        for job in self.of_kind(&["CronJob"]) {
            let live = LiveObject::from_json(job);
            facts.objects.insert(live.key.clone(), Answer::Found(live));
        }
        for key in questions.workloads.iter().chain(&questions.refreshers) {
            let found = self.find(key, namespaces).unwrap_or_default();
            if found.is_empty() && questions.workloads.contains(key) {
                let note = format!("{key} is not in the record file: what it runs is not known");
                facts.notes.push(note);
            }
            let answer = found.last().map_or(Answer::Unknown, |object| {
                Answer::Found(LiveObject::from_json(object))
            });
            facts.objects.insert(key.clone(), answer);
        }
        let mut missing = Vec::new();
        for key in &questions.records {
            let Some(found) = self.find(key, namespaces) else {
                let name = key.name.clone();
                return Err(SavedError::Ambiguous { name });
            };
            let answer = match found.last() {
                Some(object) => Answer::Found(LiveObject::from_json(object)),
                None => {
                    missing.push(key);
                    Answer::NotFound
                }
            };
            facts.objects.insert(key.clone(), answer);
        }
        // A file with the record of some release of the stream is fine, also of one that has nothing
        // open; one with none of them is about something else.
        let is_known = |key: &ObjectKey| {
            self.find(key, namespaces)
                .is_none_or(|found| !found.is_empty())
        };
        if let (Some(expected), Some(found)) = (missing.first(), self.records(profile).next())
            && !questions
                .of_stream
                .iter()
                .chain(&questions.records)
                .any(is_known)
        {
            return Err(SavedError::AnotherRecord {
                found: Box::new(LiveObject::from_json(found).key),
                expected: Box::new(ObjectKey {
                    namespace: expected
                        .namespace
                        .clone()
                        .or(namespaces.given.map(str::to_owned)),
                    ..(*expected).clone()
                }),
            });
        }
        for key in questions.workloads.iter().chain(&questions.records) {
            let history = self.history(key, namespaces);
            if !history.is_empty() {
                facts.histories.insert(key.clone(), Answer::Found(history));
            }
        }
        Ok(facts)
    }

    fn of_kind<'s>(&'s self, kinds: &'s [&str]) -> impl Iterator<Item = &'s Value> {
        let of_kind = |object: &&Value| {
            object["kind"]
                .as_str()
                .is_some_and(|kind| kinds.contains(&kind))
        };
        self.objects.iter().filter(of_kind)
    }

    /// The Deployments that are some release's record.
    fn records<'s>(&'s self, profile: &'s Profile) -> impl Iterator<Item = &'s Value> {
        self.of_kind(&["Deployment"]).filter(|object| {
            let metadata = &object["metadata"];
            let annotations = metadata["annotations"].as_object();
            metadata["name"]
                .as_str()
                .is_some_and(|name| profile.record.could_name(name))
                || annotations
                    .into_iter()
                    .flatten()
                    .any(|(key, _)| profile.record.image_of(key).is_some())
        })
    }

    /// The objects called `key`; None where they are of several namespaces and none is known to be meant.
    fn find(&self, key: &ObjectKey, namespaces: Namespaces<'_>) -> Option<Vec<&Value>> {
        let wanted = key.namespace.as_deref().or(namespaces.given);
        let called = |namespace: Option<&str>| -> Vec<&Value> {
            let called = |object: &&Value| is_called(object, key, namespace);
            self.at(&self.named, key).filter(called).collect()
        };
        let found = called(wanted);
        let several: BTreeSet<_> = found.iter().map(|object| namespace_of(object)).collect();
        if several.len() <= 1 || wanted.is_some() {
            return Some(found);
        }
        let likely = called(Some(namespaces.likely?));
        (!likely.is_empty()).then_some(likely)
    }

    /// The past pod templates of the workload `key`: of what it owns, and owned under its present uid
    /// where that is known.
    fn history(&self, key: &ObjectKey, namespaces: Namespaces<'_>) -> Vec<Revision> {
        let found = self.find(key, namespaces).unwrap_or_default();
        let owner = found.last();
        let uid = owner.and_then(|object| object["metadata"]["uid"].as_str());
        let wanted = owner.and_then(|object| namespace_of(object));
        let wanted = wanted.or(key.namespace.as_deref()).or(namespaces.given);
        self.at(&self.owned, key)
            .filter(|object| {
                let metadata = &object["metadata"];
                let owners = metadata["ownerReferences"].as_array();
                in_namespace(object, wanted)
                    && owners.into_iter().flatten().any(|owner| {
                        owner["kind"] == *key.kind
                            && owner["name"] == *key.name
                            && (uid.is_none() || owner["uid"].as_str() == uid)
                    })
            })
            .map(Revision::from_json)
            .collect()
    }
}

fn namespace_of(object: &Value) -> Option<&str> {
    object["metadata"]["namespace"].as_str()
}

fn is_called(object: &Value, key: &ObjectKey, namespace: Option<&str>) -> bool {
    let live = ObjectKey {
        api_version: object["apiVersion"].as_str().unwrap_or_default().to_owned(),
        kind: object["kind"].as_str().unwrap_or_default().to_owned(),
        ..ObjectKey::default()
    };
    live.same_kind(key)
        && object["metadata"]["name"] == *key.name
        && in_namespace(object, namespace)
}

/// A saved object without a namespace could be of any.
fn in_namespace(object: &Value, namespace: Option<&str>) -> bool {
    match (namespace_of(object), namespace) {
        (Some(found), Some(wanted)) => found == wanted,
        _ => true,
    }
}
