//! Record files: saved objects, as kubectl prints them.

use std::path::{Path, PathBuf};

use crate::file::{self, FileError};
use crate::policy::{Malformed, SavedObjects, SavedTextError};

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
    let path = path.to_owned();
    let text = match file::read(&path, LARGEST, None) {
        Ok(text) => text,
        Err(source) => return Err(RecordFileError::Unreadable { path, source }),
    };
    SavedObjects::parse(&text).map_err(|error| match error {
        SavedTextError::NotYaml(message) => RecordFileError::NotYaml { path, message },
        SavedTextError::Malformed(source) => RecordFileError::Malformed { path, source },
        SavedTextError::Empty => RecordFileError::Empty { path },
    })
}
