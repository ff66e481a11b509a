//! The command line's contract: options, variables, exit codes, and what goes to which stream.
#![allow(
    clippy::expect_used,
    reason = "helpers of tests fail by panicking, as tests do"
)]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use support::{Run, Sandbox, read, run, testdata};

/// A tag, a recorded digest and an active refresher.
const PINNED: &str = "cases/row-19-live-tag";
/// A record that outcomes are warned about.
const WARNED: &str = "cases/row-14-skip-streak";

impl Sandbox {
    /// Runs belay with `args` on `input`.
    fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>, input: &[u8]) -> Run {
        run(self.belay().args(args), input)
    }
}

/// A golden case's input and its record.
fn case(folder: &str) -> (Vec<u8>, String) {
    let record = testdata(folder).join("record.yaml");
    (input(folder), record.display().to_string())
}

fn input(folder: &str) -> Vec<u8> {
    read(&testdata(folder).join("input.yaml")).expect("an input")
}

fn expected(folder: &str) -> Vec<u8> {
    read(&testdata(folder).join("expected.yaml")).expect("an expected output")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

/// Runs belay on the case with `args` and its record.
fn run_case(args: &[&str], folder: &str) -> Run {
    let (input, record) = case(folder);
    let args = args.iter().copied().chain(["--record", &record]);
    Sandbox::new().run(args, &input)
}

fn assert_fails(run: &Run, exit: i32, says: &str) {
    assert_eq!(run.exit, Some(exit), "{}", run.stderr);
    assert_eq!(text(&run.stdout), "", "stdout of a failure");
    assert!(run.stderr.contains(says), "{:?} in {}", says, run.stderr);
}

#[test]
fn without_a_command_belay_renders() {
    for args in [&[][..], &["render"]] {
        let run = run_case(args, PINNED);
        assert_eq!(run.exit, Some(0));
        assert_eq!(run.stdout, expected(PINNED));
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    for args in [
        &["--no-such-option"][..],
        &["no-such-command"],
        &["--refresher", "perhaps"],
        &["--on-uneditable", "ask"],
        &["--timeout", "0s"],
        &["--record"],
        &["explain", "-o", "xml"],
        &["completions", "no-such-shell"],
    ] {
        let run = Sandbox::new().run(args, &input(PINNED));
        assert_fails(&run, 2, "error");
    }
}

#[test]
fn a_required_record_with_nowhere_to_look_is_wrong_usage() {
    let args = ["--require-record", "--no-cluster"];
    assert_fails(
        &Sandbox::new().run(args, &input(PINNED)),
        2,
        "--require-record",
    );
}

#[test]
fn help_and_version_are_no_failure() {
    for args in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["explain", "--help"],
    ] {
        let run = Sandbox::new().run(args, b"");
        assert_eq!(run.exit, Some(0), "{args:?}");
        assert!(text(&run.stdout).contains("belay"), "{args:?}");
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn explain_check_ends_with_1_when_a_rewrite_is_due() {
    let run = run_case(&["explain", "--check"], PINNED);
    assert_eq!(run.exit, Some(1));
    assert!(text(&run.stdout).contains("pinned"));
    assert_eq!(run_case(&["explain"], PINNED).exit, Some(0));
}

#[test]
fn explain_check_ends_with_0_when_nothing_is_due() {
    let offline = ["explain", "--check", "--no-cluster"];
    let run = Sandbox::new().run(offline, &input(PINNED));
    assert_eq!(run.exit, Some(0));
    let (_, record) = case(PINNED);
    let again = Sandbox::new().run(
        ["explain", "--check", "--record", &record],
        &expected(PINNED),
    );
    assert_eq!(again.exit, Some(0));
}

#[test]
fn explain_shows_object_container_rendered_result_and_reason() {
    let run = run_case(&["explain"], PINNED);
    let table: Vec<Vec<&str>> = text(&run.stdout)
        .lines()
        .map(|line| line.split("  ").filter(|cell| !cell.is_empty()).collect())
        .map(|cells: Vec<&str>| cells.into_iter().map(str::trim).collect())
        .collect();
    assert_eq!(
        table[0],
        ["OBJECT", "CONTAINER", "RENDERED", "RESULT", "REASON"]
    );
    assert_eq!(
        table[1],
        [
            "Deployment prod/demo-jobs-manager",
            "api",
            "docker.io/tracebloc/jobs-manager:prod",
            "@sha256:3d96a458120e…",
            "pinned"
        ]
    );
}

#[test]
fn explain_counts_unmanaged_images_and_shows_them_with_all() {
    let counted = run_case(&["explain"], PINNED);
    let counted = text(&counted.stdout);
    assert!(counted.contains("\n1 more image"), "{counted}");
    assert!(!counted.contains("alpine"), "{counted}");
    let all = run_case(&["explain", "--all"], PINNED);
    let all = text(&all.stdout);
    assert!(
        all.contains("docker.io/alpine/k8s:1.31.4") && all.contains("not-managed"),
        "{all}"
    );
    assert!(!all.contains("more image"), "{all}");
}

#[test]
fn explain_reasons_prints_every_code_and_reads_nothing() {
    let codes = [
        "not-managed",
        "operator-pin",
        "digest-malformed",
        "hook",
        "mirror",
        "refresh-absent",
        "refresh-suspended",
        "tag-changed",
        "offline",
        "first-install",
        "pinned",
        "pinned-over-flap",
        "pinned-live",
        "record-unmaintained",
        "no-record",
        "record-invalid",
        "observed-only",
        "pinned-over-rollback",
        "not-editable",
        "record-unnamed",
    ];
    for format in ["table", "markdown"] {
        let args = ["explain", "--reasons", "-o", format];
        let run = Sandbox::new().run(args, b"no yaml: [tracebloc/jobs-manager");
        assert_eq!(run.exit, Some(0));
        let words: Vec<&str> = text(&run.stdout).split([' ', '\n', '`']).collect();
        for code in codes {
            assert!(words.contains(&code), "{code} in {words:?}");
        }
    }
}

#[test]
fn explain_json_has_a_versioned_schema_and_the_evidence() {
    let run = run_case(&["explain", "-o", "json"], PINNED);
    assert_eq!(run.exit, Some(0));
    let json = text(&run.stdout);
    assert!(json.starts_with("{\n  \"schema\": \"belay.dev/report/v1\",\n"));
    for key in [
        "\"recorded\": {",
        "\"live\": {",
        "\"owners\": [",
        "\"unmanaged\": 1",
    ] {
        assert!(json.contains(key), "{key} in {json}");
    }
}

/// `exitCode` is what belay ends with, on stdout as in a report file.
#[test]
fn explain_json_names_the_exit_code_that_it_ends_with() {
    for (args, folder, exit) in [
        (&[][..], PINNED, 0),
        (&["--check"], PINNED, 1),
        (&["--strict"], WARNED, 79),
        (&[], "cases/row-2-digest-malformed", 65),
    ] {
        let args = [&["explain", "-o", "json"], args].concat();
        let run = run_case(&args, folder);
        assert_eq!(run.exit, Some(exit), "{args:?}");
        let json = text(&run.stdout);
        assert!(
            json.contains(&format!("\"exitCode\": {exit},")),
            "{args:?} ends with {exit}: {json}"
        );
    }
}

#[test]
fn a_report_is_json_by_its_name_and_text_else() {
    let sandbox = Sandbox::new();
    let (input, record) = case(PINNED);
    for (name, first) in [
        ("r.json", "{\n  \"schema\": \"belay.dev/report/v1\""),
        ("r.txt", "OBJECT "),
        ("r", "OBJECT "),
    ] {
        let run = sandbox.run(["--report", name, "--record", &record], &input);
        assert_eq!(run.exit, Some(0));
        assert_eq!(run.stdout, expected(PINNED));
        let report = read(&sandbox.path().join(name)).expect("a report");
        assert!(
            text(&report).starts_with(first),
            "{name}: {}",
            text(&report)
        );
    }
    let page = read(&sandbox.path().join("r.txt")).expect("a report");
    assert!(
        text(&page).ends_with("1 pinned, 0 left\n"),
        "{}",
        text(&page)
    );
}

#[test]
fn a_failure_is_in_the_report() {
    let sandbox = Sandbox::new();
    let broken = input("cases/input-no-yaml-in-a-chunk-of-ours");
    for name in ["r.json", "r.txt"] {
        let run = sandbox.run(["--no-cluster", "--report", name], &broken);
        assert_fails(&run, 65, "is no YAML");
        let report = read(&sandbox.path().join(name)).expect("a report");
        assert!(text(&report).contains("is no YAML"), "{}", text(&report));
        assert!(text(&report).contains("65"), "{}", text(&report));
    }
}

#[test]
fn a_report_that_cannot_be_written_is_only_a_warning() {
    for path in ["no/such/folder/r.json", "."] {
        let run = run_case(&["--report", path], PINNED);
        assert_eq!(run.exit, Some(0));
        assert_eq!(run.stdout, expected(PINNED));
        assert!(
            run.stderr
                .starts_with("belay: warning: cannot write the report"),
            "{}",
            run.stderr
        );
    }
    let strict = run_case(&["--strict", "--report", "no/such/r.json"], PINNED);
    assert_eq!(strict.exit, Some(0));
}

#[test]
fn a_report_that_would_mix_with_the_manifests_or_wait_is_only_a_warning() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    for (report, says) in [
        ("/dev/stdout", "it is stdout, where the manifests go"),
        ("pipe", "it is a named pipe, not a file"),
    ] {
        let run = sandbox.run(["--no-cluster", "--report", report], b"a: 1\n");
        assert_eq!((run.exit, text(&run.stdout)), (Some(0), "a: 1\n"));
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
    let run = sandbox.run(["--no-cluster", "--report", "/dev/stderr"], b"a: 1\n");
    assert!(run.stderr.ends_with("0 pinned, 0 left\n"), "{}", run.stderr);
}

#[test]
fn a_named_file_that_never_ends_is_refused() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    for (option, exit) in [("--record", 66), ("--config", 78)] {
        for (path, says) in [
            ("/dev/zero", "it is a device or a socket, not a file"),
            ("pipe", "it is a named pipe, not a file"),
            (".", "it is a folder, not a file"),
        ] {
            let run = sandbox.run(["--no-cluster", option, path], b"a: 1\n");
            assert_fails(&run, exit, says);
        }
    }
}

#[test]
fn a_token_named_as_config_is_not_shown() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path().join("token"), "eyJhbGciOi.secret").expect("a file");
    let run = sandbox.run(["--config", "token"], b"a: 1\n");
    assert_fails(&run, 78, "it is no mapping");
    assert!(!run.stderr.contains("eyJ"), "{}", run.stderr);
}

