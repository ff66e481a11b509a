//! Which questions reach the server, as whom, and what becomes of the answers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use belay::cluster::{HelmCommandLine, LookupErrorKind, Secret};
use belay::policy::{Answer, Questions};
use serde_json::json;

use crate::run::{LONG, RECORD_PATH, Run, assert_found, deployment, good, key, object, record};
use crate::server::{Act, FaultyApiServer};

#[test]
fn an_object_is_found_under_the_key_of_its_question() {
    let server = FaultyApiServer::start(|_, _| good());
    let facts = Run::of(&server, LONG).run().unwrap();
    assert_found(&facts);
    let namespace = facts.namespace.unwrap();
    assert_eq!((namespace.name.as_str(), namespace.guessed), ("team", true));
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].path, RECORD_PATH);
    assert_eq!(seen[0].headers["authorization"], "Bearer hunter2");
}

#[test]
fn a_document_s_own_namespace_is_asked() {
    let server = FaultyApiServer::start(|_, _| Act::json(200, &deployment("x", "prod")));
    let mut run = Run::of(&server, LONG);
    let own = key("apps/v1", "Deployment", Some("prod"), "x");
    run.questions.records = [own.clone()].into();
    let facts = run.run().unwrap();
    assert!(facts.object(&own).found().is_some());
    assert_eq!(facts.namespace, None);
    assert_eq!(
        server.seen()[0].path,
        "/apis/apps/v1/namespaces/prod/deployments/x"
    );
}

#[test]
fn an_object_that_is_not_there_is_an_answer() {
    let server = FaultyApiServer::start(|_, _| Act::not_found());
    let facts = Run::of(&server, LONG).run().unwrap();
    assert_eq!(*facts.object(&record()), Answer::NotFound);
}

#[test]
fn without_questions_nothing_is_asked_nor_read() {
    let server = FaultyApiServer::start(|_, _| good());
    let mut run = Run::of(&server, LONG);
    run.questions = Questions::default();
    run.connection.kubeconfig = Some(PathBuf::from("/nowhere"));
    assert!(run.run().unwrap().objects.is_empty());
    assert!(server.seen().is_empty());
}

