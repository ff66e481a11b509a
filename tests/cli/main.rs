//! The command line's contract: options, variables, exit codes, and what goes to which stream.
#![allow(
    clippy::expect_used,
    reason = "helpers of tests fail by panicking, as tests do"
)]

#[path = "../support/mod.rs"]
mod support;

mod config;
mod explain;
mod messages;
mod rbac;
mod report;
mod safety;
mod usage;

use std::ffi::OsStr;
use std::process::Command;

use support::{Run, Sandbox, read, run, testdata};

/// A tag, a recorded digest and an active refresher.
const PINNED: &str = "cases/row-19-live-tag";
/// A record that outcomes are warned about.
const WARNED: &str = "cases/row-14-skip-streak";

impl Sandbox {
    /// Makes a named pipe, into which nobody writes.
    fn make_named_pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path().join(name)).status();
        assert!(made.expect("mkfifo").success());
    }

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
