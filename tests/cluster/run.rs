//! A lookup against a server, and the objects that it asks for.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use belay::cluster::{
    Connection, Environment, HelmCommandLine, LookupError, LookupErrorKind, lookup,
};
use belay::manifest::ObjectKey;
use belay::policy::{Facts, HistoryQuestions, Questions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Act, FaultyApiServer};

/// The limit of runs that are expected to end by themselves.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The limit of runs that are expected to be ended by it.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

/// A lookup to be made: the questions, the kubeconfig and the options.
pub(crate) struct Run {
    pub(crate) folder: TempDir,
    pub(crate) questions: Questions,
    /// What is asked for once the questions are answered.
    pub(crate) histories: HistoryQuestions,
    pub(crate) connection: Connection,
    pub(crate) environment: Environment,
    pub(crate) helm: Option<HelmCommandLine>,
}

impl Run {
    pub(crate) fn against(server: &str, timeout: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("config");
        let user = json!({"token": "hunter2"});
        std::fs::write(&kubeconfig, config(json!({"server": server}), user)).unwrap();
        let mut questions = Questions::default();
        questions.records.insert(record());
        Self {
            folder,
            questions,
            histories: HistoryQuestions::new(),
            connection: Connection {
                kubeconfig: Some(kubeconfig),
                context: None,
                as_user: None,
                as_groups: Vec::new(),
                namespace: None,
                timeout,
            },
            environment: Environment::default(),
            helm: None,
        }
    }

    pub(crate) fn of(server: &FaultyApiServer, timeout: Duration) -> Self {
        Self::against(&format!("http://127.0.0.1:{}", server.port), timeout)
    }

    /// As another user.
    pub(crate) fn user(self, user: Value) -> Self {
        self.edit(|config| config["users"][0]["user"] = user)
    }

    /// With another field of the cluster.
    pub(crate) fn cluster(self, field: &str, value: Value) -> Self {
        self.edit(|config| config["clusters"][0]["cluster"][field] = value)
    }

    fn edit(self, change: impl FnOnce(&mut Value)) -> Self {
        let path = self.folder.path().join("config");
        let mut config = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut config);
        std::fs::write(&path, config.to_string()).unwrap();
        self
    }

    /// Runs it, and fails the test when it does not end.
    pub(crate) fn run(self) -> Result<Facts, LookupError> {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let facts = lookup(
                &self.questions,
                |_| self.histories.clone(),
                &self.connection,
                &self.environment,
                || self.helm.clone(),
            );
            // Nobody waits any more where the test has failed.
            let _ = sender.send((facts, self.folder));
        });
        let (facts, _folder) = receiver.recv_timeout(LONG).expect("the lookup has no end");
        if let Err(error) = &facts {
            let text = error.to_string();
            assert!(!text.contains("hunter2"), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
        facts
    }

    /// Runs it where it must fail.
    pub(crate) fn fail(self) -> (LookupErrorKind, String) {
        let error = self.run().expect_err("the lookup must fail");
        (error.kind(), error.to_string())
    }
}

/// A kubeconfig with one context.
pub(crate) fn config(cluster: Value, user: Value) -> String {
    json!({
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "it", "user": "me", "namespace": "team"}}],
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "me", "user": user}],
    })
    .to_string()
}

pub(crate) fn key(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
    ObjectKey {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

pub(crate) fn record() -> ObjectKey {
    key("apps/v1", "Deployment", None, "demo-jobs-manager")
}

pub(crate) const RECORD_PATH: &str = "/apis/apps/v1/namespaces/team/deployments/demo-jobs-manager";

pub(crate) fn object(api_version: &str, kind: &str, namespace: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "namespace": namespace}})
}

pub(crate) fn deployment(name: &str, namespace: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "annotations": {"a": "b"}}})
}

pub(crate) fn good() -> Act {
    Act::json(200, &deployment("demo-jobs-manager", "team"))
}

pub(crate) fn assert_found(facts: &Facts) {
    let object = facts.object(&record()).found().expect("the record");
    assert_eq!(object.annotations["a"], "b");
}
