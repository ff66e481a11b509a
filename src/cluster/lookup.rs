//! Asks the questions of a render and gives the answers as facts: all objects at once, then all
//! histories at once where some are needed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ancestry::{HelmCommandLine, Used};
use super::asker::{Asker, Outcome};
use super::connection::{Connection, Target};
use super::environment::Environment;
use super::error::LookupError;
use super::fault::{self, Failed};
use super::namespace::{self, is_namespace};
use super::request::Session;
use super::resource::is_name;
use super::secrets::Secrets;
use super::{access, credentials, headers, local};
use crate::manifest::ObjectKey;
use crate::policy::{Answer, Facts, HistoryQuestions, Questions};

/// The longest time limit: what waits for longer than a day waits for ever, and clocks have ends.
pub const LONGEST_TIMEOUT: Duration = Duration::from_hours(24);

/// Asks the cluster. Without questions nothing is read, run or connected to.
///
/// `further` says which histories the answers about `questions` make necessary: mostly none, and then
/// there is no second round trip. `helm` finds Helm's command line, [`HelmCommandLine::find`] outside of
/// tests. All answers stand under the keys of the questions, also those without a namespace.
///
/// # Errors
/// When the cluster cannot be told or reached, refuses, or is not the one that Helm uses. That an
/// object does not exist is an answer.
pub fn lookup(
    questions: &Questions,
    further: impl FnOnce(&Facts) -> HistoryQuestions,
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
    let facts = Facts {
        notes: vec![match target.context() {
            Some(context) => format!("asked {} (context `{context}`)", target.server()),
            None => format!("asked {}", target.server()),
        }],
        ..Facts::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| LookupError::NotStarted {
            cause: error.to_string(),
        })?;
    let summarize =
        |faults: &[Failed]| fault::summarize(faults, &target.server(), timeout, &secrets);
    let facts = runtime.block_on(async {
        let client = access::client(&cluster, user, &environment.proxy, timeout)?;
        let asker = Asker {
            session: Session::new(client, deadline.into()),
            namespace: namespace.name.clone(),
        };
        converse(Arc::new(asker), keys, facts, further, summarize).await
    });
    // A name lookup cannot be interrupted, and dropping the runtime would wait for it.
    runtime.shutdown_background();
    Ok(Facts {
        namespace: is_used.then_some(namespace),
        ..facts?
    })
}

/// Asks for all objects at once, then for all histories that the answers make necessary.
async fn converse(
    asker: Arc<Asker>,
    keys: Vec<ObjectKey>,
    mut facts: Facts,
    further: impl FnOnce(&Facts) -> HistoryQuestions,
    summarize: impl Fn(&[Failed]) -> Option<LookupError>,
) -> Result<Facts, LookupError> {
    let outcomes = Arc::clone(&asker).ask_all(keys).await;
    facts.objects = settle(outcomes, ObjectKey::to_string, &summarize)?;
    let outcomes = asker.ask_histories(further(&facts)).await;
    let called = |key: &ObjectKey| format!("the history of {key}");
    facts.histories = settle(outcomes, called, &summarize)?;
    Ok(facts)
}

/// All answers, or what all that went wrong comes to; `called` is what was asked for.
fn settle<T>(
    mut outcomes: Vec<Outcome<T>>,
    called: impl Fn(&ObjectKey) -> String,
    summarize: impl Fn(&[Failed]) -> Option<LookupError>,
) -> Result<BTreeMap<ObjectKey, Answer<T>>, LookupError> {
    // In the order of the keys, so that equal failures make equal messages.
    outcomes.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut answers = BTreeMap::new();
    let mut faults = Vec::new();
    for (key, outcome) in outcomes {
        match outcome {
            Ok(answer) => {
                answers.insert(key, answer);
            }
            Err((rule, fault)) => faults.push((called(&key), rule, fault)),
        }
    }
    summarize(&faults).map_or(Ok(answers), Err)
}

/// Checks what the manifests name. That such an object does not exist is true, but to take it for a
/// first install would drop a pin in silence.
pub(super) fn check_names<'k>(
    keys: impl IntoIterator<Item = &'k ObjectKey>,
) -> Result<(), LookupError> {
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
