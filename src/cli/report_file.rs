//! The file that `--report` names.

use std::path::Path;

use super::args::ReportArgs;
use super::exit::Exit;
use super::speech::SpeechArgs;
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
    mut report: Report,
    result: anyhow::Result<Exit>,
    file: &ReportArgs,
    speech: &SpeechArgs,
) -> Exit {
    let result = settle(&mut report, result);
    if let Some(path) = &file.report
        && let Err(error) = write(path, &report)
    {
        // A Job's root is read-only: a report that cannot be written never fails the upgrade.
        speech.warning(&format!(
            "cannot write the report {}: {error}",
            path.display()
        ));
    }
    end(result, speech)
}

/// Ends a command that decides nothing: says what failed.
pub(super) fn end(result: anyhow::Result<Exit>, speech: &SpeechArgs) -> Exit {
    result.unwrap_or_else(|error| {
        speech.error(&format!("{error:#}"));
        Exit::of(&error)
    })
}

fn write(path: &Path, report: &Report) -> std::io::Result<()> {
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
