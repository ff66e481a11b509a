//! Hooks: Helm 3 shows them to no post-renderer, Helm 4 shows them all.

use crate::manifests::{images, is_hook, name, objects};
use crate::real::{Helm, chart};

const ASSORTED: &str = "testdata/charts/assorted";
const HOOKS: [&str; 3] = [
    "Deployment/edge-hook-deployment",
    "Job/edge-hook-job",
    "Pod/edge-hook-pod",
];

fn hooks(stream: &str) -> Vec<String> {
    let objects = objects(stream);
    let mut names: Vec<_> = objects
        .iter()
        .filter(|object| is_hook(object))
        .map(name)
        .collect();
    names.sort();
    names
}

#[test]
fn hooks_stay_hooks_and_keep_their_tags() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let rendered = helm.render(&chart, &[]).succeeded();
        assert_eq!(hooks(&rendered.manifests), HOOKS, "Helm {}", helm.version);
        for ((object, _), image) in images(&rendered.manifests) {
            if HOOKS.contains(&&*object) {
                assert_eq!(image, "docker.io/tracebloc/jobs-manager:prod");
            }
        }
        let seen = if helm.is_3() { 0 } else { HOOKS.len() };
        let reported = rendered.reasons();
        let reported = reported.iter().filter(|reason| *reason == "hook hook");
        assert_eq!(reported.count(), seen, "Helm {}", helm.version);
    }
}

/// What Helm itself takes for a hook after belay, it also leaves out on request; nothing else goes along.
#[test]
fn no_hooks_leaves_out_the_same_objects_as_ever() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let all = helm.render(&chart, &[]).succeeded();
        let rest = helm.render(&chart, &["--no-hooks"]).succeeded();
        let names = |stream: &str| objects(stream).iter().map(name).collect::<Vec<_>>();
        let mut expected = names(&all.manifests);
        expected.retain(|name| !HOOKS.contains(&&**name));
        assert_eq!(names(&rest.manifests), expected, "Helm {}", helm.version);
        assert_eq!(
            rest.reasons(),
            all.reasons(),
            "Helm 4 shows belay hooks nevertheless"
        );
    }
}

/// For Helm 3 that is an almost empty stream, which is no failure.
#[test]
fn a_chart_with_nothing_but_hooks_renders_them() {
    let chart = chart(ASSORTED);
    for helm in Helm::all() {
        let args = ["--set", "global.hooksOnly=true"];
        let rendered = helm.render(&chart, &args).succeeded();
        assert_eq!(hooks(&rendered.manifests), HOOKS, "Helm {}", helm.version);
    }
}
