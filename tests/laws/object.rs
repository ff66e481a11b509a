//! Kubernetes objects: workloads of every kind, lists of them, the refresher, and what is not belay's.

use super::node::{Kind, Node};
use super::tape::Tape;

/// Images as charts write them. All but the last few are managed.
const IMAGES: [&str; 10] = [
    "docker.io/tracebloc/jobs-manager:prod",
    "docker.io/tracebloc/pods-monitor:prod",
    "tracebloc/resource-monitor:prod",
    "tracebloc/jobs-manager",
    "index.docker.io/tracebloc/pods-monitor:1.0",
    "mirror.example:5000/cache/tracebloc/jobs-manager:prod",
    "tracebloc/pods-monitor:prod@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "nginx:1.27",
    "busybox",
    "not an: image",
];

/// Texts that are hard on a careless reader.
const TEXTS: [&str; 14] = [
    "x",
    "",
    "yes",
    "it's",
    "say \"so\"",
    "a: b",
    "# no comment",
    "- item",
    "{a, [b]}",
    "é 😀",
    "image: docker.io/tracebloc/jobs-manager:prod",
    "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - image: tracebloc/jobs-manager:prod",
    "---\nkind: Deployment\n...",
    "back\\slash",
];

const KINDS: [&str; 12] = [
    "Deployment",
    "DaemonSet",
    "StatefulSet",
    "Pod",
    "Job",
    "CronJob",
    "PodTemplate",
    "List",
    "DeploymentList",
    "Rollout",
    "ConfigMap",
    "CustomResourceDefinition",
];

/// An object of any kind.
pub(crate) fn object(tape: &mut Tape<'_>) -> Node {
    let kind = tape.pick(&KINDS);
    match kind {
        "List" | "DeploymentList" => {
            let count = tape.below(3);
            let items = (0..count).map(|_| item(tape, kind)).collect::<Vec<_>>();
            named(kind, tape, [("items", Node::sequence(items))])
        }
        "ConfigMap" => {
            let data = [
                ("image", image(tape)),
                ("more.yaml", text(tape)),
                ("text", text(tape)),
            ];
            named(kind, tape, [("data", Node::mapping(data))])
        }
        "CustomResourceDefinition" => {
            let spec = [("image", image(tape)), ("containers", containers(tape))];
            named(kind, tape, [("spec", Node::mapping(spec))])
        }
        kind => workload(kind, tape),
    }
}

/// The refresher of the release.
pub(crate) fn refresher(suspend: bool) -> Node {
    let label = |key, value| (key, Node::text(value));
    let labels = Node::mapping([
        label("app.kubernetes.io/component", "image-refresh"),
        label("app.kubernetes.io/instance", "edge"),
    ]);
    let metadata = Node::mapping([
        ("name", Node::text("edge-image-refresh")),
        ("labels", labels),
    ]);
    let variable =
        |name, value| Node::mapping([("name", Node::text(name)), ("value", Node::text(value))]);
    let container = Node::mapping([
        ("name", Node::text("refresh")),
        ("image", Node::text("docker.io/tracebloc/belay:1")),
        ("env", Node::sequence([variable("IMAGE_TAG", "prod")])),
    ]);
    let pod = Node::mapping([("containers", Node::sequence([container]))]);
    let spec = [
        (
            "suspend",
            Node::text(if suspend { "true" } else { "false" }),
        ),
        ("jobTemplate", below(&["spec", "template", "spec"], pod)),
    ];
    Node::mapping([
        ("apiVersion", Node::text("batch/v1")),
        ("kind", Node::text("CronJob")),
        ("metadata", metadata),
        ("spec", Node::mapping(spec)),
    ])
}

fn item(tape: &mut Tape<'_>, list: &str) -> Node {
    let mut item = workload("Deployment", tape);
    if list != "List"
        && tape.rarely(2)
        && let Kind::Mapping(entries) = &mut item.kind
    {
        // As the API server gives the items of a list of one kind.
        entries.retain(|(key, _)| !matches!(key.as_str(), "kind" | "apiVersion"));
    }
    item
}

