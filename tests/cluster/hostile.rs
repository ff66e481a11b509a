//! What nobody sends who means well, and what somebody wrote by mistake: no panic, no hang, no secret.

use std::path::PathBuf;
use std::time::Duration;

use belay::cluster::{HelmCommandLine, LookupErrorKind, Secret};
use serde_json::{Value, json};

use crate::run::{LONG, Run, SHORT, assert_found, deployment, good, key, record};
use crate::server::{Act, FaultyApiServer};

#[test]
fn a_retry_after_that_no_clock_can_hold_ends_the_wait() {
    for (status, pause) in [
        (429, "18446744073709551615"),
        (503, "9223372036854775807"),
        (503, "99999999999999999999999999"),
    ] {
        let headers: &'static [_] = Box::leak(Box::new([("Retry-After", pause)]));
        let server = FaultyApiServer::start(move |_, _| Act::Answer {
            status,
            headers,
            body: Vec::new(),
        });
        let (kind, text) = Run::of(&server, SHORT).fail();
        assert_eq!(kind, LookupErrorKind::Unreachable);
        assert!(text.contains(&status.to_string()), "{text}");
    }
}

#[test]
fn a_timeout_that_no_clock_can_hold_is_a_long_one() {
    let server = FaultyApiServer::start(|_, _| good());
    assert_found(&Run::of(&server, Duration::MAX).run().unwrap());
}

#[test]
fn a_token_that_no_header_can_carry_is_refused_and_not_shown() {
    let server = FaultyApiServer::start(|_, _| good());
    let refused = |run: Run, named: &str| {
        let (kind, text) = run.fail();
        assert_eq!(kind, LookupErrorKind::Configuration);
        assert!(
            text.contains(named) && text.contains("HTTP header"),
            "{text}"
        );
    };
    // Of these YAML has only the first two.
    for (number, bad) in [
        "hunter2\nx",
        "hunter2\r\nX-Y: z",
        "hunter2\0",
        "hunter2\u{7f}",
    ]
    .into_iter()
    .enumerate()
    {
        let mut from_helm = Run::of(&server, LONG);
        from_helm.environment.helm.token = Some(Secret::new(bad.to_owned()));
        refused(from_helm, "HELM_KUBETOKEN");
        if number < 2 {
            let oidc = json!({"name": "oidc", "config": {"id-token": bad}});
            refused(
                Run::of(&server, LONG).user(json!({"token": bad})),
                "kubeconfig",
            );
            refused(
                Run::of(&server, LONG).user(json!({"auth-provider": oidc})),
                "auth-provider",
            );
        }
    }
    assert!(server.seen().is_empty());
}

#[test]
fn a_name_to_act_as_that_no_header_can_carry_is_refused() {
    let server = FaultyApiServer::start(|_, _| good());
    let mut user = Run::of(&server, LONG);
    user.connection.as_user = Some("a\nb".to_owned());
    let mut group = Run::of(&server, LONG);
    group.connection.as_user = Some("a".to_owned());
    group.connection.as_groups = vec!["a\rb".to_owned()];
    let extra = json!({"as": "a", "as-user-extra": {"x": ["a\nb"]}});
    let extra = Run::of(&server, LONG).user(extra);
    for (run, named) in [(user, "--as"), (group, "--as-group"), (extra, "acts as")] {
        let (kind, text) = run.fail();
        assert_eq!(kind, LookupErrorKind::Configuration);
        assert!(
            text.contains(named) && text.contains("HTTP header"),
            "{text}"
        );
    }
    // A user and a password are sent in base64, whatever they hold.
    let user = json!({"username": "a\nb", "password": "c\nd"});
    assert_found(&Run::of(&server, LONG).user(user).run().unwrap());
}

#[test]
fn an_answer_of_another_namespace_group_or_version_is_another_object() {
    let changes: [(&str, &str, Value); 5] = [
        (
            "/metadata/namespace",
            "other/demo-jobs-manager",
            json!("other"),
        ),
        (
            "/metadata/namespace",
            "Deployment demo-jobs-manager",
            Value::Null,
        ),
        ("/metadata/name", "team/another", json!("another")),
        ("/apiVersion", "evil.io/v1 Deployment", json!("evil.io/v1")),
        ("/kind", "StatefulSet team/", json!("StatefulSet")),
    ];
    for (field, named, value) in changes {
        let mut other = deployment("demo-jobs-manager", "team");
        *other.pointer_mut(field).unwrap() = value;
        let server = FaultyApiServer::start(move |_, _| Act::json(200, &other));
        let (kind, text) = Run::of(&server, LONG).fail();
        assert_eq!(kind, LookupErrorKind::Contradiction, "{text}");
        assert!(text.contains(named) && text.contains("proxy"), "{text}");
    }
}