#[test]
fn aliases_that_multiply_images_are_refused_as_helm_refuses_them() {
    // 500 Deployments that share one list of 500 containers.
    let container = |n| format!("- {{name: c{n}, image: tracebloc/jobs-manager:prod}}\n");
    let deployment = |n| {
        format!(
            "- {{kind: Deployment, metadata: {{name: d{n}}}, spec: {{template: {{spec: {{containers: *c}}}}}}}}\n"
        )
    };
    let containers: String = (0..500).map(container).collect();
    let deployments: String = (0..500).map(deployment).collect();
    let stream = format!("kind: List\nx: &c\n{containers}items:\n{deployments}");
    let run = Sandbox::new().run(["--no-cluster"], stream.as_bytes());
    assert_fails(&run, 65, "line 1 has more images than Helm would read");
}

#[test]
fn names_do_not_reach_the_terminal_as_control_characters() {
    let stream = b"kind: Deployment\nmetadata: {name: \"a\\e[31m\\nb\"}\nspec: {template: {spec: {containers: [{name: c, image: tracebloc/jobs-manager:prod}]}}}\n";
    let run = Sandbox::new().run(["explain", "--no-cluster"], stream);
    assert!(
        text(&run.stdout).contains(r"a\u{1b}[31m\nb"),
        "{}",
        text(&run.stdout)
    );
    assert!(!run.stdout.contains(&0x1b));
}

