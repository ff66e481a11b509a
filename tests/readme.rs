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

#[test]
fn every_option_that_it_names_exists() {
    let help = ["render", "explain", "config"]
        .map(|command| belay(&[command, "--help"]))
        .concat();
    for word in readme().split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        // Options of other programs that the examples call.
        let foreign = [
            "post-renderer",
            "post-renderer-args",
            "reuse-values",
            "path",
            "show-managed-fields",
        ];
        if let Some(option) = word
            .strip_prefix("--")
            .filter(|name| name.starts_with(char::is_alphanumeric) && !foreign.contains(name))
        {
            assert!(
                help.contains(&format!("--{option}")),
                "README.md names --{option}"
            );
        }
    }
}
