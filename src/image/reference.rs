//! A reference as Docker's grammar reads it, with the text it was written as.

use super::Digest;

/// The registry of a reference that names none, as containerd and the kubelet take it.
const DEFAULT_REGISTRY: &str = "docker.io";
/// Docker's older name of the same registry; containerd rewrites it to `docker.io`.
const LEGACY_REGISTRY: &str = "index.docker.io";
/// Where single-component repositories of Docker Hub live: `nginx` is `docker.io/library/nginx`.
const OFFICIAL: &str = "library";
/// distribution/reference refuses longer paths (RepositoryNameTotalLengthMax). The registry does not count.
const LONGEST_PATH: usize = 255;

/// Whether `path` is one of distribution/reference: components of lower-case alphanumeric runs, joined by
/// one dot, one or two underscores, or dashes. Written out, since a regex would take longer to compile
/// than a whole stream of manifests takes to read.
fn is_path(path: &str) -> bool {
    path.split('/').all(|component| {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        component.starts_with(is_word)
            && component.ends_with(is_word)
            && component.split(is_word).all(|joint| {
                matches!(joint, "" | "." | "_" | "__") || joint.bytes().all(|byte| byte == b'-')
            })
    })
}

/// Whether `host` is a domain name or a bracketed IPv6 address, with an optional port.
fn is_host(host: &str) -> bool {
    let is_name = |name: &str| {
        name.split('.').all(|label| {
            label.starts_with(|c: char| c.is_ascii_alphanumeric())
                && label.ends_with(|c: char| c.is_ascii_alphanumeric())
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    };
    let is_address = |text: &str| {
        let inside = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        inside.is_some_and(|inside| {
            !inside.is_empty()
                && inside
                    .bytes()
                    .all(|byte| byte.is_ascii_hexdigit() || byte == b':')
        })
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => is_name(name) || is_address(name),
        _ => is_name(host) || is_address(host),
    }
}

/// Whether `tag` is one: at most 128 characters, the first no dot and no dash.
fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.len() <= 128
        && tag.starts_with(is_word)
        && tag.chars().all(|c| is_word(c) || c == '.' || c == '-')
}

/// Whether `text` is what distribution/reference takes for the ID of a local image: a bare sha256.
fn is_identifier(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A repository in the form that two references are compared by: registry and path spelled out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository {
    registry: String,
    path: String,
}

impl Repository {
    /// Reads a repository (no tag, no digest) and normalises it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (host, path) = match text.split_once('/') {
            // The rule of distribution/reference: a first component is a host when it has a dot, a
            // colon or an upper-case letter, or is `localhost`.
            Some((first, rest))
                if first.contains(['.', ':'])
                    || first == "localhost"
                    || first.chars().any(|c| c.is_ascii_uppercase()) =>
            {
                (Some(first), rest)
            }
            _ => (None, text),
        };
        if !is_path(path) || host.is_some_and(|host| !is_host(host)) {
            return None;
        }
        let registry = match host {
            None | Some(LEGACY_REGISTRY) => DEFAULT_REGISTRY,
            Some(host) => host,
        };
        let path = if registry == DEFAULT_REGISTRY && !path.contains('/') {
            format!("{OFFICIAL}/{path}")
        } else {
            path.to_owned()
        };
        (path.len() <= LONGEST_PATH).then(|| Self {
            registry: registry.to_owned(),
            path,
        })
    }

    /// The registry host, `docker.io` where none was written.
    #[must_use]
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The path below the registry, `library/` included.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether `path` (such as `tracebloc/jobs-manager`) stands as whole components at the end of
    /// this repository's path, as it does in a pull-through mirror's `cache/tracebloc/jobs-manager`.
    #[must_use]
    pub fn ends_with(&self, path: &str) -> bool {
        self.path
            .strip_suffix(path)
            .is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }

    /// The same registry under the name that this type compares by.
    #[must_use]
    pub fn normalize_registry(host: &str) -> &str {
        match host {
            "" | LEGACY_REGISTRY => DEFAULT_REGISTRY,
            host => host,
        }
    }
}

/// What follows `@` in a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Nothing: the tag decides.
    None,
    /// A digest that a container runtime accepts.
    Digest(String),
    /// A text that no container runtime accepts.
    Malformed(String),
}

/// An image reference with the text it was written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    original: String,
    name_length: usize,
    repository: Repository,
    tag: Option<String>,
    pin: Pin,
}

