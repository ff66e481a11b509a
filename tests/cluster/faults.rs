//! What networks, proxies and overloaded API servers do.

use std::net::TcpListener;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use belay::cluster::LookupErrorKind;
use serde_json::json;

use crate::run::{LONG, Run, SHORT, assert_found, deployment, good, key};
use crate::server::{Act, FaultyApiServer, Seen, closed_port, serve};

#[test]
fn a_403_names_every_rule_that_is_missing_and_who_misses_it() {
    let server = FaultyApiServer::start(|request, _| {
        let name = request.path.rsplit('/').next().unwrap();
        if name == "a" {
            return Act::not_found();
        }
        let message = format!(
            "x \"{name}\" is forbidden: User \"system:serviceaccount:ci:belay\" cannot get resource"
        );
        Act::status(403, "Forbidden", &message)
    });
    let mut run = Run::of(&server, LONG);
    run.questions.workloads = [key("apps/v1", "Deployment", None, "a")].into();
    run.questions.refreshers = [key("batch/v1", "CronJob", Some("ops"), "refresh")].into();
    let (kind, text) = run.fail();
    assert_eq!(kind, LookupErrorKind::Denied);
    for part in [
        "`system:serviceaccount:ci:belay`",
        r#"{apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["demo-jobs-manager"], verbs: ["get"]} in namespace `team`"#,
        r#"{apiGroups: ["batch"], resources: ["cronjobs"], resourceNames: ["refresh"], verbs: ["get"]} in namespace `ops`"#,
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("\"a\""), "{text}");
}

#[test]
fn a_401_says_that_the_credentials_are_refused() {
    let server = FaultyApiServer::start(|_, _| Act::status(401, "Unauthorized", "Unauthorized"));
    let (kind, text) = Run::of(&server, LONG).fail();
    assert_eq!(kind, LookupErrorKind::Denied);
    assert!(
        text.contains("credentials") && text.contains("demo-jobs-manager"),
        "{text}"
    );
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn what_passes_is_tried_again() {
    type Fault = fn() -> Act;
    let faults: [Fault; 6] = [
        || Act::status(500, "InternalError", "etcd"),
        || Act::html(503),
        || Act::status(429, "TooManyRequests", "later"),
        || Act::Cut(Vec::new()),
        || Act::Cut(b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()),
        || Act::Cut(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"kind\":".to_vec()),
    ];
    for fault in faults {
        let server = FaultyApiServer::start(move |_, before| match before {
            0 | 1 => fault(),
            _ => good(),
        });
        assert_found(&Run::of(&server, LONG).run().unwrap());
        assert_eq!(server.seen().len(), 3);
    }
}

#[test]
fn retry_after_is_heeded() {
    let busy = Act::Answer {
        status: 429,
        headers: &[("Retry-After", "1")],
        body: Vec::new(),
    };
    let first = busy.clone();
    let server = FaultyApiServer::start(move |_, before| match before {
        0 => first.clone(),
        _ => good(),
    });
    assert_found(&Run::of(&server, LONG).run().unwrap());
    // A wait that would outlast the limit is not begun: what is known then is told at once.
    let server = FaultyApiServer::start(move |_, _| busy.clone());
    let (kind, text) = Run::of(&server, SHORT).fail();
    assert_eq!(kind, LookupErrorKind::Unreachable);
    assert!(text.contains("429"), "{text}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn what_does_not_pass_ends_inside_the_time_limit() {
    let server = FaultyApiServer::start(|_, _| Act::status(503, "ServiceUnavailable", "starting"));
    let (kind, text) = Run::of(&server, SHORT).fail();
    assert_eq!(kind, LookupErrorKind::Unreachable);
    assert!(text.contains("503") && text.contains("starting"), "{text}");

    for silence in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
    ] {
        let server = FaultyApiServer::start(|_, _| Act::Stall(silence.as_bytes().to_vec()));
        let (kind, text) = Run::of(&server, SHORT).fail();
        assert_eq!(kind, LookupErrorKind::Unreachable);
        assert!(
            text.contains("--timeout") && text.contains("demo-jobs-manager"),
            "{text}"
        );
    }
}

#[test]
fn a_server_that_cannot_be_reached_is_named() {
    let refused = format!("http://127.0.0.1:{}", closed_port());
    // `.invalid` never resolves (RFC 6761).
    for server in [refused.as_str(), "http://no-such-server.invalid"] {
        let (kind, text) = Run::against(server, SHORT).fail();
        assert_eq!(kind, LookupErrorKind::Unreachable);
        assert!(
            text.contains(server) && text.contains("demo-jobs-manager"),
            "{text}"
        );
        assert!(text.contains("--no-cluster"), "{text}");
    }
}

#[test]
fn a_server_that_starts_meanwhile_is_reached() {
    let port = closed_port();
    let run = Run::against(&format!("http://127.0.0.1:{port}"), LONG);
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(150));
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let connection = listener.accept().unwrap().0;
        serve(connection, &|_, _| good(), &Mutex::default());
    });
    assert_found(&run.run().unwrap());
}

#[test]
fn an_answer_that_no_api_server_gives_is_none() {
    let truncated = |_: &Seen, _: usize| Act::Answer {
        status: 200,
        headers: &[("Content-Type", "application/json")],
        body: b"{\"kind\": \"Deployment\", \"meta".to_vec(),
    };
    for server in [
        FaultyApiServer::start(|_, _| Act::html(200)),
        FaultyApiServer::start(|_, _| Act::html(302)),
        FaultyApiServer::start(|_, _| Act::html(403)),
        // A proxy's 404 must not look like a first install.
        FaultyApiServer::start(|_, _| Act::html(404)),
        FaultyApiServer::start(truncated),
        FaultyApiServer::start(|_, _| Act::json(200, &json!({}))),
    ] {
        let (kind, text) = Run::of(&server, LONG).fail();
        assert_eq!(kind, LookupErrorKind::Unreachable);
        assert!(text.contains("no Kubernetes object"), "{text}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[test]
fn an_object_may_be_large() {
    let mut large = deployment("demo-jobs-manager", "team");
    large["metadata"]["annotations"]["large"] = "x".repeat(50_000_000).into();
    let answer = Act::json(200, &large);
    let server = FaultyApiServer::start(move |_, _| answer.clone());
    assert_found(&Run::of(&server, LONG).run().unwrap());
}

/// With kube's own rules a proxy variable alone would break every connection.
#[test]
fn a_proxy_is_used_but_for_this_machine() {
    let proxy = FaultyApiServer::start(|_, _| Act::Cut(Vec::new()));
    let server = FaultyApiServer::start(|_, _| good());
    let proxied = |server: &str, timeout| {
        let mut run = Run::against(server, timeout);
        run.environment.proxy.http = Some(format!("http://me:hunter2@127.0.0.1:{}", proxy.port));
        run
    };
    let local = format!("http://127.0.0.1:{}", server.port);
    assert_found(&proxied(&local, LONG).run().unwrap());
    assert!(proxy.seen().is_empty());
    let (kind, text) = proxied("http://api.example", SHORT).fail();
    assert_eq!(kind, LookupErrorKind::Unreachable, "{text}");
    assert!(!proxy.seen().is_empty());
}
