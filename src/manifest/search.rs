//! Which chunks are worth parsing (yaml.md section 5, where the rule is shown to be complete).
//!
//! YAML never joins strings. Only a double-quoted escape can make image text out of other bytes, and
//! only `!!binary` can encode it, so a chunk without the bytes of a needle, without an escape inside an
//! image-like token and without such a tag cannot hold a value that contains a needle.

use aho_corasick::packed;
use memchr::{memchr_iter, memmem, memrchr};

/// Tags that may resolve to `!!binary`.
const BINARY_TAGS: [&[u8]; 4] = [b"!!b", b"!!%", b"!<", b"%TAG"];

/// How far an image-like token is followed before it counts as one: longer than any image
/// (255 bytes) written in eight-digit escapes (`\U0000002f`, ten bytes each), rounded up.
const LONGEST_TOKEN: usize = 8 * 1024;

/// What is searched for. A chunk holds a needle where it holds each of its texts.
pub struct Needles {
    images: Vec<Vec<u8>>,
    refresher: Needle,
    record: Needle,
    searcher: Option<packed::Searcher>,
}

/// Texts that stand together in one document.
type Needle = Vec<Vec<u8>>;

/// What a chunk may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Nothing of ours: it passes unread.
    None,
    /// Something that helps, such as the record Deployment's name: read if it can be read.
    Helpful,
    /// A managed image or the refresher: it must be readable.
    Required,
}

impl Needles {
    /// `images`: texts of which every managed image contains one. `refresher` and `record`: texts that
    /// the refresher's and the record Deployment's documents contain.
    #[must_use]
    pub fn new<'a>(
        images: impl IntoIterator<Item = &'a str>,
        refresher: &[&str],
        record: &[&str],
    ) -> Self {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let images: Vec<_> = images.into_iter().map(bytes).collect();
        let searcher = packed::Searcher::new(images.iter().map(Vec::as_slice).chain(BINARY_TAGS));
        Self {
            images,
            refresher: refresher.iter().copied().map(bytes).collect(),
            record: record.iter().copied().map(bytes).collect(),
            searcher,
        }
    }

    pub(super) fn interest(&self, chunk: &[u8]) -> Interest {
        let holds = |needle: &[u8]| memmem::find(chunk, needle).is_some();
        let holds_all = |needle: &Needle| needle.iter().all(|text| holds(text));
        let image = match &self.searcher {
            Some(searcher) => searcher.find(chunk).is_some(),
            // More needles than the packed searcher takes: one by one is slower and as right.
            None => self
                .images
                .iter()
                .map(Vec::as_slice)
                .chain(BINARY_TAGS)
                .any(holds),
        };
        if image || hides_image_text(chunk) || holds_all(&self.refresher) {
            Interest::Required
        } else if holds_all(&self.record) {
            Interest::Helpful
        } else {
            Interest::None
        }
    }
}

/// Whether a backslash escapes image text inside a double-quoted token of image characters.
fn hides_image_text(chunk: &[u8]) -> bool {
    let mut last = 0;
    memchr_iter(b'\\', chunk).any(|at| {
        // A token that was looked at when its first backslash came is not looked at again.
        let quote = memrchr(b'"', &chunk[last..at]).map(|quote| last + quote);
        last = at;
        quote.is_some_and(|quote| is_image_token(&chunk[quote + 1..]))
    })
}

/// Whether `text` begins with image characters and escapes up to a quote.
fn is_image_token(text: &[u8]) -> bool {
    let mut rest = text;
    while text.len() - rest.len() < LONGEST_TOKEN {
        match rest.first() {
            Some(b'"') => return true,
            Some(&byte) if is_image(byte) => rest = &rest[1..],
            Some(b'\\') => match escape_length(rest) {
                Some(length) => rest = &rest[length..],
                None => return false,
            },
            _ => return false,
        }
    }
    true
}

fn is_image(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._/:@-".contains(&byte)
}

/// The length of an escape at the start of `text` that can stand for image text, or for nothing at all
/// (an escaped line break with the blanks after it). Hex digits are image characters themselves.
fn escape_length(text: &[u8]) -> Option<usize> {
    let line_break = match text.get(1..)? {
        [b'x' | b'u' | b'U' | b'/', ..] => return Some(2),
        [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
        _ => return None,
    };
    let blanks = text[1 + line_break..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    Some(1 + line_break + blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interest(chunk: &str) -> Interest {
        let needles = Needles::new(
            ["tracebloc/x"],
            &["image-refresh", "CronJob"],
            &["-jobs-manager", "Deployment"],
        );
        needles.interest(chunk.as_bytes())
    }

    #[test]
    fn a_needle_in_plain_sight() {
        assert_eq!(
            interest("image: docker.io/tracebloc/x:prod"),
            Interest::Required
        );
        let record = "kind: Deployment\nname: demo-jobs-manager\n";
        assert_eq!(interest(record), Interest::Helpful);
        assert_eq!(
            interest("kind: Service\nname: demo-jobs-manager"),
            Interest::None
        );
        assert_eq!(
            interest(&format!("{record}image: tracebloc/x")),
            Interest::Required
        );
        let refresher = "kind: CronJob\nlabels: {component: image-refresh}\n";
        assert_eq!(interest(refresher), Interest::Required);
        assert_eq!(interest("kind: Role\nname: image-refresh"), Interest::None);
        assert_eq!(interest("image: nginx"), Interest::None);
    }

    #[test]
    fn escapes_inside_an_image_like_token() {
        for hidden in [
            r#"image: "tracebloc\u002fx""#,
            r#"image: "tracebloc\x2fx""#,
            r#"image: "tracebloc\/x""#,
            r#"image: "\U00000074racebloc/y""#,
            "image: \"traceb\\\n    loc/x\"",
            "image: \"traceb\\\r\n\tloc/x\"",
            "image: \"traceb\\\u{2028}loc/x\"",
        ] {
            assert_eq!(interest(hidden), Interest::Required, "{hidden}");
        }
    }

    #[test]
    fn escapes_elsewhere_are_nobodys_business() {
        for harmless in [
            r#"pattern: "^[a-z]\\x2f+$""#,
            r#"text: "say \u0041 word""#,
            r#"path: 'a\x2f'"#,
            r"plain: a\x2fb",
            r#"t: "a\tb""#,
        ] {
            assert_eq!(interest(harmless), Interest::None, "{harmless}");
        }
    }

    #[test]
    fn tags_that_may_be_binary() {
        for tag in [
            "!!binary",
            "!!bin%61ry",
            "!<tag:yaml.org,2002:binary>",
            "!!%62inary",
        ] {
            assert_eq!(
                interest(&format!("image: {tag} eA==")),
                Interest::Required,
                "{tag}"
            );
        }
    }

    #[test]
    fn a_token_without_end_counts_as_one() {
        let long = format!("x: \"{}\\x2f{}", "a".repeat(10), "a".repeat(LONGEST_TOKEN));
        assert_eq!(interest(&long), Interest::Required);
    }

    #[test]
    fn needles_beyond_the_packed_searcher_work_as_well() {
        let many: Vec<String> = (0..200).map(|n| format!("vendor/image-{n}-x")).collect();
        let needles = Needles::new(many.iter().map(String::as_str), &["job"], &["help", "me"]);
        assert_eq!(
            needles.interest(b"image: vendor/image-199-x"),
            Interest::Required
        );
        assert_eq!(needles.interest(b"help me"), Interest::Helpful);
        assert_eq!(needles.interest(b"image: vendor/other"), Interest::None);
    }
}
