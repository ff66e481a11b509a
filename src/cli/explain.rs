//! `belay explain`: the decision for every image, and why. Changes nothing.

use std::io::{self, Write as _};

use super::args::{ExplainArgs, ExplainFormat};
use super::exit::Exit;
use super::report_file::{finish, settle};
use super::{config, input, pipeline};
use crate::manifest::Breadth;
use crate::policy::Profile;
use crate::report::{self, Report, Settled, Width};

/// Prints the decisions; ends as `render` would, or with 1 where `--check` finds a rewrite due.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    args.speech.set_color();
    let mut report = Report::empty();
    let result = if args.reasons {
        print(&reasons(args.output)).map(|()| Exit::Done)
    } else {
        explain(args, &mut report)
    };
    finish(report, result, &args.report, &args.speech)
}

fn reasons(format: ExplainFormat) -> String {
    match format {
        ExplainFormat::Markdown => report::reasons_markdown(),
        _ => report::reasons_text(),
    }
}

fn explain(args: &ExplainArgs, report: &mut Report) -> anyhow::Result<Exit> {
    let profile = config::load(args.decide.record.config.as_deref())?;
    let input = input::read()?;
    let result = decisions(&input, args, &profile, report);
    report.excerpt = pipeline::excerpt(&input, &result);
    result
}

fn decisions(
    input: &[u8],
    args: &ExplainArgs,
    profile: &Profile,
    report: &mut Report,
) -> anyhow::Result<Exit> {
    let ExplainArgs {
        decide,
        report: _,
        speech,
        output,
        all,
        check,
        reasons: _,
    } = args;
    let decided = pipeline::decide(input, decide, profile, Breadth::All)?;
    *report = Report::new(&decided.stream, &decided.verdict, *all, true);
    let due = report
        .sites
        .iter()
        .any(|site| site.outcome == Settled::Pinned);
    let result = pipeline::refuse(report, decide.policy.strict).map(|()| match due && *check {
        true => Exit::Differences,
        false => Exit::Done,
    });
    let result = settle(report, result.map_err(anyhow::Error::new));
    print(&match output {
        ExplainFormat::Json => report.to_json(),
        ExplainFormat::Table | ExplainFormat::Markdown => {
            report::explanation(report, Width::Normal)
        }
        ExplainFormat::Wide => report::explanation(report, Width::Wide),
    })?;
    if report.sites.is_empty() && *output != ExplainFormat::Json {
        let managed: Vec<_> = profile
            .repositories
            .iter()
            .map(|managed| managed.repository.as_str())
            .collect();
        speech.tell(&format!(
            "the managed repositories are {} (--config takes another chart's)",
            managed.join(", ")
        ));
    }
    speech.decisions(report);
    result
}

fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
