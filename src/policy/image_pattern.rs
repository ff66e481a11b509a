//! Globs over repositories: `--image` and the profile's `liveImages`.

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::image::Repository;

/// What starts a part of a glob that is not literal, and what ends it.
const OPENING: [char; 4] = ['*', '?', '[', '{'];
const CLOSING: [char; 4] = ['*', '?', ']', '}'];

/// What Docker leaves out of a short name: `nginx` is `docker.io/library/nginx`.
const UNWRITTEN: [&str; 2] = ["docker.io/", "library/"];

/// A glob over normalised repositories, such as `ghcr.io/acme/*`. `*` stays within one component, `**`
/// does not, `{a,b}` and `[ab]` choose. Repositories on docker.io match also without `docker.io/` and
/// `docker.io/library/`, as people write them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ImagePattern {
    text: String,
    glob: GlobMatcher,
}

/// A pattern that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImagePatternError {
    /// No glob.
    #[error("`{text}` is no glob: {why}")]
    Glob {
        /// The pattern.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// It would match no repository.
    #[error(
        "`{0}` names no repository: write one without scheme, tag or digest, such as ghcr.io/acme/*"
    )]
    NoRepository(String),
}

impl TryFrom<String> for ImagePattern {
    type Error = ImagePatternError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // A tag's colon comes after the last slash, a port's before it.
        let last = text.rsplit('/').next().unwrap_or_default();
        if last.is_empty()
            || last.contains(':')
            || text.contains(['@', '\\', ' '])
            || text.contains("//")
        {
            return Err(ImagePatternError::NoRepository(text));
        }
        let glob = GlobBuilder::new(&text).literal_separator(true).build();
        match glob {
            Ok(glob) => Ok(Self {
                glob: glob.compile_matcher(),
                text,
            }),
            Err(error) => Err(ImagePatternError::Glob {
                why: error.kind().to_string(),
                text,
            }),
        }
    }
}

impl std::str::FromStr for ImagePattern {
    type Err = ImagePatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.to_owned().try_into()
    }
}

impl From<ImagePattern> for String {
    fn from(pattern: ImagePattern) -> Self {
        pattern.text
    }
}

impl PartialEq for ImagePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ImagePattern {}

impl ImagePattern {
    /// Whether `repository` is meant.
    #[must_use]
    pub fn matches(&self, repository: &Repository) -> bool {
        let full = format!("{}/{}", repository.registry(), repository.path());
        let mut name = full.as_str();
        if self.glob.is_match(name) {
            return true;
        }
        UNWRITTEN
            .iter()
            .any(|unwritten| match name.strip_prefix(unwritten) {
                Some(short) => {
                    name = short;
                    self.glob.is_match(name)
                }
                None => false,
            })
    }

    /// A text that every image contains whose repository this matches, however short it is written;
    /// empty where there is none.
    #[must_use]
    pub(super) fn needle(&self) -> &str {
        let before = self.text.find(OPENING).unwrap_or(self.text.len());
        let prefix = written(&self.text[..before]);
        let after = self.text.rfind(CLOSING).map_or(0, |at| at + 1);
        // The last component is always written; those before it may be docker.io's.
        let suffix = self.text[after..].rsplit('/').next().unwrap_or_default();
        if suffix.len() > prefix.len() {
            suffix
        } else {
            prefix
        }
    }
}

/// What of a literal beginning stands in every image that matches.
fn written(prefix: &str) -> &str {
    let mut rest = prefix;
    for unwritten in UNWRITTEN {
        if unwritten.starts_with(rest) {
            return "";
        }
        rest = rest.strip_prefix(unwritten).unwrap_or(rest);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> ImagePattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_matches_normalised_repositories() {
        for (glob, image, expected) in [
            ("ghcr.io/acme/*", "ghcr.io/acme/api", true),
            ("ghcr.io/acme/*", "ghcr.io/acme/team/api", false),
            ("ghcr.io/acme/**", "ghcr.io/acme/team/api", true),
            ("acme/{api,web}", "docker.io/acme/web", true),
            ("docker.io/acme/api", "acme/api", true),
            ("acme/api", "index.docker.io/acme/api", true),
            ("acme/api", "ghcr.io/acme/api", false),
            ("nginx", "docker.io/library/nginx", true),
            ("library/nginx", "nginx", true),
            ("docker.io/library/*", "nginx", true),
            ("docker.io/lib*/*", "nginx", true),
            ("localhost:5000/*", "localhost:5000/api", true),
            ("*", "ghcr.io/api", false),
            ("**", "ghcr.io/api", true),
        ] {
            let repository = Repository::parse(image).unwrap();
            assert_eq!(
                pattern(glob).matches(&repository),
                expected,
                "{glob} {image}"
            );
        }
    }

    #[test]
    fn the_needle_stands_in_every_image_however_short_it_is_written() {
        for (glob, needle) in [
            ("ghcr.io/acme/*", "ghcr.io/acme/"),
            ("docker.io/acme/*", "acme/"),
            ("docker.io/library/ng*", "ng"),
            ("docker.io/lib*/*", ""),
            ("doc*", ""),
            ("library/nginx", "nginx"),
            ("*/acme/api", "api"),
            ("*.io/acme/api-{a,b}", ""),
            ("g*/acme/api", "api"),
            ("{a,b}/c", "c"),
            ("acme/api", "acme/api"),
        ] {
            assert_eq!(pattern(glob).needle(), needle, "{glob}");
        }
    }

    #[test]
    fn what_names_no_repository_is_refused() {
        for text in [
            "",
            "acme/",
            "acme/api:1",
            "acme/api@sha256:1",
            "https://acme/api",
            "a b",
            "a[",
            r"a\*",
        ] {
            assert!(text.parse::<ImagePattern>().is_err(), "{text}");
        }
    }
}
