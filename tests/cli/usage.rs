//! Arguments, variables, and what is wrong usage.

use std::process::{Command, Stdio};

use crate::support::{Sandbox, run};
use crate::{PINNED, WARNED, assert_fails, case, expected, input, run_case, text};

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
