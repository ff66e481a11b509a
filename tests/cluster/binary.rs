//! The binary against every fault: its exit code, one sentence with the object and the next step, an
//! empty stdout, and an end inside the time limit.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::run::{config, object};
use crate::server::{Act, FaultyApiServer, Seen, closed_port};
use crate::support::{self, Sandbox, testdata};

/// A run that is expected to end by itself or by a limit of a second takes no longer, however slow the
/// machine.
const PATIENCE: Duration = Duration::from_secs(50);

/// belay in a sandbox with a kubeconfig, and what of its output must hold.
pub(crate) struct Case {
    sandbox: Sandbox,
    command: Command,
    /// The fake must live as long as the run.
    _server: Option<FaultyApiServer>,
}

impl Case {
    fn new(cluster: Value, user: Value, server: Option<FaultyApiServer>) -> Self {
        let sandbox = Sandbox::new();
        let kubeconfig = sandbox.path().join("config");
        fs::write(&kubeconfig, config(cluster, user)).unwrap();
        let mut command = sandbox.belay();
        command
            .env("KUBECONFIG", kubeconfig)
            .env("BELAY_TIMEOUT", "1s")
            .env("BELAY_REPORT", "report.json");
        Self {
            sandbox,
            command,
            _server: server,
        }
    }

    fn against(server: &str) -> Self {
        Self::new(json!({"server": server}), json!({"token": "hunter2"}), None)
    }

    pub(crate) fn by(act: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        Self::as_user(json!({"token": "hunter2"}), act)
    }

    fn as_user(user: Value, act: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        let server = FaultyApiServer::start(act);
        let cluster = json!({"server": format!("http://127.0.0.1:{}", server.port)});
        Self::new(cluster, user, Some(server))
    }

