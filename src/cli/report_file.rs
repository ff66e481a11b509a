//! The file that `--report` names.

use std::io;
use std::path::Path;

use super::args::ReportArgs;
use super::exit::Exit;
use super::speech::SpeechArgs;
use crate::file;
use crate::report::{self, Report};

/// Says in `report` how the run ends.
pub(super) fn settle(report: &mut Report, result: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    report.exit_code = match &result {
        Ok(exit) => *exit as u8,
        Err(error) => {
            report.error = Some(format!("{error:#}"));
            Exit::of(error) as u8
        }
    };
    result
}

/// Ends a run: writes the report where `--report` says, and says what failed.
pub(super) fn finish(
    report: &mut Report,
    result: anyhow::Result<Exit>,
    file: &ReportArgs,
    speech: &SpeechArgs,
) -> Exit {
    let result = settle(report, result);
    if let Some(path) = &file.report
        && let Err(error) = write(path, report)
    {
        // A Job's root is read-only: a report that cannot be written never fails the upgrade.
        speech.warning(&format!(
            "cannot write the report {}: {error}",
            path.display()
        ));
    }
    let exit = end(result, speech);
    if let Some(excerpt) = &report.excerpt {
        speech.show(excerpt);
    }
    exit
}

/// Ends a command that decides nothing: says what failed.
pub(super) fn end(result: anyhow::Result<Exit>, speech: &SpeechArgs) -> Exit {
    result.unwrap_or_else(|error| {
        speech.error(&format!("{error:#}"));
        Exit::of(&error)
    })
}

fn write(path: &Path, report: &Report) -> io::Result<()> {
    refuse(path)?;
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let text = if is_json {
        report.to_json()
    } else {
        report::page(report)
    };
    std::fs::write(path, text)
}

/// Refuses a named pipe, which waits for a reader, and stdout, where a report would mix with the
/// manifests.
#[cfg(unix)]
fn refuse(path: &Path) -> io::Result<()> {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let Ok(target) = std::fs::metadata(path) else {
        return Ok(()); // a file to be made, or one that says itself why it cannot be
    };
    let kind = target.file_type();
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let stdout = std::fs::File::from(stdout).metadata()?;
    let is_stdout = (target.dev(), target.ino()) == (stdout.dev(), stdout.ino());
    let why = if is_stdout && !kind.is_char_device() {
        "it is stdout, where the manifests go"
    } else if kind.is_fifo() && !file::is_inherited(path) {
        "it is a named pipe, not a file"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

#[cfg(not(unix))]
fn refuse(_: &Path) -> io::Result<()> {
    Ok(())
}