#[test]
fn quiet_says_errors_only() {
    let warned = run_case(&[], WARNED);
    assert!(
        warned.stderr.starts_with("belay: warning: "),
        "{}",
        warned.stderr
    );
    let quiet = run_case(&["-q"], WARNED);
    assert_eq!((quiet.exit, quiet.stderr.as_str()), (Some(0), ""));
    assert_eq!(quiet.stdout, warned.stdout);
    let both = run_case(&["-q", "-v"], WARNED);
    assert_eq!(both.stderr, "", "-q beats -v");
    let failed = run_case(&["--quiet", "--strict"], WARNED);
    assert_fails(&failed, 79, "belay: error: ");
    assert!(!failed.stderr.contains("belay: warning"));
}

#[test]
fn verbose_says_what_was_decided() {
    assert_eq!(run_case(&[], PINNED).stderr, "");
    let once = run_case(&["-v"], PINNED);
    assert_eq!(once.stdout, expected(PINNED));
    assert!(once.stderr.contains("OBJECT ") && once.stderr.contains("pinned"));
    assert!(!once.stderr.contains("OWNERS"));
    let twice = run_case(&["-vv"], PINNED);
    assert!(twice.stderr.contains("OWNERS"), "{}", twice.stderr);
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let plain = run_case(&[], WARNED);
    assert!(!plain.stderr.contains('\u{1b}'));
    let always = run_case(&["--color", "always"], WARNED);
    assert!(always.stderr.contains('\u{1b}'));
    assert_eq!(always.stdout, plain.stdout);
    let never = run_case(&["--color=never"], WARNED);
    assert_eq!(never.stderr, plain.stderr);
}

