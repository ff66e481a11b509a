//! `--config` and `belay config`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::args::ConfigArgs;
use super::exit::Exit;
use super::report_file::end;
use crate::file::{self, FileError};
use crate::policy::Profile;

/// A profile has some hundred lines; a megabyte is another file.
const LARGEST: u64 = 1 << 20;

/// A config file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConfigError {
    /// It cannot be opened or read, or is no file.
    #[error("cannot read the config file {path}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: FileError,
    },
    /// It is no configuration.
    #[error(
        "the config file {path} is not understood: {message} (belay config --default prints one)"
    )]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
}

/// The profile in force: the file's, else the built-in one.
pub(super) fn load(path: Option<&Path>) -> Result<Profile, ConfigError> {
    let Some(path) = path else {
        return Ok(Profile::default());
    };
    let bytes = file::read(path, LARGEST, None).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let invalid = |message: String| ConfigError::Invalid {
        path: path.to_owned(),
        message,
    };
    // A text is not repeated in the message: it may be a token whose file was named by mistake.
    let value: serde_yaml::Value =
        serde_yaml::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
    if !value.is_mapping() {
        return Err(invalid("it is no mapping".to_owned()));
    }
    let profile: Profile =
        serde_yaml::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
    profile
        .check()
        .map_err(|message| invalid(message.to_owned()))?;
    Ok(profile)
}

/// Prints the configuration in force.
pub(super) fn run(args: &ConfigArgs) -> Exit {
    let ConfigArgs {
        default,
        config,
        speech,
    } = args;
    speech.set_color();
    let print = || {
        let path = config.as_deref().filter(|_| !default);
        let text = serde_yaml::to_string(&load(path)?)?;
        std::io::stdout().write_all(text.as_bytes())?;
        Ok(Exit::Done)
    };
    end(print(), speech)
}
