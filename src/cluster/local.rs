//! The files that a kubeconfig and Helm's variables point to, read by the rules of [`crate::file`].
//!
//! kube would read them itself, whatever they are: a FIFO would block it, `/dev/zero` fill the memory.

use std::path::Path;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{AuthInfo, Cluster, Kubeconfig, KubeconfigError};

use super::error::LookupError;
use crate::file::{self, FileError, Kind};

/// The longest kubeconfig: 2,500 contexts with a cluster and a user of their own, each with three
/// certificates or keys of 2 kB. The other files are part of one context.
const LIMIT: u64 = 16 << 20;

/// Reads a kubeconfig. The error is the cause alone, without a word of what is in the file: it holds
/// credentials, and the parser quotes the line.
pub(super) fn kubeconfig(path: &Path, deadline: Instant) -> Result<Kubeconfig, String> {
    let result = match file::examine(path, LIMIT).map_err(|error| error.to_string())? {
        // kube's own reading also makes paths in the file absolute.
        Kind::Regular => Kubeconfig::read_from(path),
        Kind::Pipe => Kubeconfig::from_yaml(&text(path, deadline)?),
    };
    result.map_err(|error| match error {
        KubeconfigError::ReadConfig(error, _) => error.to_string(),
        KubeconfigError::Parse(error) => match error.location() {
            Some(place) => format!("it is no kubeconfig at line {}", place.line()),
            None => "it is no kubeconfig".to_owned(),
        },
        other => other.to_string(),
    })
}

/// Reads a text. The error is the cause alone.
pub(super) fn text(path: &Path, deadline: Instant) -> Result<String, String> {
    let bytes = read(path, deadline).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())
}

/// Puts the certificates and keys that `cluster` and `user` point to into them, as if the kubeconfig
/// had held them itself.
pub(super) fn inline(
    cluster: &mut Cluster,
    user: &mut AuthInfo,
    deadline: Instant,
) -> Result<(), LookupError> {
    let load = |what: &str, path: &str| match read(Path::new(path), deadline) {
        Ok(bytes) => Ok(STANDARD.encode(bytes)),
        Err(error) => Err(LookupError::Unusable {
            what: what.to_owned(),
            cause: format!("{path}: {error}"),
            remedy: "mend the kubeconfig, or name another context with --context".to_owned(),
        }),
    };
    // What stands in the kubeconfig itself comes first, and an empty text counts as none.
    let is_set = |text: &&String| !text.is_empty();
    if let Some(path) = cluster
        .certificate_authority
        .take()
        .filter(|it| !it.is_empty())
        && cluster
            .certificate_authority_data
            .as_ref()
            .filter(is_set)
            .is_none()
    {
        let data = load("the cluster's certificate authority", &path)?;
        cluster.certificate_authority_data = Some(data);
    }
    if let Some(path) = user.client_certificate.take().filter(|it| !it.is_empty())
        && user
            .client_certificate_data
            .as_ref()
            .filter(is_set)
            .is_none()
    {
        let data = load("the user's client certificate", &path)?;
        user.client_certificate_data = Some(data);
    }
    if let Some(path) = user.client_key.take().filter(|it| !it.is_empty())
        && user.client_key_data.is_none()
    {
        user.client_key_data = Some(load("the user's client key", &path)?.into());
    }
    Ok(())
}

fn read(path: &Path, deadline: Instant) -> Result<Vec<u8>, FileError> {
    file::read(path, LIMIT, Some(deadline))
}
