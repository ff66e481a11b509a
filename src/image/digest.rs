//! A validated sha256 digest.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

/// Lower-case hex only and nothing around it: containerd and the registries refuse anything else.
static SHA256: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\Asha256:[a-f0-9]{64}\z").ok());

/// What go-digest, and so the kubelet, accepts after `@`: the algorithms it registers, in full length.
static ANY_ALGORITHM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\A(sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})\z").ok()
});

/// The digest of an image manifest: `sha256:` and 64 lower-case hex digits, nothing else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(String);

/// Why a text is no [`Digest`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no digest (sha256: and 64 lower-case hex digits)")]
pub struct InvalidDigest {
    /// The text as it was found.
    pub text: String,
}

impl Digest {
    /// Takes `text` if it is exactly a sha256 digest. Blanks and line breaks around it are an error:
    /// a record with a newline was not written by a refresher.
    pub fn parse(text: &str) -> Result<Self, InvalidDigest> {
        if SHA256
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(text))
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidDigest {
                text: text.to_owned(),
            })
        }
    }

    /// The digest as it stands in a reference, `sha256:…`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a container runtime could resolve `text` as a digest. Wider than [`Digest::parse`]:
    /// an operator may pin by sha512, a refresher records sha256 only.
    pub(super) fn is_startable(text: &str) -> bool {
        ANY_ALGORITHM
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(text))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn a_whole_lower_case_sha256_is_a_digest() {
        let text = format!("sha256:{HEX}");
        assert_eq!(Digest::parse(&text).unwrap().as_str(), text);
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            String::new(),
            "sha256:".to_owned(),
            "sha256:e2e-sentinel".to_owned(),
            format!("sha256:{}", &HEX[1..]),
            format!("sha256:{HEX}0"),
            format!("sha256:{}", HEX.to_uppercase()),
            format!("SHA256:{HEX}"),
            format!("sha256:{HEX}\n"),
            format!(" sha256:{HEX}"),
            format!("sha512:{HEX}{HEX}"),
            format!("sha256:{}g", &HEX[1..]),
        ] {
            assert_eq!(Digest::parse(&text), Err(InvalidDigest { text }));
        }
    }
}
