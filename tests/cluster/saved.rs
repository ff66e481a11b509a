//! An API server's answers from saved objects, to hold the cluster against record files.

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::server::{Act, FaultyApiServer, Seen};

/// A fake that has the objects of some YAML streams: GET by name, and LIST one object a page, of all that
/// there is in a namespace, whatever the selector.
pub(crate) struct SavedApiServer;

impl SavedApiServer {
    /// Of several objects of one name the first counts.
    pub(crate) fn start(streams: &[&[u8]], forbid_lists: bool) -> FaultyApiServer {
        let objects: Vec<Value> = streams.iter().flat_map(|stream| objects(stream)).collect();
        FaultyApiServer::start(move |request, _| {
            let (path, query) = split(request);
            match query {
                None => get(&objects, path),
                Some(_) if forbid_lists => Act::status(403, "Forbidden", "no"),
                Some(query) => list(&objects, path, query),
            }
        })
    }
}

fn objects(stream: &[u8]) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_slice(stream);
    let documents = documents.map(|document| Value::deserialize(document).unwrap());
    documents
        .flat_map(|document| match document["items"].as_array() {
            Some(items) => items.clone(),
            None => vec![document],
        })
        .collect()
}

fn split(request: &Seen) -> (&str, Option<&str>) {
    match request.path.split_once('?') {
        Some((path, query)) if !query.is_empty() => (path, Some(query)),
        Some((path, _)) => (path, None),
        None => (&request.path, None),
    }
}

/// `…/namespaces/NAMESPACE/RESOURCE` of an object.
fn is_in(object: &Value, collection: &str) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let resource = format!("{}s", kind.to_lowercase());
    collection.ends_with(&format!("/namespaces/{namespace}/{resource}"))
}

fn get(objects: &[Value], path: &str) -> Act {
    let (collection, name) = path.rsplit_once('/').unwrap();
    let found = objects
        .iter()
        .find(|object| is_in(object, collection) && object["metadata"]["name"] == *name);
    found.map_or_else(Act::not_found, |object| Act::json(200, object))
}

fn list(objects: &[Value], path: &str, query: &str) -> Act {
    let found: Vec<_> = objects
        .iter()
        .filter(|object| is_in(object, path))
        .collect();
    let at = query
        .split('&')
        .find_map(|part| part.strip_prefix("continue="));
    let at: usize = at.map_or(0, |at| at.parse().unwrap());
    let next = match at + 1 < found.len() {
        true => (at + 1).to_string(),
        false => String::new(),
    };
    let kind = match path.ends_with("/replicasets") {
        true => "ReplicaSetList",
        false => "ControllerRevisionList",
    };
    // As the API server has it, an item does not say what the list says.
    let mut item: Vec<Value> = found.get(at).map(|it| (*it).clone()).into_iter().collect();
    for fields in item.iter_mut().filter_map(Value::as_object_mut) {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    let metadata = json!({"continue": next});
    let list = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "items": item});
    Act::json(200, &list)
}
