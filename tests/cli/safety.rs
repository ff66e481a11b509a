//! Nothing half done, nothing that hangs, nothing lost.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::{self, Sandbox};
use crate::{PINNED, WARNED, assert_fails, case, input, run_case, text};

#[test]
fn a_named_file_that_never_ends_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.make_named_pipe("pipe");
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
    assert_fails(&run, 65, "line 1 holds more than Helm would read");
}

/// Found by repeating lines: 4,000 containers took 4 seconds and 760 MB, and 8,000 four times that.
#[test]
fn merge_keys_that_multiply_each_other_are_refused_as_helm_refuses_them() {
    let managed = "- {name: a, image: tracebloc/jobs-manager:prod}\n";
    let many = |line: &dyn Fn(usize) -> String| (1..8000).map(line).collect::<String>();
    let chain = many(&|n| format!("- &m{n} {{<<: *m{}}}\n", n - 1));
    let names = (0..8000).map(|n| format!("*m{n}")).collect::<Vec<_>>();
    let list =
        many(&|n| format!("- &m{n} {{a{n}: 1}}\n")) + &format!("- &m [{}]\n", names.join(","));
    for (shared, merged) in [(chain, "m7999"), (list, "m")] {
        let users = many(&|n| format!("- {{name: c{n}, <<: *{merged}}}\n"));
        let stream = format!(
            "kind: Pod\nx:\n- &m0 {{b: 1}}\n{shared}spec:\n  containers:\n  {}",
            (managed.to_owned() + &users).replace('\n', "\n  ")
        );
        let run = Sandbox::new().run(["--no-cluster"], stream.as_bytes());
        assert_fails(&run, 65, "line 1 holds more than Helm would read");
    }
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
