//! `belay explain`.

use crate::support::Sandbox;
use crate::{PINNED, WARNED, case, expected, input, run_case, text};

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
    assert_eq!(all.matches("(left)").count(), 1, "{all}");
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
        "kept-live",
        "nothing-to-keep",
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
