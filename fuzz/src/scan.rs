//! Any bytes as a stream of manifests.

use belay::image::Reference;
use belay::manifest::{self, Breadth, Obstacle, ScanError, Site, SiteStyle, Stream};
use belay::policy::Profile;
use belay::yaml::{self, Kind, Lines, Style, Tree};

/// Scanning never panics, every span slices back to its image, and a search for needles misses no
/// managed image that reading everything finds.
pub fn scan(bytes: &[u8]) {
    let chunks = yaml::split(bytes);
    let whole: Vec<u8> = chunks
        .iter()
        .flat_map(|chunk| &bytes[chunk.span.clone()])
        .copied()
        .collect();
    assert_eq!(whole, bytes, "the chunks are the stream");
    let profile = Profile::default();
    let marked = manifest::scan(bytes, &profile.needles(), Breadth::Marked);
    let all = manifest::scan(bytes, &profile.needles(), Breadth::All);
    match (&marked, &all) {
        (Ok(marked), Ok(all)) => {
            check_sites(marked);
            check_sites(all);
            let managed = |stream: &Stream<'_>| -> Vec<_> {
                let sites = stream.sites.iter();
                let managed = sites.filter(|site| is_managed(&profile, site));
                managed
                    .map(|site| (site.token.clone(), site.value.clone()))
                    .collect()
            };
            assert_eq!(managed(marked), managed(all), "the search misses an image");
        }
        // A foreign chunk may multiply images without end: only reading everything meets it.
        (Ok(_), Err(ScanError::Excessive { .. })) => {}
        (Err(marked), Err(all)) => assert_eq!(marked, all),
        _ => panic!("one breadth fails: {:?}, {:?}", marked.err(), all.err()),
    }
}

fn is_managed(profile: &Profile, site: &Site) -> bool {
    Reference::parse(&site.value)
        .is_some_and(|reference| profile.managed(reference.repository()).is_some())
}

fn check_sites(stream: &Stream<'_>) {
    let lines = Lines::new(stream.bytes);
    for site in &stream.sites {
        std::hint::black_box(lines.position(site.token.start));
        assert!(site.document < stream.documents.len());
        let token = &stream.bytes[site.token.clone()];
        let scalar = str::from_utf8(&stream.bytes[site.scalar.clone()]).expect("whole characters");
        let inside = |span: &std::ops::Range<usize>| {
            let mut chunks = stream.chunks.iter();
            chunks.any(|chunk| chunk.text <= span.start && span.end <= chunk.span.end)
        };
        assert!(inside(&site.token) && inside(&site.scalar));
        match site.style {
            SiteStyle::Alias => assert!(token.starts_with(b"*"), "an alias begins with *"),
            SiteStyle::Scalar(_) => assert_eq!(site.token, site.scalar),
        }
        let style = match site.style {
            SiteStyle::Scalar(style) => style,
            SiteStyle::Alias => continue,
        };
        // A block's indentation and a binary's base64 are not the scalar's own text; an odd line break
        // is told before a binary.
        let is_block = matches!(style, Style::Literal | Style::Folded);
        let may_be_binary = matches!(
            site.obstacle,
            Some(Obstacle::Binary | Obstacle::OddLineBreak)
        );
        if !is_block && !may_be_binary {
            assert_eq!(meaning(scalar), site.value, "the span is the image");
        }
    }
}

/// What a scalar means that stands alone; indented, so that `---` in it separates nothing.
fn meaning(scalar: &str) -> String {
    if scalar.is_empty() {
        // A tag with nothing behind it.
        return String::new();
    }
    let text = format!(" {scalar}");
    let tree = Tree::parse(&text).expect("a scalar");
    assert_eq!(tree.roots.len(), 1, "one scalar in {scalar:?}");
    match &tree.node(tree.roots[0]).kind {
        Kind::Scalar { value, .. } => value.to_string(),
        other => panic!("{scalar:?} is {other:?}"),
    }
}
