//! The file that `--report` names.

use std::path::Path;

use super::exit::Exit;
use super::speech::SpeechArgs;
use crate::report::{self, Report};

/// Ends a run: sets the outcome in `report`, writes it where `--report` says, and says what failed.
pub(super) fn finish(
    mut report: Report,
    result: Result<Exit, anyhow::Error>,
    speech: &SpeechArgs,
) -> Exit {
    let exit = match &result {
        Ok(exit) => *exit,
        Err(error) => {
            report.error = Some(format!("{error:#}"));
            Exit::of(error)
        }
    };
    report.exit_code = exit as u8;
    if let Some(path) = &speech.report
        && let Err(error) = write(path, &report)
    {
        // A Job's root is read-only: a report that cannot be written never fails the upgrade.
        speech.warning(&format!(
            "cannot write the report {}: {error}",
            path.display()
        ));
    }
    if let Some(error) = &report.error {
        speech.error(error);
    }
    exit
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