impl Reference {
    /// Reads `[host/]path[:tag][@digest]`. None where repository or tag break the grammar, so that
    /// no runtime could start it and no comparison holds; a broken digest is kept as [`Pin::Malformed`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if is_identifier(text) {
            return None;
        }
        let (before, pin) = match text.split_once('@') {
            None => (text, Pin::None),
            Some((before, digest)) if Digest::is_startable(digest) => {
                (before, Pin::Digest(digest.to_owned()))
            }
            Some((before, digest)) => (before, Pin::Malformed(digest.to_owned())),
        };
        // A colon before the last slash belongs to a port.
        let last = before.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match before[last..].find(':') {
            None => (before, None),
            Some(colon) => (&before[..last + colon], Some(&before[last + colon + 1..])),
        };
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return None;
        }
        Some(Self {
            repository: Repository::parse(name)?,
            original: text.to_owned(),
            name_length: name.len(),
            tag: tag.map(str::to_owned),
            pin,
        })
    }

    /// The text as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.original
    }

    /// The repository as it was written, without tag and digest.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.original[..self.name_length]
    }

    /// The repository in the form to compare by.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The tag; `latest` where there is neither tag nor digest, as every runtime takes it.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        match (&self.tag, &self.pin) {
            (Some(tag), _) => Some(tag),
            (None, Pin::None) => Some("latest"),
            (None, _) => None,
        }
    }

    /// What follows `@`.
    #[must_use]
    pub fn pin(&self) -> &Pin {
        &self.pin
    }

    /// The sha256 digest, if the reference carries one.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        match &self.pin {
            Pin::Digest(text) => Digest::parse(text).ok(),
            Pin::None | Pin::Malformed(_) => None,
        }
    }
}

/// The grammar itself is tested against the runtimes' own library, by tests/references.rs.
#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn same(a: &str, b: &str) -> bool {
        Reference::parse(a).unwrap().repository() == Reference::parse(b).unwrap().repository()
    }

    #[test]
    fn a_port_is_no_tag() {
        let reference = Reference::parse("mirror.example:5000/cache/tracebloc/x").unwrap();
        assert_eq!(reference.repository().registry(), "mirror.example:5000");
        assert_eq!(reference.tag(), Some("latest"));
        assert!(reference.repository().ends_with("tracebloc/x"));
    }

    #[test]
    fn docker_hub_has_three_spellings() {
        assert!(same("tracebloc/x", "docker.io/tracebloc/x:prod"));
        assert!(same("tracebloc/x", "index.docker.io/tracebloc/x"));
        assert!(same("nginx", "docker.io/library/nginx:1"));
        assert!(!same("tracebloc/x", "ghcr.io/tracebloc/x"));
        assert!(!same("tracebloc/x", "localhost/tracebloc/x"));
    }

    #[test]
    fn a_path_ends_in_whole_components() {
        let repository = |text| Repository::parse(text).unwrap();
        assert!(repository("tracebloc/x").ends_with("tracebloc/x"));
        assert!(!repository("nottracebloc/x").ends_with("tracebloc/x"));
        assert!(!repository("tracebloc/x-y").ends_with("tracebloc/x"));
    }

    #[test]
    fn tag_and_digest_stand_apart() {
        let text = format!("docker.io/tracebloc/x:prod@{DIGEST}");
        let reference = Reference::parse(&text).unwrap();
        assert_eq!(reference.name(), "docker.io/tracebloc/x");
        assert_eq!(reference.tag(), Some("prod"));
        assert_eq!(reference.digest().unwrap().as_str(), DIGEST);
        assert_eq!(reference.as_str(), text);
    }

    #[test]
    fn a_broken_digest_is_kept_as_broken() {
        for bad in [
            "sha256:abc",
            "",
            "sha256:",
            "md5:00",
            &DIGEST.to_uppercase(),
        ] {
            let reference = Reference::parse(&format!("tracebloc/x@{bad}")).unwrap();
            assert_eq!(reference.pin(), &Pin::Malformed(bad.to_owned()));
            assert_eq!(reference.digest(), None);
        }
    }

    #[test]
    fn a_sha512_pin_is_a_pin_but_no_recordable_digest() {
        let text = format!("tracebloc/x@sha512:{}", "0".repeat(128));
        let reference = Reference::parse(&text).unwrap();
        assert!(matches!(reference.pin(), Pin::Digest(_)));
        assert_eq!(reference.digest(), None);
    }
}