#[test]
fn a_namespace_that_there_cannot_be_is_not_looked_up() {
    let server = FaultyApiServer::start(|_, _| Act::not_found());
    let mut run = Run::of(&server, LONG);
    run.environment.helm.namespace = Some("Prod/x".to_owned());
    let (kind, text) = run.fail();
    assert_eq!(kind, LookupErrorKind::Configuration);
    assert!(
        text.contains("HELM_NAMESPACE") && text.contains("--namespace"),
        "{text}"
    );

    for (namespace, name, part) in [
        (Some("a/b"), "x", "namespace"),
        (Some("Prod"), "x", "namespace"),
        (Some(""), "x", "namespace"),
        (None, "a/b", "name"),
    ] {
        let mut run = Run::of(&server, LONG);
        run.questions.records = [key("apps/v1", "Deployment", namespace, name)].into();
        let (kind, text) = run.fail();
        assert_eq!(kind, LookupErrorKind::Manifest);
        assert!(text.contains(&format!("whose {part} ")), "{text}");
    }
    assert!(server.seen().is_empty());
}

#[test]
fn many_managers_are_read_inside_the_time_limit() {
    let mut managed = deployment("demo-jobs-manager", "team");
    let image = json!({"f:containers": {"k:{\"name\":\"api\"}": {"f:image": {}}}});
    let entry = |number| {
        json!({"manager": format!("m{number}"), "operation": "Update", "fieldsV1": {
            "f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}},
            "f:spec": {"f:template": {"f:spec": image}}}})
    };
    managed["metadata"]["managedFields"] = (0..50_000).map(entry).collect();
    let answer = Act::json(200, &managed);
    let server = FaultyApiServer::start(move |_, _| answer.clone());
    assert_found(&Run::of(&server, LONG).run().unwrap());
    // Where there is no time for it, that is told, and not when it is read.
    let (kind, text) = Run::of(&server, Duration::from_millis(1)).fail();
    assert_eq!(kind, LookupErrorKind::Unreachable, "{text}");
}

#[test]
fn an_answer_without_end_is_cut_off() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{",
        "HTTP/1.1 500 X\r\nContent-Type: application/json\r\n\r\n{",
    ] {
        let server = FaultyApiServer::start(|_, _| Act::Flood(head.as_bytes().to_vec()));
        let (kind, text) = Run::of(&server, LONG).fail();
        assert_eq!(kind, LookupErrorKind::Unreachable);
        assert!(text.contains("more than 64 MiB"), "{text}");
    }
}

/// [`Run::run`] fails where a message holds `hunter2` or a line break.
#[test]
fn a_server_s_words_do_not_give_the_token_away() {
    for status in [400, 403, 409, 422, 500] {
        let message = "User \"hunter2\" sent\nAuthorization: Bearer hunter2 and eyJhbGci.x.y";
        let server = FaultyApiServer::start(move |_, _| Act::status(status, "No", message));
        let (_, text) = Run::of(&server, SHORT).fail();
        assert!(!text.contains("eyJ"), "{text}");
    }
    let server = FaultyApiServer::start(|_, _| Act::Answer {
        status: 200,
        headers: &[("Content-Type", "text/hunter2")],
        body: Vec::new(),
    });
    Run::of(&server, LONG).fail();
    let server = FaultyApiServer::start(|_, _| Act::json(200, &deployment("hunter2", "team")));
    let (_, text) = Run::of(&server, LONG).fail();
    assert!(text.contains("***"), "{text}");
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    for address in [
        "https://me:hunter2@127.0.0.1:1",
        "https://me:x/hunter2@127.0.0.1:1",
        "https://me:x?hunter2@127.0.0.1:1",
        "https://me:x#hunter2@127.0.0.1:1",
        "https://me:x@hunter2@127.0.0.1:1",
        "ftp://me:hunter2@127.0.0.1:1",
        "me:hunter2@127.0.0.1:1",
        "http://me:hunter2@[::1",
    ] {
        let by_helm = |address: &str| {
            let mut run = Run::against("http://127.0.0.1:1", SHORT);
            run.environment.helm.api_server = Some(address.to_owned());
            run
        };
        Run::against(address, SHORT).fail();
        by_helm(address).fail();
        let mut contradicted = Run::against("http://127.0.0.1:2", SHORT);
        let helm = ["helm", "upgrade", "--kube-apiserver", address];
        contradicted.helm = HelmCommandLine::parse(&helm, PathBuf::from("/"));
        let (kind, _) = contradicted.fail();
        assert_eq!(kind, LookupErrorKind::Contradiction);

        Run::against("http://api.example", SHORT)
            .cluster("proxy-url", json!(address))
            .fail();
        let mut proxied = Run::against("http://api.example", SHORT);
        proxied.environment.proxy.http = Some(address.to_owned());
        proxied.fail();
    }
}

#[test]
fn a_found_object_stands_under_its_question_also_beside_a_proxy_s_password() {
    let server = FaultyApiServer::start(|_, _| good());
    let server = format!("http://me:hunter2@127.0.0.1:{}", server.port);
    let facts = Run::against(&server, LONG).run().unwrap();
    assert!(facts.object(&record()).found().is_some());
    assert!(
        !facts.notes.concat().contains("hunter2"),
        "{:?}",
        facts.notes
    );
}
