//! `belay plugin install`: Helm 4 takes post-renderers by the name of a plugin, never by path.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use super::args::{PluginArgs, PluginCommand, PluginInstallArgs};
use super::exit::Exit;
use super::report_file::end;
use super::speech::SpeechArgs;

/// The plugin cannot be put in place.
#[derive(Debug, thiserror::Error)]
pub(super) enum PluginError {
    /// No folder is known.
    #[error("no plugins folder is known: give --dir, or set HELM_PLUGINS or HOME")]
    NoFolder,
    /// A file cannot be written.
    #[error("cannot write {path}: give a folder that you may write to with --dir")]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// belay does not find itself.
    #[error("cannot find belay's own binary")]
    NoBinary {
        /// Why.
        source: io::Error,
    },
}

/// Runs `belay plugin`.
pub(super) fn run(args: &PluginArgs) -> Exit {
    let PluginCommand::Install(PluginInstallArgs { dir, speech }) = &args.command;
    speech.set_color();
    let result = install(dir.as_deref(), speech).map(|()| Exit::Done);
    end(result.map_err(anyhow::Error::new), speech)
}

/// Only keys that every Helm from 4.0 to 4.3.1 takes: since 4.1.0 an unknown key is an error, since
/// 4.1.4 the version is required. The path is expanded by Helm, so blanks in the folder do no harm.
fn plugin_yaml() -> String {
    format!(
        "apiVersion: v1\n\
         name: belay\n\
         type: postrenderer/v1\n\
         runtime: subprocess\n\
         version: {}\n\
         runtimeConfig:\n\
         \x20 platformCommand:\n\
         \x20   - command: ${{HELM_PLUGIN_DIR}}/bin/belay\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn install(dir: Option<&Path>, speech: &SpeechArgs) -> Result<(), PluginError> {
    // A folder that somebody named, or set aside, is Helm 4's alone.
    let shared = dir.is_none() && env::var_os("HELM_PLUGINS").is_none();
    let plugins = dir
        .map(Path::to_owned)
        .or_else(|| default_folder(|name| env::var_os(name)))
        .ok_or(PluginError::NoFolder)?;
    let folder = plugins.join("belay");
    let binary = env::current_exe().map_err(|source| PluginError::NoBinary { source })?;
    let target = folder.join("bin").join("belay");
    write(&folder.join("bin"), |path| fs::create_dir_all(path))?;
    // Copied beside and renamed: an upgrade that runs the old binary now keeps running it, and a plugin
    // that installs itself anew does not cut off its own file.
    let fresh = folder.join("bin").join(".belay.new");
    write(&fresh, |path| fs::copy(&binary, path).map(|_| ()))?;
    write(&target, |path| fs::rename(&fresh, path))?;
    write(&folder.join("plugin.yaml"), |path| {
        fs::write(path, plugin_yaml())
    })?;
    speech.tell(&format!(
        "installed in {}: use it with helm upgrade --post-renderer belay",
        folder.display()
    ));
    if shared {
        // helm-contract.md section 2.8, seen with 3.17.1 and 3.19.0.
        speech.warning(
            "a Helm 3 on this machine uses the same folder and now loads no plugin at all: if there \
             is one, remove what was installed, give --dir, and set HELM_PLUGINS for Helm 4 alone",
        );
    }
    Ok(())
}

fn write(path: &Path, act: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), PluginError> {
    act(path).map_err(|source| PluginError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

/// Where Helm looks: `HELM_PLUGINS` (a list), else below `HELM_DATA_HOME`, else below the XDG data
/// folder (helm-contract.md section 2.1).
fn default_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(list) = set("HELM_PLUGINS") {
        return env::split_paths(&list).find(|path| !path.as_os_str().is_empty());
    }
    let data = set("HELM_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("XDG_DATA_HOME")?).join("helm")))
        .or_else(|| {
            let home = PathBuf::from(set("HOME")?);
            Some(if cfg!(target_os = "macos") {
                home.join("Library/helm")
            } else {
                home.join(".local/share/helm")
            })
        })?;
    Some(data.join("plugins"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(variables: &[(&str, &str)]) -> Option<String> {
        let folder = default_folder(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        });
        folder.map(|path| path.display().to_string())
    }

    #[test]
    fn the_folder_is_the_one_that_helm_looks_in() {
        let home = ("HOME", "/home/me");
        let data = ("HELM_DATA_HOME", "/data");
        assert_eq!(folder(&[]), None);
        assert_eq!(folder(&[data, home]).as_deref(), Some("/data/plugins"));
        assert_eq!(
            folder(&[("HELM_PLUGINS", "/a:/b"), data]).as_deref(),
            Some("/a")
        );
        assert_eq!(
            folder(&[("HELM_PLUGINS", ""), ("XDG_DATA_HOME", "/xdg")]).as_deref(),
            Some("/xdg/helm/plugins")
        );
    }
}
