//! The chart: what its values say, and what Helm renders of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::registry::{Image, Tag};

/// The release's namespace, and that of the node agents.
const NAMESPACE: &str = "prod";
const AGENTS: &str = "prod-edge-node-agents";

/// What the operator has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) tag: Tag,
    pub(crate) enabled: bool,
    pub(crate) suspended: bool,
    pub(crate) mirror: bool,
    /// The digest that an image is pinned to. The proxy follows jobs-manager.
    pub(crate) pins: Vec<(Pinnable, String)>,
}

/// What can be pinned by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pinnable {
    Image(Image),
    Proxy,
}

/// A workload of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    JobsManager,
    Proxy,
    Monitor,
}

/// A container of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) workload: Workload,
    pub(crate) list: &'static str,
    pub(crate) container: &'static str,
    pub(crate) image: Image,
}

const fn place(
    workload: Workload,
    list: &'static str,
    container: &'static str,
    image: Image,
) -> Place {
    Place {
        workload,
        list,
        container,
        image,
    }
}

/// Every managed image of the chart.
pub(crate) const PLACES: [Place; 5] = [
    place(
        Workload::JobsManager,
        "initContainers",
        "migrate",
        Image::JobsManager,
    ),
    place(
        Workload::JobsManager,
        "containers",
        "api",
        Image::JobsManager,
    ),
    place(
        Workload::JobsManager,
        "containers",
        "pods-monitor-container",
        Image::PodsMonitor,
    ),
    place(Workload::Proxy, "containers", "proxy", Image::JobsManager),
    place(
        Workload::Monitor,
        "containers",
        "tracebloc-resource-monitor",
        Image::ResourceMonitor,
    ),
];

impl Place {
    /// What pins it.
    pub(crate) fn pinnable(self) -> Pinnable {
        match self.workload {
            Workload::Proxy => Pinnable::Proxy,
            _ => Pinnable::Image(self.image),
        }
    }
}

impl Workload {
    /// In the order in which Helm applies them.
    pub(crate) const ALL: [Self; 3] = [Self::Monitor, Self::JobsManager, Self::Proxy];

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Monitor => "DaemonSet",
            Self::JobsManager | Self::Proxy => "Deployment",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::JobsManager => "edge-jobs-manager",
            Self::Proxy => "edge-requests-proxy",
            Self::Monitor => "edge-resource-monitor",
        }
    }

    pub(crate) fn namespace(self) -> &'static str {
        match self {
            Self::Monitor => AGENTS,
            Self::JobsManager | Self::Proxy => NAMESPACE,
        }
    }

    /// Whether its containers carry the variable that says which tag they were rendered for.
    pub(crate) fn says_its_tag(self) -> bool {
        self != Self::Proxy
    }

    pub(crate) fn places(self) -> impl Iterator<Item = Place> {
        PLACES
            .into_iter()
            .filter(move |place| place.workload == self)
    }
}

impl Values {
    pub(crate) fn new() -> Self {
        Self {
            tag: Tag::Prod,
            enabled: true,
            suspended: false,
            mirror: false,
            pins: Vec::new(),
        }
    }

    pub(crate) fn registry(&self) -> &'static str {
        if self.mirror {
            "mirror.example"
        } else {
            "docker.io"
        }
    }

    /// The digest that a place is pinned to.
    pub(crate) fn pin(&self, what: Pinnable) -> Option<&str> {
        let own = self.pins.iter().find(|(pinned, _)| *pinned == what);
        match (own, what) {
            (Some((_, digest)), _) => Some(digest),
            (None, Pinnable::Proxy) => self.pin(Pinnable::Image(Image::JobsManager)),
            (None, Pinnable::Image(_)) => None,
        }
    }

    /// What the refresher is told not to touch.
    pub(crate) fn skipped(&self) -> BTreeSet<Pinnable> {
        let all = Image::ALL.map(Pinnable::Image).into_iter();
        all.chain([Pinnable::Proxy])
            .filter(|what| self.pin(*what).is_some())
            .collect()
    }

    /// The image that the chart renders.
    pub(crate) fn image(&self, place: Place) -> String {
        let repository = format!("{}/tracebloc/{}", self.registry(), place.image.name());
        match self.pin(place.pinnable()) {
            Some(digest) => format!("{repository}@{digest}"),
            None => format!("{repository}:{}", self.tag.name()),
        }
    }

    /// The stream that Helm passes to a post-renderer.
    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        for workload in Workload::ALL {
            let _ = write!(
                out,
                "---\napiVersion: apps/v1\nkind: {}\nmetadata:\n  name: {}\n  namespace: {}\n  \
                 labels: {{app.kubernetes.io/instance: edge}}\nspec:\n  template:\n    spec:\n",
                workload.kind(),
                workload.name(),
                workload.namespace()
            );
            for list in ["initContainers", "containers"] {
                let places: Vec<_> = workload
                    .places()
                    .filter(|place| place.list == list)
                    .collect();
                if places.is_empty() {
                    continue;
                }
                let _ = writeln!(out, "      {list}:");
                for place in places {
                    let _ = write!(
                        out,
                        "        - name: {}\n          image: {}\n",
                        place.container,
                        self.image(place)
                    );
                }
            }
        }
        if self.enabled {
            self.render_refresher(&mut out);
        }
        out
    }

    fn render_refresher(&self, out: &mut String) {
        let _ = write!(
            out,
            "---\napiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: {REFRESHER}\n  \
             namespace: {NAMESPACE}\n  labels:\n    app.kubernetes.io/instance: edge\n    \
             app.kubernetes.io/component: image-refresh\nspec:\n  suspend: {}\n  jobTemplate: \
             {{spec: {{template: {{spec: {{containers: [{{name: refresh, image: \
             docker.io/tracebloc/belay:1, env: [",
            self.suspended
        );
        for (name, value) in self.variables() {
            let _ = write!(out, "{{name: {name}, value: \"{value}\"}}, ");
        }
        out.push_str("]}]}}}}\n");
    }

    /// The refresher's variables.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let skipped = self.skipped();
        let flag = |what| u8::from(skipped.contains(&what)).to_string();
        let image = |image| flag(Pinnable::Image(image));
        vec![
            ("IMAGE_TAG", self.tag.name().to_owned()),
            ("IMAGE_REGISTRY", self.registry().to_owned()),
            ("DEPLOYMENT_NAME", Workload::JobsManager.name().to_owned()),
            (
                "REQUESTS_PROXY_DEPLOYMENT",
                Workload::Proxy.name().to_owned(),
            ),
            ("JOBS_MANAGER_PINNED", image(Image::JobsManager)),
            ("PODS_MONITOR_PINNED", image(Image::PodsMonitor)),
            ("RESOURCE_MONITOR_PINNED", image(Image::ResourceMonitor)),
            ("REQUESTS_PROXY_PINNED", flag(Pinnable::Proxy)),
        ]
    }
}

/// The refresher's name.
pub(crate) const REFRESHER: &str = "edge-image-refresh";
