//! `--config` and `belay config`.

use std::path::{Path, PathBuf};

use serde_ignored::Path as KeyPath;
use serde_json::Value;

use super::args::ConfigArgs;
use super::exit::Exit;
use super::output;
use super::report_file::end;
use crate::file::{self, FileError};
use crate::policy::Profile;

/// A profile has some hundred lines; a megabyte is another file.
const LARGEST: u64 = 1 << 20;

/// How alike (Jaro-Winkler, 0 to 1) a key must be to one that is known to be taken for it, as clap
/// suggests options.
const SIMILAR: f64 = 0.7;

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
    let mut unknown = Vec::new();
    // A `?` stands where a field is optional.
    let mut note = |path: KeyPath<'_>| unknown.push(path.to_string().replace(".?", ""));
    let document = serde_yaml::Deserializer::from_slice(&bytes);
    let profile: Profile = serde_ignored::deserialize(document, &mut note)
        .map_err(|error| invalid(error.to_string()))?;
    if let Some(key) = unknown.first() {
        return Err(invalid(unknown_key(key, unknown.len() - 1)));
    }
    profile
        .check()
        .map_err(|message| invalid(message.to_owned()))?;
    Ok(profile)
}

/// A key that no profile has, with the one that may be meant.
fn unknown_key(path: &str, others: usize) -> String {
    let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
    let near = known_keys(parent)
        .into_iter()
        .map(|known| (strsim::jaro_winkler(key, &known), known))
        .filter(|(likeness, _)| *likeness > SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let mut message = format!("there is no key {path}");
    if let Some((_, known)) = near {
        message.push_str(&format!(", perhaps {known} is meant"));
    }
    if others > 0 {
        message.push_str(&format!(" (and {others} more)"));
    }
    message
}

/// The keys that a profile can have below `parent` (`refresher.pins.0`), as the default shows them.
fn known_keys(parent: &str) -> Vec<String> {
    let mut at: Vec<Value> = serde_json::to_value(Profile::default())
        .into_iter()
        .collect();
    for step in parent.split('.').filter(|step| !step.is_empty()) {
        at = at
            .into_iter()
            .flat_map(|mut value| match value {
                // Not every item shows every key, so all of them count.
                Value::Array(items) => items,
                _ => value.get_mut(step).map(Value::take).into_iter().collect(),
            })
            .collect();
    }
    let keys = at.iter().filter_map(|value| value.as_object());
    keys.flat_map(|fields| fields.keys().cloned()).collect()
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
        output::print(&text)?;
        Ok(Exit::Done)
    };
    end(print(), speech)
}
