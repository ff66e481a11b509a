//! Namespaces: what one may be called, and which is meant where a document leaves it to whoever applies
//! it.

use super::connection::{Connection, Target};
use super::environment::Environment;
use super::error::LookupError;
use crate::policy::UsedNamespace;

/// Whether a namespace may have this name: a DNS label (RFC 1123), as the API server demands
/// (`ValidateNamespaceName` of apimachinery).
#[must_use]
pub fn is_namespace(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&name.len())
        && name.bytes().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Checks a namespace that is about to be used.
///
/// # Errors
/// [`LookupError::Unusable`], naming where it comes from.
pub(super) fn check(used: &UsedNamespace) -> Result<(), LookupError> {
    if is_namespace(&used.name) {
        return Ok(());
    }
    Err(LookupError::Unusable {
        what: format!("the namespace `{}` (from {})", used.name, used.source),
        cause: "it is no name that a namespace can have".to_owned(),
        remedy: "give the release's namespace with --namespace".to_owned(),
    })
}

/// The namespace that Helm would most likely apply such a document in: `--namespace`, else
/// `HELM_NAMESPACE`, else what the connection says, else `default` (design.md section 6). All but
/// the first are guesses, since Helm does not tell its `-n` and a `HELM_NAMESPACE` may be stale.
pub(super) fn used(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_dns_label() {
        for name in ["a", "0", "kube-system", "a--b", &"x".repeat(63)] {
            assert!(is_namespace(name), "{name}");
        }
        for name in [
            "",
            "-",
            "a-",
            "-a",
            "A",
            "a.b",
            "a/b",
            "a b",
            "ä",
            "a\n",
            "..",
            &"x".repeat(64),
        ] {
            assert!(!is_namespace(name), "{name}");
        }
    }
}
