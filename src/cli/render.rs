//! `belay render`, which is also `belay`: manifests from stdin to stdout.

use std::io::{self, Write as _};

use anyhow::Context as _;

use super::args::RenderArgs;
use super::exit::Exit;
use super::report_file::finish;
use super::{last_error, output, pipeline};
use crate::edit;
use crate::manifest::Breadth;
use crate::policy::Profile;
use crate::report::Report;
use crate::yaml;

/// Runs the filter. Nothing reaches stdout before everything has succeeded.
pub(super) fn run(args: &RenderArgs) -> Exit {
    args.speech.set_color();
    let mut report = Report::empty();
    let result = pipeline::on_input(&args.decide, &mut report, |input, profile, report| {
        filter(input, args, profile, report)
    });
    let exit = finish(&mut report, result, &args.report, &args.speech);
    if exit != Exit::Done {
        last_error::keep(&report, &args.state, &args.speech);
    }
    exit
}

fn filter(
    input: &[u8],
    args: &RenderArgs,
    profile: &Profile,
    report: &mut Report,
) -> anyhow::Result<Exit> {
    let RenderArgs {
        decide,
        report: report_args,
        state: _,
        speech,
        corrupt_edit,
    } = args;
    // Helm 3 sends nothing with `template --output-dir`, and a chart may render only comments.
    if yaml::split(input).iter().all(|chunk| chunk.is_blank(input)) {
        return write(|out| out.write_all(input));
    }
    let mut decided = pipeline::decide(input, decide, profile, Breadth::Marked)?;
    // Most runs have nothing to say, and lines are worth counting only for a reader.
    if report_args.report.is_some() || speech.wants_decisions() || decided.is_remarkable() {
        *report = Report::new(&decided.stream, &decided.verdict, false, false);
        speech.decisions(report);
        pipeline::refuse(report, decide.policy.strict)?;
    }
    if *corrupt_edit && let Some(edit) = decided.edits.first_mut() {
        edit.text.push('0');
    }
    let spliced = edit::splice(input, &decided.edits);
    edit::verify(&decided.stream, &decided.edits, &spliced)?;
    write(|out| spliced.write_to(out))
}

fn write(print: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>) -> anyhow::Result<Exit> {
    output::write(print).context("cannot write the manifests to stdout")?;
    Ok(Exit::Done)
}
