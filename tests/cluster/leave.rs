//! `--on-lookup-error=leave`: what cannot be asked leaves the tags, and is told.

use std::fs;

use serde_json::json;

use crate::binary::Case;
use crate::server::Act;
use crate::support::testdata;

fn forbidden() -> Case {
    Case::by(|_, _| Act::status(403, "Forbidden", "no"))
}

#[test]
fn a_refused_lookup_leaves_the_tags_with_a_warning() {
    let mut case = forbidden().arg("--on-lookup-error=leave");
    let run = case.run();
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    let input = fs::read(testdata("cases/row-19-live-tag/input.yaml")).unwrap();
    assert_eq!(run.stdout, input);
    assert!(run.stderr.starts_with("belay: warning: "), "{}", run.stderr);
    let site = &case.report()["sites"][0];
    assert_eq!(site["reason"], json!("lookup-failed"));
    assert_eq!(site["outcome"], json!("left"));
    assert!(
        site["warnings"][0]
            .as_str()
            .unwrap()
            .contains("jobs-manager"),
        "{site}"
    );
    assert_eq!(site["evidence"]["release"], json!("demo"));
    assert_eq!(site["evidence"].get("recorded"), None);
}

#[test]
fn without_the_option_it_stops_and_strict_refuses_the_warning() {
    forbidden().fails(77, &[]);
    let mut strict = forbidden().arg("--on-lookup-error=leave").arg("--strict");
    let run = strict.run();
    assert_eq!(run.exit, Some(79), "{}", run.stderr);
    assert!(run.stdout.is_empty());
    assert!(run.stderr.contains("(lookup-failed)"), "{}", run.stderr);
}
