//! From input to decisions and edits: what `render` and `explain` have in common.

use memchr::memmem;

use super::args::{DecideArgs, OnTrouble};
use super::exit::Exit;
use super::facts::Answers;
use super::input::InputError;
use super::{config, input};
use crate::edit::{self, Edit, Rewrite};
use crate::manifest::{self, Breadth, ScanError, Stream};
use crate::policy::{self, Decision, Policy, Profile, Source, Verdict};
use crate::report::{self, Place, Report, Settled, SiteReport};

/// Decisions that stop the run.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// A site that cannot be written as it should be.
    #[error("{first}{}", more(*.others))]
    Sites {
        /// The first of them, with its reason.
        first: String,
        /// Where it is written.
        place: Place,
        /// How many more there are.
        others: usize,
    },
    /// `--strict` and a warning.
    #[error("--strict refuses a warned outcome: {first}{}", more(*.others))]
    Strict {
        /// The first warning.
        first: String,
        /// Where its image is written.
        place: Place,
        /// How many more there are.
        others: usize,
    },
}

fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        others => format!(" (and {others} more)"),
    }
}

/// What was decided about a stream.
pub(super) struct Decided<'s> {
    pub(super) stream: Stream<'s>,
    pub(super) verdict: Verdict,
    pub(super) edits: Vec<Edit>,
}

/// Reads `input`, asks what must be asked, and decides.
pub(super) fn decide<'s>(
    input: &'s [u8],
    args: &DecideArgs,
    profile: &Profile,
    breadth: Breadth,
) -> anyhow::Result<Decided<'s>> {
    let answers = Answers::open(args)?;
    let policy = Policy {
        source: answers.source(),
        refreshing: args.policy.refresher.into(),
        require_record: args.record.require_record,
        namespace: args.cluster.namespace.clone(),
    };
    if policy.require_record && policy.source == Source::Nowhere {
        return Err(InputError::RequiredButOffline.into());
    }
    let stream = manifest::scan(input, &profile.needles(), breadth)?;
    let mut verdict = {
        let survey = policy::survey(&stream, profile, &policy, answers.hint(profile).as_ref());
        let facts = answers.answer(&survey, profile, args)?;
        survey.decide(&facts)?
    };
    let edits = plan(&stream, &mut verdict, args.policy.on_uneditable);
    Ok(Decided {
        stream,
        verdict,
        edits,
    })
}

/// Plans the edits, and turns rewrites that cannot be made into refusals or warnings.
fn plan(stream: &Stream<'_>, verdict: &mut Verdict, on_uneditable: OnTrouble) -> Vec<Edit> {
    let rewrites: Vec<_> = verdict
        .decisions
        .iter()
        .filter_map(|decision| {
            Some(Rewrite {
                site: decision.site,
                text: decision.rewritten()?.to_owned(),
            })
        })
        .collect();
    let plan = edit::plan(stream, &rewrites);
    for (site, obstacle) in plan.refused {
        // One decision for each site, in the order of the stream.
        let decision = &mut verdict.decisions[site];
        decision.not_editable(&obstacle.to_string(), on_uneditable == OnTrouble::Leave);
    }
    plan.edits
}

impl Decided<'_> {
    /// Whether some outcome deserves a look, or stops the run.
    pub(super) fn is_remarkable(&self) -> bool {
        self.verdict.decisions.iter().any(Decision::is_warned)
    }
}

/// Reads profile and stdin for `run`, and shows in the report where in the input it failed.
pub(super) fn on_input(
    args: &DecideArgs,
    report: &mut Report,
    run: impl FnOnce(&[u8], &Profile, &mut Report) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let profile = config::load(&args.record.profile)?;
    let input = input::read()?;
    let result = run(&input, &profile, report);
    report.excerpt = result
        .as_ref()
        .err()
        .and_then(|error| excerpt(&input, error));
    result
}

/// The place in the input where a run failed, if it did there.
fn excerpt(input: &[u8], error: &anyhow::Error) -> Option<String> {
    let place = place(error)?;
    // A line of a document that could not be read may be anything, also one of a Secret. Where there
    // are any, which Helm puts into logs nobody meant for them, none is shown.
    let is_unread = error.chain().any(|cause| cause.is::<ScanError>());
    if is_unread && memmem::find(input, b"Secret").is_some() {
        return None;
    }
    Some(report::excerpt(input, place))
}

fn place(error: &anyhow::Error) -> Option<Place> {
    error.chain().find_map(|cause| {
        match (
            cause.downcast_ref::<Refusal>(),
            cause.downcast_ref::<ScanError>(),
        ) {
            (Some(Refusal::Sites { place, .. } | Refusal::Strict { place, .. }), _) => Some(*place),
            (_, Some(ScanError::Syntax { line, column, .. })) => {
                Some(Place::Column(*line, *column))
            }
            (_, Some(ScanError::NotUtf8 { offset, .. })) => Some(Place::Byte(*offset)),
            _ => None,
        }
    })
}

/// Stops for refused sites, and under `--strict` for warnings.
pub(super) fn refuse(report: &Report, strict: bool) -> Result<(), Refusal> {
    let describe = |site: &SiteReport| {
        let why = site.warnings.join("; ");
        format!(
            "{}, column {}: {why}: `{}` ({})",
            site.place(),
            site.column,
            site.rendered,
            site.reason
        )
    };
    let place = |site: &SiteReport| Place::Column(site.line, site.column);
    let mut refused = report
        .sites
        .iter()
        .filter(|site| site.outcome == Settled::Refused);
    if let Some(first) = refused.next() {
        return Err(Refusal::Sites {
            first: describe(first),
            place: place(first),
            others: refused.count(),
        });
    }
    let mut warned = report.sites.iter().filter(|site| !site.warnings.is_empty());
    match warned.next() {
        Some(first) if strict => Err(Refusal::Strict {
            first: describe(first),
            place: place(first),
            others: warned.count(),
        }),
        _ => Ok(()),
    }
}
