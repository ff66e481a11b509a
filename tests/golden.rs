//! The golden cases of testdata/cases: each folder is one input with what belay must make of it, byte
//! for byte. testdata/README.md says how a case is made.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as tests do"
)]

#[path = "support/compare.rs"]
mod compare;
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use compare::difference;
use support::{Run, Sandbox, read, run, testdata};

/// The groups, by the first word of a case's name. Each is a test of its own.
const GROUPS: [&str; 11] = [
    "row", "def", "form", "release", "option", "record", "kind", "bytes", "input", "stream", "live",
];

/// A case folder.
struct Case {
    name: String,
    folder: PathBuf,
    input: Vec<u8>,
    expected: Vec<u8>,
    report: Vec<u8>,
    stderr: String,
    exit: i32,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Case {
    fn load(folder: &Path) -> Self {
        let must = |name: &str| {
            read(&folder.join(name)).unwrap_or_else(|| panic!("{}: no {name}", folder.display()))
        };
        let text = |name: &str| {
            let bytes = read(&folder.join(name)).unwrap_or_default();
            String::from_utf8(bytes).expect("UTF-8")
        };
        let place = folder.display().to_string();
        let mut args: Vec<String> = text("args")
            .lines()
            .map(|line| line.replace("[CASE]", &place))
            .collect();
        let records = std::iter::once("record.yaml".to_owned())
            .chain((2..).map(|number| format!("record-{number}.yaml")))
            .map(|name| folder.join(name))
            .take_while(|path| path.exists());
        for record in records {
            args.push("--record".to_owned());
            args.push(record.display().to_string());
        }
        Self {
            name: name_of(folder),
            input: must("input.yaml"),
            expected: must("expected.yaml"),
            report: must("report.json"),
            stderr: text("stderr").replace("[CASE]", &place),
            exit: match text("exit").trim() {
                "" => 0,
                number => number.parse().expect("a number in `exit`"),
            },
            args,
            env: text("env")
                .lines()
                .map(|line| line.replace("[CASE]", &place))
                .filter_map(|line| {
                    let (name, value) = line.split_once('=')?;
                    Some((name.to_owned(), value.to_owned()))
                })
                .collect(),
            folder: folder.to_owned(),
        }
    }

    /// belay with this case's arguments behind `first`.
    fn command(&self, sandbox: &Sandbox, first: &[&str]) -> Command {
        let mut command = sandbox.belay();
        command
            .args(first)
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// All that is wrong with this case.
    fn problems(&self) -> Vec<String> {
        let sandbox = Sandbox::new();
        let mut problems = Vec::new();

        let plain = run(&mut self.command(&sandbox, &[]), &self.input);
        problems.extend(self.same_run("belay", &plain));

        let file = sandbox.path().join("report.json");
        let path = file.display().to_string();
        let reporting = ["render", "--report", &path];
        let reported = run(&mut self.command(&sandbox, &reporting), &self.input);
        problems.extend(self.same_run("render --report", &reported));
        let report = self.without_place(&read(&file).unwrap_or_default());
        problems.extend(difference("report.json", &self.report, &report));

        let explain = ["explain", "-o", "json"];
        let explained = run(&mut self.command(&sandbox, &explain), &self.input);
        problems.extend(self.exit_differs("explain", &explained));
        if !explained.stdout.is_empty() {
            let (report, found) = (decisions(&self.report), decisions(&explained.stdout));
            problems.extend(difference("explain -o json", &report, &found));
        }

        if self.exit == 0 && self.expected != self.input {
            let again = run(&mut self.command(&sandbox, &[]), &self.expected);
            problems.extend(self.exit_differs("belay on its own output", &again));
            problems.extend(difference(
                "belay on its own output",
                &self.expected,
                &again.stdout,
            ));
        }
        if self.exit != 0 && !self.expected.is_empty() {
            problems.push("a failing case expects output".to_owned());
        }
        problems
    }

    fn same_run(&self, what: &str, found: &Run) -> Vec<String> {
        let stdout = difference(&format!("{what}, stdout"), &self.expected, &found.stdout);
        let stderr = difference(
            &format!("{what}, stderr"),
            self.stderr.as_bytes(),
            found.stderr.as_bytes(),
        );
        let exit = self.exit_differs(what, found);
        exit.into_iter().chain(stdout).chain(stderr).collect()
    }

    fn exit_differs(&self, what: &str, found: &Run) -> Option<String> {
        (found.exit != Some(self.exit)).then(|| {
            format!(
                "{what}: exit {:?} instead of {}, stderr: {}",
                found.exit, self.exit, found.stderr
            )
        })
    }

    /// A report as it is committed: no place on this machine, no version.
    fn without_place(&self, report: &[u8]) -> Vec<u8> {
        let version = concat!(r#""version": ""#, env!("CARGO_PKG_VERSION"), '"');
        String::from_utf8_lossy(report)
            .replace(&self.folder.display().to_string(), "[CASE]")
            .replace(version, r#""version": "[VERSION]""#)
            .into_bytes()
    }
}

/// What `render` and `explain` must agree on: the report from its sites on, without the count that
/// `render` does not have.
fn decisions(report: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(report);
    text.split_inclusive('\n')
        .skip_while(|line| !line.starts_with("  \"sites\""))
        .filter(|line| !line.starts_with("  \"unmanaged\""))
        .collect::<String>()
        .into_bytes()
}

fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(testdata("cases"))
        .expect("testdata/cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    folders
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().expect("a name");
    name.to_string_lossy().into_owned()
}

fn group_of(name: &str) -> &str {
    name.split('-').next().unwrap_or_default()
}

/// Runs the cases of one group and lists all that fail.
fn check(group: &str) {
    let folders: Vec<PathBuf> = folders()
        .into_iter()
        .filter(|folder| group_of(&name_of(folder)) == group)
        .collect();
    assert!(!folders.is_empty(), "no case is called {group}-…");
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failed: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = folders
            .chunks(folders.len().div_ceil(threads))
            .map(|share| scope.spawn(|| share.iter().filter_map(|f| failure(f)).collect()))
            .collect();
        let results = workers.into_iter().map(|worker| worker.join());
        results
            .flat_map(|failed: thread::Result<Vec<String>>| failed.expect("a worker"))
            .collect()
    });
    assert!(
        failed.is_empty(),
        "{} of {} cases failed\n\n{}",
        failed.len(),
        folders.len(),
        failed.join("\n\n")
    );
}

/// What is wrong with the case in `folder`, if anything is.
fn failure(folder: &Path) -> Option<String> {
    let case = Case::load(folder);
    let problems = case.problems();
    (!problems.is_empty()).then(|| format!("{}:\n  {}", case.name, problems.join("\n  ")))
}

#[test]
fn rows_of_the_decision_table() {
    check("row");
}

#[test]
fn definitions_below_the_table() {
    check("def");
}

#[test]
fn form_of_what_is_written() {
    check("form");
}

#[test]
fn sites_and_their_releases() {
    check("release");
}

#[test]
fn options_that_change_decisions() {
    check("option");
}

#[test]
fn records_from_files() {
    check("record");
}

#[test]
fn images_without_a_record() {
    check("live");
}

#[test]
fn kinds_with_pod_specs() {
    check("kind");
}

#[test]
fn bytes_and_yaml_styles() {
    check("bytes");
}

#[test]
fn bad_and_empty_input() {
    check("input");
}

#[test]
fn streams_of_real_helms() {
    check("stream");
}

#[test]
fn every_case_belongs_to_a_group() {
    let found: BTreeSet<_> = folders()
        .iter()
        .map(|folder| group_of(&name_of(folder)).to_owned())
        .collect();
    let known: BTreeSet<_> = GROUPS.map(str::to_owned).into();
    assert_eq!(found, known);
}

/// scripts/golden knows the expected bytes by other means than belay.
#[test]
fn expected_bytes_are_the_input_with_its_changes() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/golden");
    let output = Command::new("python3")
        .arg(script)
        .arg("--check")
        .output()
        .expect("python3");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What all of the above rests on: one flipped byte, wherever it is, is seen and named.
#[test]
fn a_flipped_byte_is_seen_and_its_line_named() {
    let folder = testdata("cases/row-19-live-tag");
    let expected = read(&folder.join("expected.yaml")).expect("a case");
    assert_eq!(difference("stdout", &expected, &expected), None);
    for at in 0..expected.len() {
        let mut flipped = expected.clone();
        flipped[at] ^= 1;
        let line = expected[..at].split(|&byte| byte == b'\n').count();
        let told = difference("stdout", &flipped, &expected).expect("a difference");
        assert!(
            told.starts_with(&format!("stdout: byte {at} (line {line}) differs")),
            "{told}"
        );
    }
    assert!(difference("stdout", &expected, &expected[1..]).is_some());
    assert!(difference("stdout", &expected, &expected[..expected.len() - 1]).is_some());
    assert!(difference("stdout", b"", b"\n").is_some());
}

/// The same through the harness, in every group: a case whose expectation is off by one byte fails,
/// whichever file it is in.
#[test]
fn a_flipped_expectation_fails_its_case() {
    let flips: [fn(&mut Case); 4] = [
        |case| flip(&mut case.expected),
        |case| flip(&mut case.report),
        |case| case.stderr.push('.'),
        |case| case.exit ^= 1,
    ];
    for group in GROUPS {
        let mut folders = folders().into_iter();
        let first = folders.find(|folder| group_of(&name_of(folder)) == group);
        let folder = first.expect("a case of every group");
        assert_eq!(failure(&folder), None);
        for (index, flip) in flips.iter().enumerate() {
            let mut case = Case::load(&folder);
            flip(&mut case);
            assert!(!case.problems().is_empty(), "{}, {index}", case.name);
        }
    }
}

/// One bit of the byte in the middle; a byte where there is none.
fn flip(bytes: &mut Vec<u8>) {
    let middle = bytes.len() / 2;
    match bytes.get_mut(middle) {
        Some(byte) => *byte ^= 1,
        None => bytes.push(b'\n'),
    }
}
