//! `--profile`, `--image`, `--config`, and `belay config`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_ignored::Path as KeyPath;
use serde_json::Value;

use super::args::ConfigArgs;
use super::exit::Exit;
use super::output;
use super::report_file::end;
use crate::file::{self, FileError};
use crate::policy::{ImagePattern, Profile};

/// A profile has some hundred lines; a megabyte is another file.
const LARGEST: u64 = 1 << 20;

/// How alike (Jaro-Winkler, 0 to 1) a key must be to one that is known to be taken for it, as clap
/// suggests options.
const SIMILAR: f64 = 0.7;

/// Which images are looked at, and by whose conventions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Record")]
pub(super) struct ProfileArgs {
    /// Which built-in conventions to start from
    #[arg(
        long,
        value_name = "NAME",
        env = "BELAY_PROFILE",
        default_value = "record"
    )]
    profile: ProfileName,
    /// Keep what somebody other than Helm has set on images of these repositories; repeatable
    ///
    /// A glob over whole repositories: ghcr.io/acme/*, acme/{api,web}, nginx. No record is asked for:
    /// the tag or digest that runs is kept exactly, whoever set it.
    #[arg(long = "image", value_name = "PATTERN", env = "BELAY_IMAGE")]
    images: Vec<ImagePattern>,
    /// Another chart's names for the record, the refresher and the images, instead of the profile's
    #[arg(long, value_name = "FILE", env = "BELAY_CONFIG")]
    config: Option<PathBuf>,
}

/// `--profile`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProfileName {
    /// What a refresher has recorded, as its chart or --config names it
    Record,
    /// What runs of the images that --image names, whoever set it: any chart, without a refresher
    Live,
}

impl ProfileName {
    fn profile(self) -> Profile {
        match self {
            Self::Record => Profile::default(),
            Self::Live => Profile::live(),
        }
    }
}

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
    /// There is none, and the options do not make one either.
    #[error(
        "--profile live looks at no image: name some with --image, such as --image 'ghcr.io/acme/*'"
    )]
    NoImages,
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

/// The profile in force: the built-in one that was chosen, with the file's fields and the images of the
/// options.
pub(super) fn load(args: &ProfileArgs) -> Result<Profile, ConfigError> {
    let mut profile = args.profile.profile();
    if let Some(path) = &args.config {
        profile = read(path, profile)?;
    }
    profile.live_images.extend(args.images.iter().cloned());
    match (profile.check(), &args.config) {
        (Ok(()), _) => Ok(profile),
        (Err(message), Some(path)) => Err(ConfigError::Invalid {
            path: path.clone(),
            message: message.to_owned(),
        }),
        (Err(_), None) => Err(ConfigError::NoImages),
    }
}

/// The file's profile; what it does not say is as in `built_in`.
fn read(path: &Path, built_in: Profile) -> Result<Profile, ConfigError> {
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
    let mut profile: Profile = serde_ignored::deserialize(document, &mut note)
        .map_err(|error| invalid(error.to_string()))?;
    if let Some(key) = unknown.first() {
        return Err(invalid(unknown_key(key, unknown.len() - 1)));
    }
    // The only field in which the built-in profiles differ.
    if value.get("repositories").is_none() {
        profile.repositories = built_in.repositories;
    }
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
        profile,
        speech,
    } = args;
    speech.set_color();
    let print = || {
        let profile = match default {
            true => profile.profile.profile(),
            false => load(profile)?,
        };
        let text = serde_yaml::to_string(&profile)?;
        output::print(&text)?;
        Ok(Exit::Done)
    };
    end(print(), speech)
}