fn workload(kind: &str, tape: &mut Tape<'_>) -> Node {
    let pod = pod(tape);
    let body = match kind {
        "Pod" => ("spec", pod),
        "PodTemplate" => ("template", below(&["spec"], pod)),
        "CronJob" => (
            "spec",
            below(&["jobTemplate", "spec", "template", "spec"], pod),
        ),
        _ => ("spec", below(&["template", "spec"], pod)),
    };
    let mut fields = vec![body];
    if tape.rarely(4) {
        fields.push(("status", Node::mapping([("image", image(tape))])));
    }
    let mut object = named(kind, tape, fields);
    if tape.rarely(4)
        && let Kind::Mapping(entries) = &mut object.kind
    {
        // Helm 4 sorts keys, so that the kind can come last.
        entries.reverse();
    }
    object
}

fn named<'k>(
    kind: &str,
    tape: &mut Tape<'_>,
    fields: impl IntoIterator<Item = (&'k str, Node)>,
) -> Node {
    let name = tape.pick(&["edge-jobs-manager", "edge-requests-proxy", "other"]);
    let mut metadata = vec![("name", Node::text(name))];
    if tape.rarely(3) {
        metadata.push(("namespace", Node::text("prod")));
    }
    if tape.below(4) < 3 {
        let labels = [("app.kubernetes.io/instance", Node::text("edge"))];
        metadata.push(("labels", Node::mapping(labels)));
    }
    if tape.rarely(4) {
        metadata.push(("annotations", Node::mapping([("note", text(tape))])));
    }
    let version = if kind == "Pod" { "v1" } else { "apps/v1" };
    let mut entries = vec![
        ("apiVersion", Node::text(version)),
        ("kind", Node::text(kind)),
        ("metadata", Node::mapping(metadata)),
    ];
    entries.extend(fields);
    Node::mapping(entries)
}

fn pod(tape: &mut Tape<'_>) -> Node {
    let mut spec = vec![("containers", containers(tape))];
    if tape.rarely(3) {
        spec.insert(0, ("initContainers", containers(tape)));
    }
    if tape.rarely(4) {
        let image = Node::mapping([("reference", image(tape))]);
        let volume = Node::mapping([("name", Node::text("model")), ("image", image)]);
        spec.push(("volumes", Node::sequence([volume])));
    }
    if tape.rarely(4) {
        spec.push(("extra", text(tape)));
    }
    Node::mapping(spec)
}

fn containers(tape: &mut Tape<'_>) -> Node {
    let count = tape.below(3) + usize::from(!tape.rarely(8));
    let mut items = Vec::new();
    for index in 0..count {
        let name = format!("c{index}");
        let mut fields = vec![("name", Node::text(name)), ("image", image(tape))];
        if tape.rarely(3) {
            let variable = [("name", Node::text("IMAGE")), ("value", image(tape))];
            fields.push(("env", Node::sequence([Node::mapping(variable)])));
        }
        if tape.rarely(4) {
            fields.push(("args", Node::sequence([text(tape), text(tape)])));
        }
        if tape.rarely(6) {
            fields.push(("nothing", Node::mapping([])));
        }
        if tape.rarely(3) {
            fields.swap(0, 1);
        }
        items.push(Node::mapping(fields));
    }
    Node::sequence(items)
}

fn image(tape: &mut Tape<'_>) -> Node {
    if tape.rarely(24) {
        Node::new(Kind::Null)
    } else {
        Node::text(tape.pick(&IMAGES))
    }
}

fn text(tape: &mut Tape<'_>) -> Node {
    Node::text(tape.pick(&TEXTS))
}

fn below(path: &[&str], node: Node) -> Node {
    let keys = path.iter().rev();
    keys.fold(node, |inner, key| Node::mapping([(*key, inner)]))
}
