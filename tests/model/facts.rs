//! What belay would see of the simulated cluster, and what it decides by that: the real code, asked as
//! the command line asks it.

use std::collections::BTreeSet;

use belay::manifest::{Breadth, ObjectKey, scan};
use belay::policy::{
    self, Answer, Decision, Facts, LiveObject, Policy, Profile, Refreshing, Revision, Source,
};
use serde_json::{Map, Value, json};

use super::chart::{PLACES, Place, REFRESHER, Values, Workload};
use super::cluster::{Cluster, HELM, Manager, Object, Refresher, Template};

/// Decides about the chart's stream for `values`.
pub(crate) fn decide(cluster: &Cluster, values: &Values) -> Vec<(Place, Decision)> {
    let profile = Profile::default();
    let policy = Policy {
        source: Source::Cluster,
        refreshing: Refreshing::Auto,
        require_record: false,
        namespace: None,
    };
    let text = values.render();
    let stream = scan(text.as_bytes(), &profile.needles(), Breadth::Marked).expect("YAML");
    let survey = policy::survey(&stream, &profile, &policy, None);
    let questions = survey.questions();
    let mut facts = Facts::default();
    for key in questions.objects() {
        facts.objects.insert(key.clone(), answer(cluster, key));
    }
    for workload in Workload::ALL {
        if let Some(object) = cluster.objects.get(&workload) {
            let past = object
                .history
                .iter()
                .map(|template| revision(workload, template));
            facts
                .histories
                .insert(key_of(workload), Answer::Found(past.collect()));
        }
    }
    let verdict = survey.decide(&facts).expect("the record is this release's");
    let decisions = verdict.decisions.into_iter();
    decisions
        .filter_map(|decision| {
            let site = &stream.sites[decision.site];
            let object = &stream.documents[site.document].object;
            let mut places = PLACES.into_iter();
            let place = places.find(|place| {
                place.workload.name() == object.name && place.container == site.container.name
            });
            Some((place?, decision))
        })
        .collect()
}

fn key_of(workload: Workload) -> ObjectKey {
    ObjectKey {
        api_version: "apps/v1".to_owned(),
        kind: workload.kind().to_owned(),
        namespace: Some(workload.namespace().to_owned()),
        name: workload.name().to_owned(),
    }
}

fn answer(cluster: &Cluster, key: &ObjectKey) -> Answer<LiveObject> {
    let object = if key.name == REFRESHER {
        cluster.refresher.as_ref().map(cron_job)
    } else {
        let mut objects = cluster.objects.iter();
        let found = objects.find(|(workload, _)| workload.name() == key.name);
        found.map(|(workload, object)| live(*workload, object))
    };
    object.map_or(Answer::NotFound, |object| {
        Answer::Found(LiveObject::from_json(&object))
    })
}

fn cron_job(refresher: &Refresher) -> Value {
    let variables = refresher.values.variables().into_iter();
    let variables = variables.map(|(name, value)| json!({"name": name, "value": value}));
    let container = json!({"name": "refresh", "image": "docker.io/tracebloc/belay:1",
        "env": variables.collect::<Vec<_>>()});
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": REFRESHER, "namespace": "prod", "labels": {
            "app.kubernetes.io/instance": "edge", "app.kubernetes.io/component": "image-refresh"}},
        "spec": {"suspend": refresher.values.suspended, "jobTemplate": {"spec": {"template": {
            "spec": {"containers": [container]}}}}},
    })
}

/// A workload as `kubectl get -o json --show-managed-fields` shows it.
fn live(workload: Workload, object: &Object) -> Value {
    let mut annotations = object.annotations.clone();
    let revision = "deployment.kubernetes.io/revision";
    for (key, value) in [
        ("meta.helm.sh/release-name", "edge".to_owned()),
        ("meta.helm.sh/release-namespace", "prod".to_owned()),
        (revision, object.revision.to_string()),
    ] {
        if key != revision || workload.kind() == "Deployment" {
            annotations.insert(key.to_owned(), value);
        }
    }
    let mut managers: BTreeSet<Manager> = BTreeSet::from([HELM]);
    managers.extend(object.running.values().flat_map(|running| &running.owners));
    let fields = managers.into_iter().map(|manager| managed(object, manager));
    let template = object.history.last().expect("it rolled out");
    json!({
        "apiVersion": "apps/v1", "kind": workload.kind(),
        "metadata": {
            "name": workload.name(), "namespace": workload.namespace(),
            "labels": {"app.kubernetes.io/instance": "edge"},
            "annotations": annotations,
            "managedFields": fields.collect::<Vec<_>>(),
        },
        "spec": {"template": pod_template(workload, template)},
    })
}

fn managed(object: &Object, manager: Manager) -> Value {
    let mut spec = Map::new();
    for (place, running) in &object.running {
        if running.owners.contains(manager) {
            let list = spec.entry(format!("f:{}", place.list)).or_insert(json!({}));
            list[format!("k:{{\"name\":\"{}\"}}", place.container)] = json!({"f:image": {}});
        }
    }
    let mut fields = json!({"f:spec": {"f:template": {"f:spec": spec}}});
    if manager == HELM {
        fields["f:metadata"] = json!({"f:annotations": {"f:meta.helm.sh/release-name": {}}});
    }
    json!({"manager": manager, "operation": "Update", "fieldsV1": fields})
}

fn revision(workload: Workload, template: &Template) -> Revision {
    Revision::from_json(&json!({
        "kind": "ReplicaSet", "spec": {"template": pod_template(workload, template)}}))
}

fn pod_template(workload: Workload, template: &Template) -> Value {
    let mut spec = json!({"containers": []});
    for place in workload.places() {
        let mut container = json!({"name": place.container, "image": template.images[&place]});
        if let Some(tag) = template.tag {
            container["env"] = json!([{"name": "CLIENT_ENV", "value": tag.name()}]);
        }
        if spec[place.list].is_null() {
            spec[place.list] = json!([]);
        }
        spec[place.list]
            .as_array_mut()
            .expect("a list")
            .push(container);
    }
    json!({"spec": spec})
}
