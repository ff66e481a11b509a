//! What should become of each image, and why. Pure: no files, no network, no clock, no environment.
//!
//! Four steps. [`survey()`] settles what the stream alone decides and groups the rest by release.
//! [`Survey::questions`] says what to ask, and [`Survey::further_questions`] what the answers leave open.
//! [`Survey::decide`] takes all answers. The table is that of design.md section 5; row numbers in
//! comments are its.

mod applied;
mod case;
mod decide;
mod decision;
mod facts;
mod history;
mod image_pattern;
mod kept;
mod live_image;
mod profile;
mod reason;
mod record;
mod refresher;
mod release;
mod survey;

pub use decide::{PolicyError, Verdict};
pub use decision::{Decision, Evidence, LiveEvidence, Outcome, RecordedEvidence};
pub use facts::{
    Answer, Facts, LiveContainer, LiveObject, Malformed, Namespaces, Owners, Revision, SavedError,
    SavedObjects, SavedTextError, UsedNamespace,
};
pub use history::{HistoryQuestion, HistoryQuestions, RevisionKind};
pub use image_pattern::{ImagePattern, ImagePatternError};
pub use profile::{
    ManagedRepository, PinVariable, Profile, RecordProfile, RefresherProfile, WorkloadName,
};
pub use reason::{Effect, Reason};
pub use survey::{Policy, Questions, RecordHint, Refreshing, Source, Survey, survey};
