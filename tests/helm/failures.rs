//! A failing belay fails Helm, before it has rendered anything. That it also leaves no release and changes
//! nothing takes a cluster: scripts/scenarios/first-install.sh, reports.sh and lookup-errors.sh.

use crate::real::{Helm, Rendered, chart};
use crate::support::testdata;

const ASSORTED: &str = "testdata/charts/assorted";

/// Helm's own exit code is 1 whatever belay's was. Helm 3 passes on what belay said, Helm 4 drops it: there
/// the report has it.
fn assert_fails(helm: &Helm, rendered: &Rendered, exit: i32, says: &str) {
    let what = format!("Helm {}: {}", helm.version, rendered.stderr);
    assert_eq!(rendered.exit, Some(1), "{what}");
    assert_eq!(rendered.manifests, "", "{what}");
    assert!(
        rendered.stderr.contains("error while running post render"),
        "{what}"
    );
    assert_eq!(rendered.report["exitCode"], exit, "{what}");
    let error = rendered.report["error"].as_str().expect("an error");
    assert!(error.contains(says), "{error}");
    if helm.is_3() {
        assert!(
            rendered
                .stderr
                .contains(&format!("belay: error: {error}\n")),
            "{what}"
        );
        assert!(
            rendered.stderr.contains(&format!("exit status {exit}")),
            "{what}"
        );
    } else {
        assert!(
            rendered
                .stderr
                .contains(r#"plugin "belay" exited with error"#),
            "{what}"
        );
    }
}

#[test]
fn a_record_of_another_release() {
    let record = testdata("cases/record-other-release/record.yaml");
    let record = format!("--record={}", record.display());
    for helm in Helm::all() {
        let rendered = helm.render_with(&chart(ASSORTED), &[], &[&record, "--require-record"]);
        assert_fails(&helm, &rendered, 76, "record");
    }
}

#[test]
fn a_namespace_that_the_manifests_contradict() {
    let record = testdata("example/record.yaml");
    let record = format!("--record={}", record.display());
    for helm in Helm::all() {
        let args = [&*record, "--namespace=elsewhere"];
        let rendered = helm.render_with(&chart(ASSORTED), &[], &args);
        assert_fails(&helm, &rendered, 76, "--namespace elsewhere contradicts");
    }
}

#[test]
fn an_image_that_cannot_be_edited() {
    for helm in Helm::all() {
        let args = ["--set", "uneditable=true"];
        let rendered = helm.render(&chart(ASSORTED), &args);
        assert_fails(
            &helm,
            &rendered,
            65,
            "Pod tracebloc/edge-uneditable, container uneditable",
        );
    }
}

#[test]
fn a_record_file_that_is_not_there() {
    for helm in Helm::all() {
        let rendered = helm.render_with(&chart(ASSORTED), &[], &["--record=no-such-file.yaml"]);
        assert_fails(&helm, &rendered, 66, "no-such-file.yaml");
    }
}

/// The first thing that somebody meets who has no kubeconfig.
#[test]
fn no_cluster_and_no_record() {
    for helm in Helm::all() {
        let rendered = helm.render_with(&chart(ASSORTED), &[], &[]);
        assert_fails(&helm, &rendered, 78, "--no-cluster");
    }
}
