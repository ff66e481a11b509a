//! Asks for objects, each by its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinSet;

use super::answer::Reply;
use super::fault::Fault;
use super::request::{Session, Wanted};
use super::resource::{Served, discovery_path};
use super::rule::Rule;
use crate::manifest::ObjectKey;
use crate::policy::{Answer, LiveObject};

/// What came of one question, or what went wrong with the rule that would have been needed.
pub(super) type Outcome<T> = (ObjectKey, Result<Answer<T>, (Rule, Fault)>);

/// All that a request needs.
pub(super) struct Asker {
    pub(super) session: Session,
    /// For keys without one.
    pub(super) namespace: String,
}

impl Asker {
    /// One task for each object of a kind whose path is known, and one for each API version of which
    /// that must be found out first.
    pub(super) async fn ask_all(self: Arc<Self>, keys: Vec<ObjectKey>) -> Vec<Outcome<LiveObject>> {
        let mut tasks = JoinSet::new();
        let mut others: BTreeMap<String, Vec<ObjectKey>> = BTreeMap::new();
        for key in keys {
            match Served::well_known(&key) {
                Some(served) => {
                    let asker = Arc::clone(&self);
                    tasks.spawn(async move { vec![asker.ask(key, served).await] });
                }
                None => others.entry(key.api_version.clone()).or_default().push(key),
            }
        }
        for (api_version, keys) in others {
            tasks.spawn(Arc::clone(&self).ask_discovered(api_version, keys));
        }
        tasks.join_all().await.into_iter().flatten().collect()
    }

    async fn ask(&self, key: ObjectKey, served: Served) -> Outcome<LiveObject> {
        let namespace = key.namespace.as_deref().unwrap_or(&self.namespace);
        let Some(path) = served.path(&key.name, namespace) else {
            return (key, Ok(Answer::NotFound));
        };
        let asked = ObjectKey {
            namespace: served.is_namespaced().then(|| namespace.to_owned()),
            ..key.clone()
        };
        let live = move |object: Value| {
            let live = LiveObject::from_json(&object);
            if live.key == asked {
                Ok(live)
            } else {
                Err(live.key)
            }
        };
        let answer = match self.session.get(&Wanted::One(path), live).await {
            Ok(Reply::Found(Ok(live))) => Ok(Answer::Found(live)),
            Ok(Reply::Found(Err(other))) => Err(another(&other)),
            Ok(Reply::NotFound) => Ok(Answer::NotFound),
            Ok(Reply::NothingThere) => Err(Fault::nothing_there()),
            Err(fault) => Err(fault),
        };
        let rule = served.rule(&key.name, namespace);
        (key, answer.map_err(|fault| (rule, fault)))
    }

    /// Asks how an API version serves its kinds, then for the objects. A kind that the cluster does
    /// not have (yet) has no objects.
    async fn ask_discovered(
        self: Arc<Self>,
        api_version: String,
        keys: Vec<ObjectKey>,
    ) -> Vec<Outcome<LiveObject>> {
        let all = |answer: Result<Answer<LiveObject>, (Rule, Fault)>| {
            keys.iter()
                .map(|key| (key.clone(), answer.clone()))
                .collect()
        };
        let Some(path) = discovery_path(&api_version) else {
            return all(Ok(Answer::NotFound));
        };
        let whole = |list: Value| list;
        let list = match self.session.get(&Wanted::One(path.clone()), whole).await {
            Ok(Reply::Found(list)) if list["kind"].as_str() == Some("APIResourceList") => list,
            Ok(Reply::NotFound | Reply::NothingThere) => return all(Ok(Answer::NotFound)),
            Ok(Reply::Found(_)) => {
                let fault = Fault::NotKubernetes("another object".to_owned());
                return all(Err((Rule::Discovery { path }, fault)));
            }
            Err(fault) => return all(Err((Rule::Discovery { path }, fault))),
        };
        let mut tasks = JoinSet::new();
        let mut outcomes = Vec::new();
        for key in keys {
            match Served::discovered(&key, &list) {
                Some(served) => {
                    let asker = Arc::clone(&self);
                    tasks.spawn(async move { asker.ask(key, served).await });
                }
                None => outcomes.push((key, Ok(Answer::NotFound))),
            }
        }
        outcomes.extend(tasks.join_all().await);
        outcomes
    }
}

/// What a confused proxy had at hand. An answer that names nothing is no object.
pub(super) fn another(key: &ObjectKey) -> Fault {
    if [&key.api_version, &key.kind, &key.name]
        .iter()
        .any(|it| it.is_empty())
    {
        return Fault::NotKubernetes("other JSON".to_owned());
    }
    Fault::AnotherObject(format!("{} {key}", key.api_version))
}
