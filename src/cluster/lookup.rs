//! Asks all questions of a render at once and gives the answers as facts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::config::{AuthInfo, Cluster};
use serde_json::Value;
use tokio::task::JoinSet;

use super::ancestry::{HelmCommandLine, Used};
use super::answer::Reply;
use super::connection::{Connection, Target};
use super::environment::{Environment, ProxyEnvironment};
use super::error::LookupError;
use super::fault::{self, Fault};
use super::namespace::{self, is_namespace};
use super::request::Session;
use super::resource::{Rule, Served, discovery_path, is_name};
use super::secrets::Secrets;
use super::{access, credentials, headers, local};
use crate::manifest::ObjectKey;
use crate::policy::{Answer, Facts, LiveObject, Questions};

/// The longest time limit: what waits for longer than a day waits for ever, and clocks have ends.
pub const LONGEST_TIMEOUT: Duration = Duration::from_hours(24);

/// One object's answer, or what went wrong with the rule that would have been needed.
type Outcome = (ObjectKey, Result<Answer<LiveObject>, (Rule, Fault)>);

/// Asks the cluster. Without questions nothing is read, run or connected to.
///
/// `helm` finds Helm's command line, [`HelmCommandLine::find`] outside of tests. The answers stand
/// under the keys of the questions, also those without a namespace.
///
/// # Errors
/// When the cluster cannot be told or reached, refuses, or is not the one that Helm uses. That an
/// object does not exist is an answer.
pub fn lookup(
    questions: &Questions,
    connection: &Connection,
    environment: &Environment,
    helm: impl FnOnce() -> Option<HelmCommandLine>,
) -> Result<Facts, LookupError> {
    let keys: Vec<ObjectKey> = questions.objects().into_iter().cloned().collect();
    if keys.is_empty() {
        return Ok(Facts::default());
    }
    let timeout = connection.timeout.min(LONGEST_TIMEOUT);
    let deadline = Instant::now() + timeout;
    check_names(&keys)?;
    let helm = helm();
    let target = match (Target::find(connection, environment, deadline), &helm) {
        // Helm's own options are a better hint than that there is no cluster.
        (Err(LookupError::NoCluster), Some(helm)) => {
            helm.check(&Used::default())?;
            Err(LookupError::NoCluster)
        }
        (target, _) => target,
    }?;
    let namespace = namespace::used(connection, environment, &target);
    let is_used = keys.iter().any(|key| key.namespace.is_none());
    if let Some(helm) = &helm {
        helm.check(&Used {
            context: target.context().map(str::to_owned),
            kubeconfig: target.files().to_vec(),
            server: Some(target.server()),
            namespace: (is_used || !namespace.guessed).then(|| namespace.clone()),
        })?;
    }
    if is_used {
        namespace::check(&namespace)?;
    }
    let (mut cluster, mut user) = (target.cluster.clone(), target.user.clone());
    local::inline(&mut cluster, &mut user, deadline)?;
    credentials::resolve(&mut user, &cluster, timeout, deadline)?;
    headers::check(&user, environment.helm.token.is_some())?;
    let secrets = Secrets::of(&user);
    let outcomes = ask_all(
        &cluster,
        user,
        &environment.proxy,
        keys,
        &namespace.name,
        timeout,
        deadline,
    )?;
    let mut faults = Vec::new();
    let mut facts = Facts {
        namespace: is_used.then_some(namespace),
        notes: vec![match target.context() {
            Some(context) => format!("asked {} (context `{context}`)", target.server()),
            None => format!("asked {}", target.server()),
        }],
        ..Facts::default()
    };
    for (key, outcome) in outcomes {
        match outcome {
            Ok(answer) => {
                facts.objects.insert(key, answer);
            }
            Err((rule, fault)) => faults.push((key.to_string(), rule, fault)),
        }
    }
    match fault::summarize(&faults, &target.server(), timeout, &secrets) {
        Some(error) => Err(error),
        None => Ok(facts),
    }
}

/// Runs the requests on a runtime of their own.
fn ask_all(
    cluster: &Cluster,
    user: AuthInfo,
    proxies: &ProxyEnvironment,
    keys: Vec<ObjectKey>,
    namespace: &str,
    timeout: Duration,
    deadline: Instant,
) -> Result<Vec<Outcome>, LookupError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| LookupError::NotStarted {
            cause: error.to_string(),
        })?;
    let outcomes = runtime.block_on(async {
        let asker = Arc::new(Asker {
            session: Session::new(
                access::client(cluster, user, proxies, timeout)?,
                deadline.into(),
            ),
            namespace: namespace.to_owned(),
        });
        Ok(asker.ask_all(keys).await)
    });
    // A name lookup cannot be interrupted, and dropping the runtime would wait for it.
    runtime.shutdown_background();
    let mut outcomes = outcomes?;
    // In the order of the keys, so that equal failures make equal messages.
    outcomes.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(outcomes)
}

/// All that a request needs.
struct Asker {
    session: Session,
    /// For keys without one.
    namespace: String,
}

impl Asker {
    /// One task for each object of a kind whose path is known, and one for each API version of which
    /// that must be found out first.
    async fn ask_all(self: Arc<Self>, keys: Vec<ObjectKey>) -> Vec<Outcome> {
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

    async fn ask(&self, key: ObjectKey, served: Served) -> Outcome {
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
        let answer = match self.session.get(&path, live).await {
            Ok(Reply::Found(Ok(live))) => Ok(Answer::Found(live)),
            Ok(Reply::Found(Err(other))) => Err(another(&other)),
            Ok(Reply::NotFound) => Ok(Answer::NotFound),
            Ok(Reply::NothingThere) => Err(Fault::NotKubernetes(
                "`404 page not found` for a path that every API server has".to_owned(),
            )),
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
    ) -> Vec<Outcome> {
        let all = |answer: Result<Answer<LiveObject>, (Rule, Fault)>| {
            keys.iter()
                .map(|key| (key.clone(), answer.clone()))
                .collect()
        };
        let Some(path) = discovery_path(&api_version) else {
            return all(Ok(Answer::NotFound));
        };
        let whole = |list: Value| list;
        let list = match self.session.get(&path, whole).await {
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

/// Checks what the manifests name. That such an object does not exist is true, but to take it for a
/// first install would drop a pin in silence.
fn check_names(keys: &[ObjectKey]) -> Result<(), LookupError> {
    let wrong = |key: &ObjectKey, part| {
        Err(LookupError::NoSuchName {
            object: key.to_string(),
            part,
        })
    };
    for key in keys {
        if key.namespace.as_deref().is_some_and(|it| !is_namespace(it)) {
            return wrong(key, "namespace");
        }
        if !is_name(&key.name) {
            return wrong(key, "name");
        }
    }
    Ok(())
}

/// What a confused proxy had at hand. An answer that names nothing is no object.
fn another(key: &ObjectKey) -> Fault {
    if [&key.api_version, &key.kind, &key.name]
        .iter()
        .any(|it| it.is_empty())
    {
        return Fault::NotKubernetes("other JSON".to_owned());
    }
    Fault::AnotherObject(format!("{} {key}", key.api_version))
}
