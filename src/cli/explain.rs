//! `belay explain`: the decision for every image, and why. Changes nothing.

use super::args::{ExplainArgs, ExplainFormat};
use super::exit::Exit;
use super::report_file::{finish, settle};
use super::{output, pipeline};
use crate::manifest::Breadth;
use crate::policy::Profile;
use crate::report::{self, Report, Settled, Width};

/// Prints the decisions; ends as `render` would, or with 1 where `--check` finds a rewrite due.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    args.speech.set_color();
    let mut report = Report::empty();
    let result = if args.reasons {
        output::print(&reasons(args.output))
            .map(|()| Exit::Done)
            .map_err(Into::into)
    } else {
        pipeline::on_input(&args.decide, &mut report, |input, profile, report| {
            explain(input, args, profile, report)
        })
    };
    finish(&mut report, result, &args.report, &args.speech)
}

fn reasons(format: ExplainFormat) -> String {
    match format {
        ExplainFormat::Markdown => report::reasons_markdown(),
        _ => report::reasons_text(),
    }
}

fn explain(
    input: &[u8],
    args: &ExplainArgs,
    profile: &Profile,
    report: &mut Report,
) -> anyhow::Result<Exit> {
    let ExplainArgs {
        decide,
        report: _,
        speech,
        output: format,
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
    output::print(&match format {
        ExplainFormat::Json => report.to_json(),
        ExplainFormat::Table | ExplainFormat::Markdown => {
            report::explanation(report, Width::Normal)
        }
        ExplainFormat::Wide => report::explanation(report, Width::Wide),
    })?;
    if report.sites.is_empty() && *format != ExplainFormat::Json {
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
