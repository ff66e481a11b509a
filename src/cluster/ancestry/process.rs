//! The ancestors of this process, from /proc (proc(5)).

use std::fs;
use std::path::PathBuf;

use super::HelmCommandLine;

/// How far up Helm is looked for: farther than any wrapper of wrappers that was seen.
const GENERATIONS: usize = 16;

pub(super) fn find() -> Option<HelmCommandLine> {
    let mut process = parent("self")?;
    for _ in 0..GENERATIONS {
        // Process 1 is a container's entry point or init: in a Job's Pod that may be Helm.
        if let Some(helm) = helm(process) {
            return Some(helm);
        }
        if process <= 1 {
            return None;
        }
        process = parent(&process.to_string())?;
    }
    None
}

fn helm(process: u32) -> Option<HelmCommandLine> {
    let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    let arguments: Vec<_> = line
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    let folder = fs::read_link(format!("/proc/{process}/cwd"));
    HelmCommandLine::parse(&arguments, folder.unwrap_or_else(|_| PathBuf::from(".")))
}

fn parent(process: &str) -> Option<u32> {
    parent_in(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The fourth field. The second is the program's name in brackets, which may itself hold
/// brackets and blanks.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_read_past_any_name() {
        assert_eq!(parent_in("7 (sh) S 5 7 1"), Some(5));
        assert_eq!(parent_in("7 (a) S 9 (b) S 5 7 1"), Some(5));
        assert_eq!(parent_in("7 (sh"), None);
    }

    #[test]
    fn this_process_has_a_parent() {
        assert_eq!(parent("self"), Some(std::os::unix::process::parent_id()));
    }
}
