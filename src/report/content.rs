//! The content of a report. Its JSON form is the schema `belay.dev/report/v1`: fields are added, never
//! renamed or given another meaning. Nothing in it depends on the clock or on the order of a map.

use serde::Serialize;

use crate::manifest::{ObjectKey, Stream};
use crate::policy::{Decision, Outcome, Reason, Verdict};
use crate::yaml::Lines;

/// The name of the JSON schema.
const SCHEMA: &str = "belay.dev/report/v1";

/// A run as it is reported.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    schema: &'static str,
    /// belay's version.
    version: &'static str,
    /// What belay ends with.
    pub exit_code: u8,
    /// Why the run failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The place in the input where it failed, for people.
    #[serde(skip)]
    pub excerpt: Option<String>,
    /// One for each managed image, and for each other one where they were asked for.
    pub sites: Vec<SiteReport>,
    /// How many images are not managed, where all documents were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmanaged: Option<usize>,
    /// What is noted without being a warning.
    pub notes: Vec<String>,
}

/// An image and what became of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteReport {
    /// The object.
    pub object: ObjectName,
    /// `api`, `init:migrate`, `ephemeral:debug` or `volume:model`.
    pub container: String,
    /// Where the image stands in the input, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The image as it was rendered.
    pub rendered: String,
    /// The image as it is written.
    pub result: String,
    /// What became of it.
    pub outcome: Settled,
    /// The reason's code.
    pub reason: &'static str,
    /// The reason in a sentence.
    pub explanation: &'static str,
    /// What deserves a look; such an outcome is refused under `--strict`.
    pub warnings: Vec<String>,
    /// What was looked at.
    pub(super) evidence: EvidenceReport,
}

/// What became of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Settled {
    /// The rendered text stays.
    Left,
    /// A digest is written.
    Pinned,
    /// The run stops.
    Refused,
}

/// An object's name in full.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
}

/// What a decision looked at.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EvidenceReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<ObjectName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<RecordedReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) live: Option<LiveReport>,
}

/// What the record says.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedReport {
    annotation: String,
    pub(super) digest: Option<String>,
    reference: Option<String>,
    maintained: bool,
    applied: Option<AppliedReport>,
    flap_detected: bool,
}

/// Whether the recorded digest was rolled out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AppliedReport {
    applied: bool,
    source: String,
}

/// What runs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveReport {
    pub(super) image: Option<String>,
    pub(super) absent: Option<&'static str>,
    pub(super) owners: Option<Vec<String>>,
    deployers: Vec<String>,
}

impl Report {
    /// The report of a run that got as far as decisions. Unmanaged sites are listed where `all`, and
    /// counted where `counted`.
    #[must_use]
    pub fn new(stream: &Stream<'_>, verdict: &Verdict, all: bool, counted: bool) -> Self {
        let lines = Lines::new(stream.bytes);
        let unmanaged = |decision: &&Decision| decision.reason == Reason::NotManaged;
        let decisions = verdict.decisions.iter();
        Self {
            unmanaged: counted.then(|| decisions.clone().filter(unmanaged).count()),
            sites: decisions
                .filter(|decision| all || !unmanaged(decision))
                .map(|decision| SiteReport::new(stream, &lines, decision))
                .collect(),
            notes: verdict.notes.clone(),
            ..Self::empty()
        }
    }

    /// The report of a run that decided nothing: blank input, or a failure on the way.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            exit_code: 0,
            error: None,
            excerpt: None,
            sites: Vec::new(),
            unmanaged: None,
            notes: Vec::new(),
        }
    }

    /// Each warning once, with the sites that it is about; but for the one site that `except` names.
    #[must_use]
    pub fn warnings(&self, except: Option<&SiteReport>) -> Vec<String> {
        let mut warnings: Vec<(&str, &SiteReport, usize)> = Vec::new();
        for site in &self.sites {
            if except.is_some_and(|except| std::ptr::eq(except, site)) {
                continue;
            }
            for text in &site.warnings {
                match warnings.iter_mut().find(|(told, ..)| told == text) {
                    Some((_, _, others)) => *others += 1,
                    None => warnings.push((text, site, 0)),
                }
            }
        }
        let tell = |(text, site, others): (&str, &SiteReport, usize)| match others {
            0 => format!("{}: {text}", site.place()),
            others => format!("{} and {others} more: {text}", site.place()),
        };
        warnings.into_iter().map(tell).collect()
    }

    /// The first site that stops the run.
    #[must_use]
    pub fn refused(&self) -> Option<&SiteReport> {
        let mut sites = self.sites.iter();
        sites.find(|site| site.outcome == Settled::Refused)
    }

    /// The JSON form, ending in a line break.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A struct of strings, numbers and lists always serialises.
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }
}

impl SiteReport {
    fn new(stream: &Stream<'_>, lines: &Lines<'_>, decision: &Decision) -> Self {
        let site = &stream.sites[decision.site];
        let (line, column) = lines.position(site.token.start);
        Self {
            object: ObjectName::from(&stream.documents[site.document].object),
            container: site.container.to_string(),
            line,
            column,
            rendered: site.value.clone(),
            result: decision.rewritten().unwrap_or(&site.value).to_owned(),
            outcome: match decision.outcome {
                Outcome::Left => Settled::Left,
                Outcome::Pinned(_) => Settled::Pinned,
                Outcome::Refused => Settled::Refused,
            },
            reason: decision.reason.code(),
            explanation: decision.reason.text(),
            warnings: decision.warnings.clone(),
            evidence: EvidenceReport::from(decision),
        }
    }

    /// `Deployment prod/demo-jobs-manager, container api (line 42)`, as messages name a site.
    #[must_use]
    pub fn place(&self) -> String {
        format!(
            "{}, container {} (line {})",
            self.object, self.container, self.line
        )
    }
}

impl From<&ObjectKey> for ObjectName {
    fn from(key: &ObjectKey) -> Self {
        Self {
            api_version: key.api_version.clone(),
            kind: key.kind.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
        }
    }
}

impl std::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

impl From<&Decision> for EvidenceReport {
    fn from(decision: &Decision) -> Self {
        let evidence = &decision.evidence;
        Self {
            release: evidence.release.clone(),
            image: evidence.image.clone(),
            record: evidence.record.as_ref().map(ObjectName::from),
            recorded: evidence.recorded.clone().map(|recorded| RecordedReport {
                annotation: recorded.annotation,
                digest: recorded.digest,
                reference: recorded.reference,
                maintained: recorded.maintained,
                applied: recorded
                    .applied
                    .map(|(applied, source)| AppliedReport { applied, source }),
                flap_detected: recorded.flap_detected,
            }),
            live: evidence.live.clone().map(|live| LiveReport {
                image: live.image,
                absent: live.absent,
                owners: live.owners,
                deployers: live.deployers,
            }),
        }
    }
}
