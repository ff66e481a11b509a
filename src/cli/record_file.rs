//! Record files: saved objects, as kubectl prints them.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;

use crate::file::{self, FileError};
use crate::policy::{Malformed, SavedObjects};

/// All objects of a cluster: etcd's default quota (`--quota-backend-bytes`, 2 GiB).
const LARGEST: u64 = 2 << 30;

/// A record file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum RecordFileError {
    /// It cannot be opened or read, or is no file.
    #[error(
        "cannot read the record file {path}: give a file made by kubectl get -o yaml --show-managed-fields"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: FileError,
    },
    /// It is neither YAML nor JSON.
    #[error("the record file {path} cannot be read as YAML or JSON: {message}")]
    NotYaml {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        message: String,
    },
    /// It holds something that is no Kubernetes object.
    #[error("the record file {path} is not what kubectl get -o yaml prints")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Malformed,
    },
    /// It holds nothing to take answers from.
    #[error(
        "the record file {path} holds no Deployment, DaemonSet, CronJob or other object that belay reads: save the record Deployment of the release"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Reads all record files.
pub(super) fn load(paths: &[PathBuf]) -> Result<SavedObjects, RecordFileError> {
    let mut saved = SavedObjects::default();
    for path in paths {
        saved.extend(load_one(path)?);
    }
    Ok(saved)
}

fn load_one(path: &Path) -> Result<SavedObjects, RecordFileError> {
    let bytes = file::read(path, LARGEST, None).map_err(|source| RecordFileError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let not_yaml = |message: String| RecordFileError::NotYaml {
        path: path.to_owned(),
        message,
    };
    let text = String::from_utf8(bytes).map_err(|error| not_yaml(error.to_string()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut saved = SavedObjects::default();
    let mut objects = 0;
    for document in serde_yaml::Deserializer::from_str(text) {
        // Through YAML's own value, which refuses a key written twice: two outputs of kubectl in one file
        // without `---` between them are two Lists in one mapping, of which the last would win.
        let value = serde_yaml::Value::deserialize(document)
            .map_err(|error| not_yaml(error.to_string()))?;
        let value = serde_json::to_value(value).map_err(|error| not_yaml(error.to_string()))?;
        if value.is_object() {
            objects += 1;
            saved
                .add(value)
                .map_err(|source| RecordFileError::Malformed {
                    path: path.to_owned(),
                    source,
                })?;
        } else if !value.is_null() {
            return Err(not_yaml("a document is no Kubernetes object".to_owned()));
        }
    }
    if objects == 0 || !saved.is_readable() {
        return Err(RecordFileError::Empty {
            path: path.to_owned(),
        });
    }
    Ok(saved)
}
