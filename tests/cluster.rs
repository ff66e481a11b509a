//! The lookup against [`FaultyApiServer`], a fake that does what networks, proxies and overloaded API
//! servers do. What a real API server answers is the rig's to show.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // as in the tests of src/

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use belay::cluster::{
    Connection, Environment, HelmCommandLine, LookupError, LookupErrorKind, Secret, lookup,
};
use belay::manifest::ObjectKey;
use belay::policy::{Answer, Facts, Questions};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The limit of runs that are expected to end by themselves.
const LONG: Duration = Duration::from_secs(60);

/// The limit of runs that are expected to be ended by it.
const SHORT: Duration = Duration::from_millis(400);

/// A request as the fake saw it.
#[derive(Clone, Debug)]
struct Seen {
    path: String,
    headers: BTreeMap<String, String>,
}

/// What the fake does with a connection after it has read a request.
#[derive(Clone)]
enum Act {
    /// Answers.
    Answer {
        status: u16,
        headers: &'static [(&'static str, &'static str)],
        body: Vec<u8>,
    },
    /// Sends these bytes, then closes.
    Cut(Vec<u8>),
    /// Sends these bytes, then keeps silent.
    Stall(Vec<u8>),
}

impl Act {
    fn json(status: u16, body: &Value) -> Self {
        Self::Answer {
            status,
            headers: &[("Content-Type", "application/json")],
            body: body.to_string().into_bytes(),
        }
    }

    fn html(status: u16) -> Self {
        Self::Answer {
            status,
            headers: &[("Content-Type", "text/html")],
            body: b"<html>Please log in</html>".to_vec(),
        }
    }

    fn status(code: u16, reason: &str, message: &str) -> Self {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "reason": reason, "message": message, "code": code});
        Self::json(code, &status)
    }

    fn not_found() -> Self {
        Self::status(404, "NotFound", "not found")
    }
}

/// A fake API server over plain HTTP: `act` decides by the request and by how many came before it.
struct FaultyApiServer {
    port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl FaultyApiServer {
    fn start(act: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let act = Arc::new(act);
        let requests = Arc::clone(&seen);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (act, requests) = (Arc::clone(&act), Arc::clone(&requests));
                thread::spawn(move || serve(&connection.unwrap(), &*act, &requests));
            }
        });
        Self { port, seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(
    connection: &TcpStream,
    act: &(dyn Fn(&Seen, usize) -> Act + Send + Sync),
    requests: &Mutex<Vec<Seen>>,
) {
    let mut lines = BufReader::new(connection).lines();
    let Some(Ok(first)) = lines.next() else {
        return;
    };
    let headers = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty());
    let headers = headers.filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        Some((name.to_ascii_lowercase(), value.to_owned()))
    });
    let request = Seen {
        path: first.split(' ').nth(1).unwrap().to_owned(),
        headers: headers.collect(),
    };
    let before = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    let mut connection = connection;
    // The client may be gone already: its time was up.
    let _ = match act(&request, before) {
        Act::Answer {
            status,
            headers,
            body,
        } => {
            let length = body.len();
            let mut head =
                format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n");
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            head += "\r\n";
            connection
                .write_all(head.as_bytes())
                .and_then(|()| connection.write_all(&body))
        }
        Act::Cut(bytes) => connection.write_all(&bytes),
        Act::Stall(bytes) => {
            let sent = connection.write_all(&bytes);
            thread::sleep(LONG);
            sent
        }
    };
}

/// A port where nobody listens.
fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A lookup to be made: the questions, the kubeconfig and the options.
struct Run {
    folder: TempDir,
    questions: Questions,
    connection: Connection,
    environment: Environment,
    helm: Option<HelmCommandLine>,
}

impl Run {
    fn against(server: &str, timeout: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("config");
        let text = json!({
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "it", "user": "me", "namespace": "team"}}],
            "clusters": [{"name": "it", "cluster": {"server": server}}],
            "users": [{"name": "me", "user": {"token": "hunter2"}}],
        });
        std::fs::write(&kubeconfig, text.to_string()).unwrap();
        let mut questions = Questions::default();
        questions.records.insert(record());
        Self {
            folder,
            questions,
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

    fn of(server: &FaultyApiServer, timeout: Duration) -> Self {
        Self::against(&format!("http://127.0.0.1:{}", server.port), timeout)
    }

    /// Runs it, and fails the test when it does not end.
    fn run(self) -> Result<Facts, LookupError> {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let facts = lookup(&self.questions, &self.connection, &self.environment, || {
                self.helm.clone()
            });
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
    fn fail(self) -> (LookupErrorKind, String) {
        let error = self.run().expect_err("the lookup must fail");
        (error.kind(), error.to_string())
    }
}

fn key(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
    ObjectKey {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

fn record() -> ObjectKey {
    key("apps/v1", "Deployment", None, "demo-jobs-manager")
}

const RECORD_PATH: &str = "/apis/apps/v1/namespaces/team/deployments/demo-jobs-manager";

fn deployment(name: &str, namespace: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "annotations": {"a": "b"}}})
}

fn good() -> Act {
    Act::json(200, &deployment("demo-jobs-manager", "team"))
}

fn assert_found(facts: &Facts) {
    let object = facts.object(&record()).found().expect("the record");
    assert_eq!(object.annotations["a"], "b");
}

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
        let kind = if request.path.contains("/cronjobs/") {
            "CronJob"
        } else {
            "Deployment"
        };
        Act::json(200, &json!({"kind": kind, "metadata": {"name": name}}))
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
        serve(&connection, &|_, _| good(), &Mutex::default());
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
        FaultyApiServer::start(|_, _| Act::json(200, &deployment("another", "team"))),
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

#[test]
fn another_kind_is_discovered_once_per_api_version() {
    let server = FaultyApiServer::start(|request, _| match request.path.as_str() {
        "/apis/argoproj.io/v1alpha1" => Act::json(
            200,
            &json!({"kind": "APIResourceList", "resources": [
                {"name": "rollouts", "kind": "Rollout", "namespaced": true}]}),
        ),
        "/apis/argoproj.io/v1alpha1/namespaces/team/rollouts/a" => {
            Act::json(200, &json!({"kind": "Rollout", "metadata": {"name": "a"}}))
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
