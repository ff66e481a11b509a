//! The README says what the program does.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail the test")]

use std::path::Path;
use std::process::Command;

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

fn belay(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_belay"))
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn its_table_of_reasons_is_the_programs_own() {
    let table = belay(&["explain", "--reasons", "--output", "markdown"]);
    assert!(
        readme().contains(&table),
        "put the output of `belay explain --reasons -o markdown` into README.md"
    );
}

/// Options of other programs that the examples call.
const FOREIGN: &[&str] = &[
    "locked",
    "no-hooks",
    "output-dir",
    "path",
    "post-renderer",
    "post-renderer-args",
    "reset-then-reuse-values",
    "show-managed-fields",
];

#[test]
fn every_option_that_it_names_exists() {
    let commands: [&[&str]; 5] = [
        &["render"],
        &["explain"],
        &["config"],
        &["rbac"],
        &["plugin", "install"],
    ];
    let help = commands.map(|command| belay(&[command, &["--help"]].concat()));
    let help = help.concat();
    let readme = readme();
    let words = readme.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let options = words
        .filter_map(|word| word.strip_prefix("--"))
        .filter(|name| name.starts_with(char::is_alphanumeric) && !FOREIGN.contains(name));
    for option in options {
        let option = format!("--{option}");
        assert!(help.contains(&option), "README.md names {option}");
    }
}

#[test]
fn every_script_and_scenario_that_it_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = readme();
    let mut found = 0;
    for (at, _) in readme.match_indices("scripts/") {
        let line = readme[at..].split(['`', '\n']).next().unwrap();
        let mut words = line.split_whitespace();
        let script = words.next().unwrap();
        assert!(root.join(script).is_file(), "README.md names {script}");
        if let Some(scenario) = words.find(|word| *word != "run" && *word != "-v") {
            let file = format!("scripts/scenarios/{scenario}.sh");
            assert!(root.join(&file).is_file(), "README.md names {file}");
            found += 1;
        }
    }
    assert!(found > 0, "README.md names scenarios");
}
