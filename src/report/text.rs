//! Reports as text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Report, Settled, SiteReport};

/// How much a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Digests cut to twelve digits, as docker shows them.
    Normal,
    /// Whole digests, and what was looked at.
    Wide,
}

/// How many hex digits of a digest a normal table shows.
const SHORT_DIGEST: usize = 12;

/// A table of the decisions: object, container, rendered, result, reason.
#[must_use]
pub fn decisions(report: &Report, width: Width) -> String {
    let mut header = vec!["OBJECT", "CONTAINER", "RENDERED", "RESULT", "REASON"];
    if width == Width::Wide {
        header.extend(["RECORDED", "LIVE", "OWNERS"]);
    }
    let header = header.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let rows = report.sites.iter().map(|site| row(site, width));
    let mut text = if report.sites.is_empty() {
        "no managed images\n".to_owned()
    } else {
        align(std::iter::once(header).chain(rows))
    };
    if let Some(unmanaged @ 1..) = report.unmanaged
        && report.sites.iter().all(|site| site.reason != "not-managed")
    {
        let images = match unmanaged {
            1 => "image is",
            _ => "images are",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{unmanaged} more {images} not managed (--all shows them)"
        );
    }
    text
}

/// The table with all that helps to read it: each reason's text, and the notes.
#[must_use]
pub fn explanation(report: &Report, width: Width) -> String {
    let mut text = decisions(report, width);
    let reasons: BTreeMap<_, _> = report
        .sites
        .iter()
        .map(|site| (site.reason, site.explanation))
        .collect();
    if !reasons.is_empty() {
        let rows = reasons
            .iter()
            .map(|(reason, why)| [format!("{reason}:"), (*why).to_owned()]);
        text.push('\n');
        text.push_str(&align(rows));
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {}", printable(note));
    }
    text
}

/// A whole report as text: the table, then what deserves a look.
#[must_use]
pub fn page(report: &Report) -> String {
    let mut text = match (&report.error, report.sites.is_empty()) {
        // Nothing was looked at.
        (Some(_), true) => String::new(),
        _ => decisions(report, Width::Wide),
    };
    for warning in report.warnings(None) {
        let _ = writeln!(text, "warning: {}", printable(&warning));
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {}", printable(note));
    }
    match &report.error {
        Some(error) => {
            let (code, error) = (report.exit_code, printable(error));
            let _ = writeln!(text, "failed with exit code {code}: {error}");
            text.push_str(report.excerpt.as_deref().unwrap_or_default());
        }
        None => {
            let pinned = |site: &&SiteReport| site.outcome == Settled::Pinned;
            let pinned = report.sites.iter().filter(pinned).count();
            let left = report.sites.len() - pinned;
            let _ = writeln!(text, "{pinned} pinned, {left} left");
        }
    }
    text
}

fn row(site: &SiteReport, width: Width) -> Vec<String> {
    let result = match site.outcome {
        Settled::Left => "(left)".to_owned(),
        Settled::Refused => "(refused)".to_owned(),
        Settled::Pinned => match site.result.split_once('@') {
            // The repository is in the column before.
            Some((name, digest))
                if width == Width::Normal
                    && site.rendered.rsplit_once(':').map(|it| it.0) == Some(name) =>
            {
                image(&format!("@{digest}"), width)
            }
            _ => image(&site.result, width),
        },
    };
    let mut cells = vec![
        site.object.to_string(),
        site.container.clone(),
        image(&site.rendered, width),
        result,
        if site.warnings.is_empty() {
            site.reason.to_owned()
        } else {
            format!("{} (!)", site.reason)
        },
    ];
    if width == Width::Wide {
        let recorded = site.evidence.recorded.as_ref();
        let live = site.evidence.live.as_ref();
        let owners = live.and_then(|live| live.owners.as_ref());
        let none = || "-".to_owned();
        cells.push(
            recorded
                .and_then(|recorded| recorded.digest.as_ref())
                .map_or_else(none, String::clone),
        );
        cells.push(
            live.and_then(|live| live.image.clone())
                .unwrap_or_else(none),
        );
        cells.push(owners.map_or_else(none, |owners| owners.join(",")));
    }
    cells
}

fn image(text: &str, width: Width) -> String {
    match (width, text.split_once("@sha256:")) {
        (Width::Normal, Some((name, hex))) if hex.len() > SHORT_DIGEST && hex.is_ascii() => {
            format!("{name}@sha256:{}…", &hex[..SHORT_DIGEST])
        }
        _ => text.to_owned(),
    }
}

/// `text` with all written out that a terminal would obey instead of showing it (`\n`, `\u{1b}`): control
/// characters and the marks that turn the direction of what follows. Names and words come from
/// manifests and from the cluster, and neither decides what a terminal does.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_wild = |it: char| {
        it.is_control()
            || matches!(it, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_wild) {
        return text.into();
    }
    let mut printable = String::with_capacity(text.len());
    for it in text.chars() {
        if is_wild(it) {
            printable.extend(it.escape_debug());
        } else {
            printable.push(it);
        }
    }
    printable.into()
}

/// Columns as wide as their widest cell, two blanks apart, as kubectl and cargo print them.
pub(super) fn align<R: AsRef<[String]>>(rows: impl IntoIterator<Item = R>) -> String {
    let cell = |cell: &String| printable(cell).into_owned();
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.as_ref().iter().map(cell).collect())
        .collect();
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            let length = cell.chars().count();
            match widths.get_mut(column) {
                Some(width) => *width = length.max(*width),
                None => widths.push(length),
            }
        }
    }
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_blanks() {
        let rows = [["a", "bb"], ["ccc", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(align(rows), "a    bb\nccc\n");
    }

    #[test]
    fn what_a_terminal_would_obey_is_written_out_and_nothing_else() {
        for (text, expected) in [
            (
                "plain `text` – \"ä\" \\ '漢'",
                "plain `text` – \"ä\" \\ '漢'",
            ),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\nb\r\tc\0", "a\\nb\\r\\tc\\0"),
            ("\u{9b}2J \u{7f} \u{202e}x", "\\u{9b}2J \\u{7f} \\u{202e}x"),
        ] {
            assert_eq!(printable(text), expected);
        }
        assert_eq!(align([["a\nb".to_owned()]]), "a\\nb\n");
    }

    #[test]
    fn a_digest_is_cut_in_a_normal_table_only() {
        let text = format!("r@sha256:{}", "a".repeat(64));
        assert_eq!(image(&text, Width::Normal), "r@sha256:aaaaaaaaaaaa…");
        assert_eq!(image(&text, Width::Wide), text);
    }
}