#[test]
fn every_option_can_be_a_variable() {
    let (input, record) = case(WARNED);
    let sandbox = Sandbox::new();
    let with = |variables: &[(&str, &str)]| {
        let mut command = sandbox.belay();
        command.env("BELAY_RECORD", &record);
        run(command.envs(variables.iter().copied()), &input)
    };
    assert_eq!(with(&[]).exit, Some(0));
    assert_eq!(with(&[("BELAY_STRICT", "1")]).exit, Some(79));
    assert_eq!(with(&[("BELAY_STRICT", "true")]).exit, Some(79));
    assert_eq!(with(&[("BELAY_STRICT", "false")]).exit, Some(0));
    assert_eq!(with(&[("BELAY_STRICT", "0")]).exit, Some(0));
    assert_eq!(with(&[("BELAY_QUIET", "1")]).stderr, "");
    assert!(
        with(&[("BELAY_VERBOSE", "2")]).stderr.contains("OWNERS"),
        "as -vv"
    );
    assert_eq!(with(&[("BELAY_NAMESPACE", "staging")]).exit, Some(76));
    assert_eq!(with(&[("BELAY_REFRESHER", "inactive")]).stderr, "");
    assert_eq!(with(&[("BELAY_CONFIG", "no-such-file")]).exit, Some(78));
    assert_eq!(with(&[("BELAY_RECORD", "no-such-file")]).exit, Some(66));
    assert_eq!(with(&[("BELAY_REPORT", "r.json")]).exit, Some(0));
    assert!(sandbox.path().join("r.json").exists());
    let offline = run(sandbox.belay().env("BELAY_NO_CLUSTER", "1"), &input);
    assert_eq!((offline.exit, offline.stdout), (Some(0), input.clone()));
}

#[test]
fn an_option_beats_its_variable() {
    let (input, record) = case(PINNED);
    let mut command = Sandbox::new().belay();
    command
        .env("BELAY_RECORD", "no-such-file")
        .env("BELAY_REFRESHER", "inactive")
        .args(["--record", &record, "--refresher", "auto"])
        .current_dir("/");
    assert_eq!(run(&mut command, &input).stdout, expected(PINNED));
}