#[test]
fn all_questions_are_asked_at_once_and_each_once() {
    let all = Arc::new(Barrier::new(4));
    let server = FaultyApiServer::start(move |request, _| {
        // Nobody is answered before everybody has asked.
        all.wait();
        let name = request.path.rsplit('/').next().unwrap();
        let (api_version, kind) = if request.path.contains("/cronjobs/") {
            ("batch/v1", "CronJob")
        } else {
            ("apps/v1", "Deployment")
        };
        Act::json(200, &object(api_version, kind, "team", name))
    });
    let mut run = Run::of(&server, LONG);
    let workloads = ["demo-jobs-manager", "a", "b"];
    run.questions.workloads = workloads
        .map(|it| key("apps/v1", "Deployment", None, it))
        .into();
    run.questions.refreshers = [key("batch/v1", "CronJob", None, "refresh")].into();
    let facts = run.run().unwrap();
    assert_eq!(facts.objects.len(), 4);
    assert!(
        facts
            .objects
            .values()
            .all(|answer| answer.found().is_some())
    );
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn many_questions_do_not_use_up_the_connections() {
    let (now, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let server = FaultyApiServer::start(move |_, _| {
        seen.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
        thread::sleep(Duration::from_millis(10));
        now.fetch_sub(1, Relaxed);
        Act::not_found()
    });
    let mut run = Run::of(&server, LONG);
    run.questions.workloads = (0..500)
        .map(|number| key("apps/v1", "Deployment", None, &format!("w{number}")))
        .collect();
    assert_eq!(run.run().unwrap().objects.len(), 501);
    assert!(most.load(Relaxed) <= 100, "{most:?}");
}

#[test]
fn another_kind_is_discovered_once_per_api_version() {
    let server = FaultyApiServer::start(|request, _| match request.path.as_str() {
        "/apis/argoproj.io/v1alpha1" => Act::json(
            200,
            &json!({"kind": "APIResourceList", "resources": [
                {"name": "rollouts", "kind": "Rollout", "namespaced": true}]}),
        ),
        "/apis/argoproj.io/v1alpha1/namespaces/team/rollouts/a" => {
            Act::json(200, &object("argoproj.io/v1alpha1", "Rollout", "team", "a"))
        }
        "/apis/gone.example/v1" => Act::Answer {
            status: 404,
            headers: &[("Content-Type", "text/plain")],
            body: b"404 page not found\n".to_vec(),
        },
        _ => Act::not_found(),
    });
    let mut run = Run::of(&server, LONG);
    let rollout = |name| key("argoproj.io/v1alpha1", "Rollout", None, name);
    let gone = key("gone.example/v1", "Thing", None, "x");
    let unknown = key("argoproj.io/v1alpha1", "Unknown", None, "x");
    run.questions.workloads = [rollout("a"), rollout("b"), gone.clone(), unknown.clone()].into();
    let facts = run.run().unwrap();
    assert!(facts.object(&rollout("a")).found().is_some());
    for missing in [rollout("b"), gone, unknown] {
        assert_eq!(*facts.object(&missing), Answer::NotFound, "{missing}");
    }
    let discoveries = server.seen();
    let discoveries = discoveries
        .iter()
        .filter(|it| it.path.ends_with("v1alpha1"));
    assert_eq!(discoveries.count(), 1);
}

#[test]
fn helm_s_variables_and_the_impersonation_reach_the_server() {
    let server = FaultyApiServer::start(|_, _| good());
    let mut run = Run::against("http://127.0.0.1:1", LONG);
    run.environment.helm.api_server = Some(format!("http://127.0.0.1:{}", server.port));
    run.environment.helm.token = Some(Secret::new("t0".to_owned()));
    run.environment.helm.as_groups = vec!["ops".to_owned()];
    run.connection.as_user = Some("jane".to_owned());
    assert_found(&run.run().unwrap());
    let headers = &server.seen()[0].headers;
    assert_eq!(headers["authorization"], "Bearer t0");
    assert_eq!(headers["impersonate-user"], "jane");
    assert_eq!(headers["impersonate-group"], "ops");
}

#[test]
fn a_contradiction_of_helm_s_command_line_stops_before_any_request() {
    let server = FaultyApiServer::start(|_, _| good());
    for (arguments, remedy) in [
        (
            vec!["helm", "upgrade", "--kube-context", "there"],
            "--context=there",
        ),
        (vec!["helm", "upgrade", "-n", "prod"], "--namespace=prod"),
    ] {
        let mut run = Run::of(&server, LONG);
        run.helm = HelmCommandLine::parse(&arguments, PathBuf::from("/"));
        let (kind, text) = run.fail();
        assert_eq!(kind, LookupErrorKind::Contradiction);
        assert!(text.contains(remedy), "{text}");
    }
    let mut run = Run::of(&server, LONG);
    run.connection.kubeconfig = None;
    run.helm = HelmCommandLine::parse(&["helm", "--kubeconfig", "k"], PathBuf::from("/"));
    let (kind, text) = run.fail();
    assert_eq!(kind, LookupErrorKind::Contradiction);
    assert!(text.contains("--kubeconfig=k"), "{text}");
    assert!(server.seen().is_empty());

    // A namespace that no question needs is no contradiction.
    let mut run = Run::of(&server, LONG);
    run.questions.records = [key(
        "apps/v1",
        "Deployment",
        Some("team"),
        "demo-jobs-manager",
    )]
    .into();
    run.helm = HelmCommandLine::parse(&["helm", "upgrade", "-n", "prod"], PathBuf::from("/"));
    assert!(run.run().is_ok());
}

#[test]
fn what_is_configured_wrongly_is_named() {
    let mut run = Run::against("http://x", LONG);
    run.connection.kubeconfig = Some(PathBuf::from("/nowhere/config"));
    let (kind, text) = run.fail();
    assert_eq!(kind, LookupErrorKind::Configuration);
    assert!(text.contains("/nowhere/config"), "{text}");

    let mut run = Run::against("http://x", LONG);
    run.connection.context = Some("there".to_owned());
    let (kind, text) = run.fail();
    assert_eq!(kind, LookupErrorKind::Configuration);
    assert!(
        text.contains("`there`") && text.contains("`here`"),
        "{text}"
    );

    for server in ["", "ftp://x", "http://", "http://a b"] {
        let (kind, text) = Run::against(server, LONG).fail();
        assert_eq!(kind, LookupErrorKind::Configuration, "{server}: {text}");
    }
}
