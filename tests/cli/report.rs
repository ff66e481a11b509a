//! What is written down about a run: `--report` and `belay last-error`.

use std::fs;

use crate::support::{Sandbox, read};
use crate::{PINNED, assert_fails, case, expected, input, run_case, text};

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
    sandbox.make_named_pipe("pipe");
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
fn the_last_failure_is_kept_for_last_error() {
    let sandbox = Sandbox::new();
    let none = sandbox.run(["last-error"], b"");
    assert_eq!((none.exit, text(&none.stdout)), (Some(0), ""));
    assert!(
        none.stderr.contains("no failed run is kept"),
        "{}",
        none.stderr
    );

    let failed = sandbox.run(["--record", "no-such-file"], &input(PINNED));
    assert_eq!(failed.exit, Some(66));
    // What succeeds afterwards, and what explain says on a terminal, takes nothing away.
    assert_eq!(sandbox.run(["--no-cluster"], b"a: 1\n").exit, Some(0));
    assert_eq!(
        sandbox.run(["explain", "--record", "neither"], b"").exit,
        Some(66)
    );
    let kept = sandbox.run(["last-error"], b"");
    let said = text(&kept.stdout);
    assert!(
        said.contains("failed with exit code 66") && said.contains("no-such-file"),
        "{said}"
    );

    let kept = sandbox.run(["last-error", "-o", "json"], b"");
    let kept: serde_json::Value = serde_json::from_slice(&kept.stdout).expect("JSON");
    assert_eq!(kept["schema"], "belay.dev/last-error/v1");
    assert_eq!(kept["report"]["exitCode"], 66);
    assert!(kept["time"].as_str().expect("a time").ends_with('Z'));
}

#[test]
fn a_failure_that_cannot_be_kept_is_only_a_warning_more() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path().join("file"), "").expect("a file");
    let run = sandbox.run(
        ["--record", "no-such-file", "--state", "file/below"],
        &input(PINNED),
    );
    assert_fails(
        &run,
        66,
        "warning: cannot keep this failure for belay last-error",
    );
}