#[test]
fn an_empty_variable_is_not_set() {
    let (input, record) = case(PINNED);
    let plain = Sandbox::new().run(["-n", "prod", "--record", &record], &input);
    for name in [
        "AS",
        "AS_GROUP",
        "CONFIG",
        "CONTEXT",
        "COLOR",
        "CORRUPT_EDIT",
        "KUBECONFIG",
        "NAMESPACE",
        "NO_CLUSTER",
        "ON_LOOKUP_ERROR",
        "ON_UNEDITABLE",
        "QUIET",
        "RECORD",
        "REFRESHER",
        "REPORT",
        "REQUIRE_RECORD",
        "STRICT",
        "TIMEOUT",
        "VERBOSE",
    ] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.belay();
        command.env(format!("BELAY_{name}"), "");
        let run = run(command.args(["--record", &record]), &input);
        assert_eq!(run.stderr, "", "BELAY_{name}");
        assert_eq!(run.exit, Some(0), "BELAY_{name}");
        assert_eq!(run.stdout, plain.stdout, "BELAY_{name}");
    }
}

#[test]
fn the_default_config_read_back_is_the_default() {
    let sandbox = Sandbox::new();
    let default = sandbox.run(["config", "--default"], b"");
    assert_eq!(default.exit, Some(0));
    let file = sandbox.path().join("c.yaml");
    fs::write(&file, &default.stdout).expect("a file");

    let again = sandbox.run(["config", "--config", "c.yaml"], b"");
    assert_eq!((again.exit, &again.stdout), (Some(0), &default.stdout));
    assert_eq!(sandbox.run(["config"], b"").stdout, default.stdout);

    let (input, record) = case(PINNED);
    let args = ["--config", "c.yaml", "--record", &record];
    assert_eq!(sandbox.run(args, &input).stdout, expected(PINNED));
}

#[test]
fn a_bad_config_ends_with_78() {
    let sandbox = Sandbox::new();
    let bad = |text: &str, says: &str| {
        fs::write(sandbox.path().join("c.yaml"), text).expect("a file");
        for command in ["render", "explain", "config"] {
            let run = sandbox.run([command, "--config", "c.yaml"], &input(PINNED));
            assert_fails(&run, 78, says);
            assert!(run.stderr.contains("c.yaml"), "{}", run.stderr);
        }
    };
    bad(
        "tagVariabel: CLIENT_ENV\n",
        "there is no key tagVariabel, perhaps tagVariable is meant",
    );
    bad(
        "record: {digset: x}\n",
        "there is no key record.digset, perhaps digest is meant",
    );
    bad(
        "refresher: {pins: [{variable: A, wrokload: {variable: B, fallback: c, fallbakc: d}}]}\n",
        "there is no key refresher.pins.0.wrokload, perhaps workload is meant",
    );
    bad(
        "refresher: {pins: [{variable: A, workload: {variable: B, fallback: c, fallbakc: d}}], x: 1}\n",
        "there is no key refresher.pins.0.workload.fallbakc, perhaps fallback is meant (and 1 more)",
    );
    bad("zzz: 1\n", "there is no key zzz (");
    bad("record: {state: all}\n", "lacks {image}");
    bad("registries: docker.io\n", "registries");
    bad("refresher: {pins: [{image: jobs-manager}]}\n", "variable");
    bad("repositories: []\n", "repositories");
    bad(
        "repositories: [{repository: 'docker.io/acme/x:1', image: x}]\n",
        "repository",
    );
    bad("tagVariable: [\n", "c.yaml");
    bad("just a text\n", "c.yaml");
}

#[test]
fn a_missing_config_ends_with_78() {
    for command in ["render", "explain", "config"] {
        let run = Sandbox::new().run([command, "--config", "no-such-file"], &input(PINNED));
        assert_fails(&run, 78, "no-such-file");
    }
}