    fn plugin(script: &str, mode: &str) -> Self {
        let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh",
            "args": ["-c", script], "interactiveMode": mode});
        Self::as_user(json!({"exec": exec}), |_, _| Act::not_found())
    }

    pub(crate) fn arg(mut self, arg: &str) -> Self {
        self.command.arg(arg);
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// What `--report` has written.
    pub(crate) fn report(&self) -> Value {
        let report = fs::read(self.sandbox.path().join("report.json")).unwrap();
        serde_json::from_slice(&report).unwrap()
    }

    pub(crate) fn run(&mut self) -> support::Run {
        let input = fs::read(testdata("cases/row-19-live-tag/input.yaml")).unwrap();
        let begin = Instant::now();
        let run = support::run(&mut self.command, &input);
        assert!(begin.elapsed() < PATIENCE, "{}", run.stderr);
        let report = fs::read_to_string(self.sandbox.path().join("report.json"));
        let told = format!("{} {}", run.stderr, report.unwrap_or_default());
        assert!(!told.contains("hunter2"), "{told}");
        assert!(!told.contains('\u{1b}'), "{told}");
        run
    }

    pub(crate) fn fails(mut self, exit: i32, parts: &[&str]) {
        let run = self.run();
        let text = run.stderr;
        assert_eq!(run.exit, Some(exit), "{text}");
        assert!(run.stdout.is_empty(), "{text}");
        assert!(text.starts_with("belay: error: "), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    fn pins(mut self) {
        let run = self.run();
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        let out = String::from_utf8(run.stdout).unwrap();
        assert!(out.contains("jobs-manager@sha256:abab"), "{out}");
    }
}

/// The record and the refresher of the input.
fn good(request: &Seen) -> Act {
    Act::json(200, &found(request))
}

fn found(request: &Seen) -> Value {
    if request.path.contains("/cronjobs/") {
        return object("batch/v1", "CronJob", "prod", "demo-image-refresh");
    }
    let mut record = object("apps/v1", "Deployment", "prod", "demo-jobs-manager");
    let digest = format!("sha256:{}", "ab".repeat(32));
    record["metadata"]["annotations"] = json!({
        "deployment.kubernetes.io/revision": "3",
        "tracebloc.io/last-refreshed-jobs-manager-digest": digest,
    });
    record
}

const OBJECT: &str = "Deployment prod/demo-jobs-manager";

/// What a message of a server that was not reached holds.
const UNREACHED: [&str; 3] = [OBJECT, "--timeout", "--no-cluster"];

#[test]
fn a_server_that_is_not_reached_is_69() {
    let closed = format!("http://127.0.0.1:{}", closed_port());
    // No address of TEST-NET answers (RFC 5737), and no name of `.invalid` is known (RFC 6761).
    let addresses = [closed.as_str(), "http://192.0.2.1", "http://none.invalid"];
    thread::scope(|scope| {
        for address in addresses {
            scope.spawn(|| {
                let mut parts = UNREACHED.to_vec();
                parts.push(address);
                Case::against(address).fails(69, &parts);
            });
        }
    });
}

#[test]
fn a_server_that_does_not_finish_is_69() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let body = format!("{head}Content-Length: 99999\r\n\r\n{{ ");
    let acts = [
        ("silent", Act::Stall(Vec::new())),
        ("slow header", Act::Drip(format!("{head}X: ").into_bytes())),
        ("slow body", Act::Drip(body.clone().into_bytes())),
        ("stalled body", Act::Stall(body.clone().into_bytes())),
        ("cut at once", Act::Cut(Vec::new())),
        ("cut in the header", Act::Cut(head.into())),
        ("cut in the body", Act::Cut(body.into_bytes())),
        ("no HTTP", Act::Cut(b"\0\x01SSH-2.0\r\n\r\n".to_vec())),
        (
            "only interim",
            Act::Drip(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        ),
    ];
    thread::scope(|scope| {
        for (_, act) in acts {
            scope.spawn(|| Case::by(move |_, _| act.clone()).fails(69, &UNREACHED));
        }
    });
}

#[test]
fn a_server_that_says_no_has_its_exit_code() {
    let refusal = |code: u16| {
        Case::by(move |_, _| Act::status(code, "No", "Token hunter2 \u{1b}[31mhas expired"))
    };
    refusal(401).fails(77, &[OBJECT, "(401)", "log in again"]);
    refusal(403).fails(77, &["demo-jobs-manager", "add to a Role"]);
    for code in [400, 409, 429, 500, 503] {
        refusal(code).fails(69, &[OBJECT, &code.to_string(), "--timeout"]);
    }
    Case::by(|_, _| Act::Answer {
        status: 429,
        headers: &[("Retry-After", "18446744073709551615")],
        body: Vec::new(),
    })
    .fails(69, &[OBJECT, "429"]);
}

#[test]
fn a_record_that_is_not_there_is_an_answer() {
    let run = Case::by(|_, _| Act::not_found()).run();
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    Case::by(|_, _| Act::not_found())
        .arg("--require-record")
        .fails(76, &["demo-jobs-manager"]);
}

#[test]
fn a_server_that_recovers_is_heard() {
    let busy = || Act::Answer {
        status: 429,
        headers: &[("Retry-After", "1")],
        body: Vec::new(),
    };
    let faults: [fn() -> Act; 4] = [
        busy,
        || Act::html(500),
        || Act::html(503),
        || Act::Cut(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec()),
    ];
    for fault in faults {
        let act = move |request: &Seen, before| match before {
            0 | 1 => fault(),
            _ => good(request),
        };
        Case::by(act).arg("--timeout=50s").pins();
    }
}

#[test]
fn an_answer_that_is_none_is_69_and_that_of_another_object_76() {
    let truncated = |request: &Seen, _: usize| {
        let mut body = found(request).to_string().into_bytes();
        body.truncate(body.len() / 2);
        Act::Answer {
            status: 200,
            headers: &[("Content-Type", "application/json")],
            body,
        }
    };
    let parts = [OBJECT, "no Kubernetes object", "HTTPS_PROXY"];
    Case::by(truncated).fails(69, &parts);
    for status in [200, 302, 403, 404] {
        Case::by(move |_, _| Act::html(status)).fails(69, &parts);
    }
    let deep = |_: &Seen, _: usize| Act::Answer {
        status: 200,
        headers: &[("Content-Type", "application/json")],
        body: "[".repeat(1_000_000).into_bytes(),
    };
    Case::by(deep).fails(69, &parts);
    let elsewhere = |request: &Seen, _: usize| {
        let mut other = found(request);
        other["metadata"]["namespace"] = json!("other");
        Act::json(200, &other)
    };
    Case::by(elsewhere).fails(76, &[OBJECT, "other/demo-jobs-manager", "HTTPS_PROXY"]);
}

#[test]
fn an_object_of_50_mb_is_read() {
    let large = |request: &Seen, _: usize| {
        let mut large = found(request);
        large["metadata"]["annotations"]["large"] = "x".repeat(50_000_000).into();
        Act::json(200, &large)
    };
    Case::by(large).arg("--timeout=50s").pins();
    // And where the time does not suffice for it, that is kept.
    let rows: Value = (0..400_000).map(|number| json!({"a": [number]})).collect();
    let many = move |request: &Seen, _: usize| {
        let mut many = found(request);
        many["spec"] = json!({"rows": rows});
        Act::json(200, &many)
    };
    Case::by(many).arg("--timeout=20ms").fails(69, &UNREACHED);
}

#[test]
fn a_wrong_configuration_is_78() {
    let missing = "--kubeconfig=/nowhere/config";
    Case::against("http://x")
        .arg(missing)
        .fails(78, &["/nowhere/config", "--kubeconfig"]);
    let bad = Case::against("http://x");
    fs::write(bad.sandbox.path().join("config"), "contexts: [hunter2").unwrap();
    bad.fails(78, &["no kubeconfig", "--kubeconfig"]);
    Case::against("http://x")
        .arg("--context=there")
        .fails(78, &["`there`", "`here`"]);
    Case::against("http://x")
        .variable("HELM_KUBECONTEXT", "\u{1b}]0;x\u{7}\nbelay: error: nothing")
        .fails(78, &["`\\u{1b}]0;x\\u{7}\\nbelay", "`here`"]);
    Case::against("http://x")
        .variable("HELM_KUBETOKEN", "hunter2\nX: y")
        .fails(78, &["HELM_KUBETOKEN", "HTTP header"]);
    #[cfg(unix)]
    Case::against("http://x")
        .variable("KUBECONFIG", "/dev/zero")
        .fails(78, &["/dev/zero", "not a file"]);
}

#[cfg(unix)]
#[test]
fn a_plugin_that_fails_hangs_or_wants_a_terminal_is_named() {
    Case::plugin("echo hunter2; echo 'log \u{1b}[31min' >&2; exit 1", "Never")
        .fails(77, &["`sh`", "log", "log in again"]);
    Case::plugin(
        "printf '{\"status\":{\"token\":\"a\\\\nhunter2\"}}'",
        "Never",
    )
    .fails(77, &["`sh`", "HTTP header"]);
    Case::plugin("exec yes hunter2", "Never").fails(77, &["`sh`", "more than"]);
    Case::plugin("echo 'enter code X' >&2; exec sleep 600", "IfAvailable")
        .fails(69, &["`sh`", "`enter code X`", "--timeout"]);
    Case::plugin("exec sleep 600", "Always").fails(78, &["`sh`", "terminal", "context"]);
}

#[test]
fn a_value_that_cannot_be_is_a_usage_error() {
    for arg in [
        "--timeout=9223372036854775807s",
        "--timeout=18446744073709551615s",
        "--timeout=25h",
        "--namespace=",
        "--namespace=Prod/x",
        "--namespace=\u{1b}[31m",
    ] {
        let run = Case::against("http://x").arg(arg).run();
        assert_eq!(run.exit, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("invalid value"), "{}", run.stderr);
        assert!(run.stdout.is_empty());
    }
}

#[test]
fn a_password_in_an_address_is_in_no_message_and_no_report() {
    for password in [
        "hunter2",
        "x/hunter2",
        "x?hunter2",
        "x#hunter2",
        "x@hunter2",
    ] {
        let address = format!("https://me:{password}@127.0.0.1:1");
        for name in ["HELM_KUBEAPISERVER", "HTTPS_PROXY", "HTTP_PROXY"] {
            let run = Case::against("http://api.example")
                .variable(name, &address)
                .run();
            assert!(matches!(run.exit, Some(69 | 78)), "{}", run.stderr);
        }
    }
}
