//! What belay ends with: the numbers of sysexits.h where one fits.

use std::io;
use std::process::ExitCode;

use super::config::ConfigError;
use super::input::InputError;
use super::pipeline::Refusal;
use super::plugin::PluginError;
use super::record_file::RecordFileError;
use crate::cluster::{LookupError, LookupErrorKind};
use crate::edit::SelfCheckError;
use crate::manifest::ScanError;
use crate::policy::{PolicyError, SavedError};

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Exit {
    /// All is done.
    Done = 0,
    /// There are differences (`explain --check`).
    Differences = 1,
    /// Wrong usage. clap ends with the same number.
    Usage = 2,
    /// Input or record not understood, or a name that no object can have, or a site cannot be edited
    /// (EX_DATAERR).
    Data = 65,
    /// A record file cannot be opened (EX_NOINPUT).
    NoInput = 66,
    /// The cluster was not reached in time (EX_UNAVAILABLE).
    Unavailable = 69,
    /// belay's own check failed (EX_SOFTWARE).
    Software = 70,
    /// Standard input, standard output or the plugin's folder failed (EX_IOERR).
    Io = 74,
    /// The record is another release's, another cluster's, or required and missing, or the server
    /// answered with another object (EX_PROTOCOL).
    Contradiction = 76,
    /// Unauthorised or forbidden (EX_NOPERM).
    Denied = 77,
    /// Config file, kubeconfig, context or TLS authority (EX_CONFIG).
    Config = 78,
    /// `--strict`, and something was warned about. Free in sysexits.h.
    Strict = 79,
}

impl Exit {
    /// The code for a failure, by what caused it.
    pub(super) fn of(error: &anyhow::Error) -> Self {
        for cause in error.chain() {
            if let Some(refusal) = cause.downcast_ref::<Refusal>() {
                return match refusal {
                    Refusal::Sites { .. } => Self::Data,
                    Refusal::Strict { .. } => Self::Strict,
                };
            } else if let Some(file) = cause.downcast_ref::<RecordFileError>() {
                return match file {
                    RecordFileError::Unreadable { .. } => Self::NoInput,
                    RecordFileError::NotYaml { .. }
                    | RecordFileError::Malformed { .. }
                    | RecordFileError::Empty { .. } => Self::Data,
                };
            } else if let Some(lookup) = cause.downcast_ref::<LookupError>() {
                return match lookup.kind() {
                    LookupErrorKind::Unreachable => Self::Unavailable,
                    LookupErrorKind::Denied => Self::Denied,
                    LookupErrorKind::Manifest => Self::Data,
                    LookupErrorKind::Contradiction => Self::Contradiction,
                    LookupErrorKind::Configuration => Self::Config,
                };
            } else if cause.is::<ScanError>() {
                return Self::Data;
            } else if cause.is::<PolicyError>() || cause.is::<SavedError>() {
                return Self::Contradiction;
            } else if cause.is::<ConfigError>() {
                return Self::Config;
            } else if cause.is::<SelfCheckError>() {
                return Self::Software;
            } else if cause.is::<InputError>() {
                return Self::Usage;
            } else if cause.is::<PluginError>() || cause.is::<io::Error>() {
                return Self::Io;
            }
        }
        Self::Software
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
