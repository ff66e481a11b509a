//! Options of `helm template` that change what a post-renderer gets, or what becomes of its output.

use std::fs;

use serde_json::Value;

use crate::manifests::{images, name, objects};
use crate::real::{Helm, chart};
use crate::support::{read, run};

const ASSORTED: &str = "testdata/charts/assorted";

/// Helm 3 finds the templates by the `# Source:` lines in what belay wrote, Helm 4 by an annotation.
#[test]
fn show_only_shows_the_pinned_template() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let args = ["--show-only", "charts/sidecar/templates/deployment.yaml"];
        let shown = helm.render(&chart, &args).succeeded();
        let names: Vec<_> = objects(&shown.manifests).iter().map(name).collect();
        assert_eq!(names, ["Deployment/edge-sidecar"], "Helm {}", helm.version);
        let images: Vec<_> = images(&shown.manifests).into_values().collect();
        assert!(images[0].contains("@sha256:"), "{images:?}");
        let all = helm.render(&chart, &[]).succeeded();
        assert_eq!(shown.reasons(), all.reasons(), "belay saw the whole stream");
    }
}

/// Helm 3 writes the files first and then hands over an empty stream; Helm 4 writes what came back.
#[test]
fn output_dir_is_written_before_belay_by_helm_3_and_after_it_by_helm_4() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let folder = helm.folder().join("rendered");
        let option = format!("--output-dir={}", folder.display());
        let rendered = helm.render(&chart, &[&option]).succeeded();
        let file = folder.join("assorted/charts/sidecar/templates/deployment.yaml");
        let text = fs::read_to_string(file).expect("a file of Helm's");
        let image = images(&text).into_values().next().expect("an image");
        if helm.is_3() {
            assert_eq!(image, "docker.io/tracebloc/pods-monitor:prod");
            assert_eq!(rendered.reasons(), Vec::<String>::new());
            assert_eq!(rendered.report["exitCode"], 0);
        } else {
            assert!(image.contains("@sha256:"), "Helm {}: {image}", helm.version);
        }
    }
}

/// Only Helm 3 sends them through belay. They speak of images, and run none.
#[test]
fn included_crds_stay_as_they_are() {
    let chart = chart(ASSORTED);
    let file = read(&chart.join("crds/gadgets.yaml")).expect("the CRD");
    let file = String::from_utf8(file).expect("UTF-8");
    for helm in Helm::all() {
        let without = helm.render(&chart, &[]).succeeded();
        let with = helm.render(&chart, &["--include-crds"]).succeeded();
        assert!(
            with.manifests.contains(file.trim()),
            "Helm {}",
            helm.version
        );
        assert_eq!(images(&with.manifests), images(&without.manifests));
        assert_eq!(with.reasons(), without.reasons());
    }
}

/// Each value is one argument of belay's, as it stands: nobody splits or expands it.
#[test]
fn arguments_reach_belay_as_they_were_written() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let report = helm.folder().join("a=b,c d $HOME \u{e9}.json");
        let report_arg = format!("--post-renderer-args=--report={}", report.display());
        let mut command = helm.template(&chart);
        // In two words as well, where Helm has no option of the name.
        command.args([&report_arg, "--post-renderer-args", "--no-cluster"]);
        let run = run(&mut command, b"");
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        let text = read(&report).expect("a report where it was wanted");
        let report: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(report["sites"][0]["reason"], "offline");
    }
}

#[test]
fn variables_reach_belay_too() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let report = helm.folder().join("by-variable.json");
        let mut command = helm.template(&chart);
        command
            .env("BELAY_NO_CLUSTER", "true")
            .env("BELAY_REPORT", &report);
        let run = run(&mut command, b"");
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        let text = read(&report).expect("a report where it was wanted");
        let report: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(report["sites"][0]["reason"], "offline");
    }
}

/// A second Helm run on the same cluster changes nothing, as `helm diff` wants it.
#[test]
fn two_runs_render_the_same_bytes() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let first = helm.render(&chart, &[]).succeeded();
        let second = helm.render(&chart, &[]).succeeded();
        assert_eq!(first.manifests, second.manifests);
    }
}