#[test]
fn completions_are_scripts_that_the_shell_accepts() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = sandbox.run(["completions", shell], b"");
        assert_eq!(run.exit, Some(0), "{shell}");
        assert!(text(&run.stdout).contains("no-cluster"), "{shell}");
    }
    let script = sandbox.run(["completions", "bash"], b"").stdout;
    let mut bash = Command::new("bash");
    bash.arg("-n").stderr(Stdio::piped());
    let checked = run(&mut bash, &script);
    assert_eq!((checked.exit, checked.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_man_page_is_one() {
    let run = Sandbox::new().run(["man"], b"");
    assert_eq!(run.exit, Some(0));
    let page = text(&run.stdout);
    assert!(page.contains(".TH belay 1"), "{page}");
    assert!(page.contains(".SH OPTIONS"), "{page}");
}

/// Nothing of the default vendor is wired in: another chart's names do as well.
#[test]
fn another_vendors_profile_works_on_its_own_chart() {
    let folder = testdata("profiles/acme");
    let path = |name: &str| folder.join(name).display().to_string();
    let stream = read(&folder.join("stream.yaml")).expect("a stream");
    let args = [
        "--config",
        &path("config.yaml"),
        "--record",
        &path("record.yaml"),
    ];
    let rendered = Sandbox::new().run(args, &stream);
    assert_eq!(rendered.exit, Some(0), "{}", rendered.stderr);

    let worker = format!(
        "registry.acme.example:5000/acme/batch/worker@sha256:{}",
        "1".repeat(64)
    );
    let redis = format!("redis@sha256:{}", "2".repeat(64));
    let expected = text(&stream)
        .replacen(
            "image: registry.acme.example:5000/acme/batch/worker:edge",
            &format!("image: {worker}"),
            1,
        )
        .replacen("image: redis:edge", &format!("image: {redis}"), 1);
    assert_eq!(text(&rendered.stdout), expected);

    let explained = Sandbox::new().run(["explain"].iter().chain(&args), &stream);
    let reasons: Vec<&str> = text(&explained.stdout)
        .lines()
        .skip(1)
        .filter_map(|line| line.split("  ").last())
        .map(str::trim)
        .collect();
    assert_eq!(
        reasons[..5],
        [
            "pinned",
            "pinned",
            "refresh-absent",          // KEEP_CANARY, by the fall-back name
            "record-unmaintained (!)", // ticks are skipped and no reference stands for redis
            "mirror",
        ]
    );
}

#[test]
fn the_default_profile_leaves_another_vendors_chart_alone() {
    let stream = read(&testdata("profiles/acme").join("stream.yaml")).expect("a stream");
    let run = Sandbox::new().run(["--no-cluster"], &stream);
    assert_eq!((run.exit, run.stdout), (Some(0), stream));
}

#[test]
fn a_corrupted_edit_is_caught_before_anything_is_written() {
    let run = run_case(&["--corrupt-edit"], PINNED);
    assert_fails(&run, 70, "belay's own check failed");
    let (input, record) = case(PINNED);
    let mut command = Sandbox::new().belay();
    command
        .current_dir("/")
        .env("BELAY_CORRUPT_EDIT", "1")
        .args(["--record", &record]);
    assert_fails(&support::run(&mut command, &input), 70, "own check");
}

#[test]
fn the_corrupting_switch_is_hidden() {
    let help = Sandbox::new().run(["--help"], b"");
    assert!(!text(&help.stdout).contains("corrupt"));
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let (input, record) = case(PINNED);
    let sandbox = Sandbox::new();
    let explain = ["explain", "--record", &record];
    let render = ["render", "--record", &record];
    for args in [&render[..], &explain, &["man"], &["completions", "bash"]] {
        let mut child = sandbox
            .belay()
            .args(args)
            .stdin(Stdio::piped())
            .spawn()
            .expect("belay to start");
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().expect("a pipe");
        // `man` and `completions` may end before they could read.
        let _ = stdin.write_all(&input);
        drop(stdin);
        let output = child.wait_with_output().expect("belay to end");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(text(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn a_terminal_on_stdin_is_wrong_usage() {
    const ON_A_TERMINAL: &str = "
import os, subprocess, sys
master, terminal = os.openpty()
sys.exit(subprocess.run(sys.argv[1:], stdin=terminal, timeout=10).returncode)
";
    for args in [&[][..], &["render"], &["explain"], &["--no-cluster"]] {
        let sandbox = Sandbox::new();
        let mut command = Command::new("python3");
        command
            .args(["-c", ON_A_TERMINAL, env!("CARGO_BIN_EXE_belay")])
            .args(args)
            .env("HOME", sandbox.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        assert_fails(&run(&mut command, b""), 2, "stdin is a terminal");
    }
}

#[test]
fn a_large_foreign_stream_passes_unchanged() {
    let document = b"---\napiVersion: v1\nkind: ConfigMap\ndata:\n  image: docker.io/library/nginx:1.27\n  odd: \"\xff\"\n";
    let input = document.repeat(20 * 1024 * 1024 / document.len());
    let run = Sandbox::new().run(["--no-cluster"], &input);
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout == input, "20 MB have changed");
}

#[test]
fn stdout_stays_empty_whatever_fails() {
    let sandbox = Sandbox::new();
    let (pinned, record) = case(PINNED);
    let (warned, skipping) = case(WARNED);
    let malformed = input("cases/row-2-digest-malformed");
    let lent = input("cases/bytes-alias-where-no-image-stands");
    let broken = input("cases/input-no-yaml-in-a-chunk-of-ours");
    let latin = input("cases/input-not-utf-8-in-a-chunk-of-ours");
    let cases: [(&[u8], i32, &[&str]); 9] = [
        (&malformed, 65, &["--no-cluster"]),
        (&lent, 65, &["--record", &record]),
        (&broken, 65, &["--no-cluster"]),
        (&latin, 65, &["--no-cluster"]),
        (&pinned, 66, &["--record", "no-such-file"]),
        (
            &pinned,
            76,
            &["--namespace", "staging", "--record", &record],
        ),
        (&pinned, 78, &["--config", "no-such-file"]),
        (&pinned, 70, &["--corrupt-edit", "--record", &record]),
        (&warned, 79, &["--strict", "--record", &skipping]),
    ];
    for (input, exit, args) in cases {
        assert_fails(&sandbox.run(args, input), exit, "belay: error: ");
    }
}

/// Helm 3 shows the last line of a failed post-renderer inside its own message.
#[test]
fn an_error_is_one_line_with_its_causes() {
    let run = Sandbox::new().run(["--record", "no-such-file"], &input(PINNED));
    assert_fails(&run, 66, "no-such-file");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("No such file"), "{}", run.stderr);
}

#[test]
fn rbac_prints_what_a_render_may_ask_and_asks_nobody() {
    let manifests = input("cases/def-applied-controller-revision-daemon-set");
    let sandbox = Sandbox::new();
    let bound = sandbox.run(["rbac", "--service-account=ci/deployer"], &manifests);
    assert_eq!(bound.exit, Some(0), "{}", bound.stderr);
    assert_eq!(bound.stderr, "");
    let roles = text(&bound.stdout);
    assert_eq!(roles.matches("\nkind: Role\n").count(), 2, "{roles}");
    assert_eq!(roles.matches("\nkind: RoleBinding\n").count(), 2, "{roles}");
    for name in ["demo-belay", "replicasets", "controllerrevisions"] {
        assert!(roles.contains(name), "{name} in {roles}");
    }
    let stated = sandbox.run(["rbac", "--no-history"], &manifests);
    let roles = text(&stated.stdout);
    assert!(roles.contains("daemonsets"), "{roles}");
    for rule in ["list", "replicasets", "RoleBinding"] {
        assert!(!roles.contains(rule), "{rule} in {roles}");
    }
}

#[test]
fn rbac_of_manifests_that_ask_nothing_prints_nothing() {
    let sandbox = Sandbox::new();
    for manifests in [b"".as_slice(), b"kind: Deployment\n"] {
        let run = sandbox.run(["rbac"], manifests);
        assert_eq!((run.exit, text(&run.stdout)), (Some(0), ""));
        assert!(run.stderr.contains("no Role"), "{}", run.stderr);
    }
    let run = sandbox.run(["rbac", "--service-account=deployer"], b"");
    assert_fails(&run, 2, "NAMESPACE/NAME");
}
