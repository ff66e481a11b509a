//! The namespace for documents that leave it to whoever applies them.

use super::connection::{Connection, Target};
use super::environment::Environment;
use crate::policy::UsedNamespace;

/// The namespace that Helm would most likely apply such a document in: `--namespace`, else
/// `HELM_NAMESPACE`, else what the connection says, else `default` (design.md section 6). All but
/// the first are guesses, since Helm does not tell its `-n` and a `HELM_NAMESPACE` may be stale.
pub(super) fn namespace(
    connection: &Connection,
    environment: &Environment,
    target: &Target,
) -> UsedNamespace {
    let guess = |name: &str, source: &str| UsedNamespace {
        name: name.to_owned(),
        source: source.to_owned(),
        guessed: true,
    };
    if let Some(name) = connection
        .namespace
        .as_deref()
        .filter(|name| !name.is_empty())
    {
        UsedNamespace {
            name: name.to_owned(),
            source: "--namespace".to_owned(),
            guessed: false,
        }
    } else if let Some(name) = &environment.helm.namespace {
        guess(name, "HELM_NAMESPACE")
    } else if let Some((name, source)) = target.namespace() {
        guess(name, source)
    } else {
        guess("default", "the default")
    }
}
