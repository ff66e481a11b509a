//! Comparing bytes, and telling people where they differ.

use std::fmt::Write as _;

/// How many lines are shown around the first difference.
const CONTEXT: usize = 2;

/// None where both are the same; else a description of the first difference.
pub(crate) fn difference(what: &str, expected: &[u8], actual: &[u8]) -> Option<String> {
    if expected == actual {
        return None;
    }
    let same = expected.iter().zip(actual).take_while(|(a, b)| a == b);
    let at = same.count();
    let line = expected[..at].iter().filter(|&&byte| byte == b'\n').count();
    let mut text = format!(
        "{what}: byte {at} (line {}) differs; {} bytes expected, {} found\n",
        line + 1,
        expected.len(),
        actual.len()
    );
    for (sign, bytes) in [('-', expected), ('+', actual)] {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        let from = line.saturating_sub(CONTEXT).min(lines.len());
        let to = (line + CONTEXT + 1).min(lines.len());
        for (index, line) in lines[from..to].iter().enumerate() {
            let _ = writeln!(
                text,
                "    {sign}{:4} {}",
                from + index + 1,
                line.escape_ascii()
            );
        }
    }
    Some(text)
}
