//! The options. Names are helm's and kubectl's where they have one; every option has a variable
//! `BELAY_…`, since Terraform and Argo CD pass no arguments.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, Resettable};
use clap::error::ContextValue;
use clap::{
    Args, Command as Clap, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
};

use super::config::ProfileArgs;
use super::last_error::{LastErrorArgs, StateArgs};
use super::rbac::RbacArgs;
use super::speech::SpeechArgs;
use super::values::{duration, namespace};
use crate::policy::Refreshing;
use crate::report;

/// Keeps the image digests that a refresher has decided through helm upgrade.
///
/// Reads rendered manifests on stdin and writes them to stdout, byte for byte the same but for the
/// managed images, which get the digest that the refresher recorded in the cluster.
///
///   helm upgrade demo ./chart --post-renderer belay
///   helm template demo ./chart | belay --no-cluster
#[derive(Debug, Parser)]
#[command(
    name = "belay",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    verbatim_doc_comment
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) render: RenderArgs,
}

impl Cli {
    /// Reads the process's arguments and variables. Wrong usage ends the process with 2, as clap has it.
    pub(super) fn from_process() -> Self {
        without_empty_variables(Self::command())
            .try_get_matches()
            .and_then(|matches| Self::from_arg_matches(&matches))
            .unwrap_or_else(|error| tamed(error).exit())
    }
}

/// clap repeats what somebody wrote as it came, control characters and all.
fn tamed(mut error: clap::Error) -> clap::Error {
    let text = |text: &String| report::printable(text).into_owned();
    let texts: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(one) => Some((kind, ContextValue::String(text(one)))),
            ContextValue::Strings(all) => {
                Some((kind, ContextValue::Strings(all.iter().map(text).collect())))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in texts {
        error.insert(kind, value);
    }
    error
}

/// A variable that is set to nothing is not set: CronJobs and CI systems export such ones, and Helm
/// reads its own in the same way.
fn without_empty_variables(command: Clap) -> Clap {
    command
        .mut_args(|arg| {
            let value = arg.get_env().and_then(std::env::var_os);
            if value.is_some_and(|value| value.is_empty()) {
                arg.env(Resettable::Reset)
            } else {
                arg
            }
        })
        .mut_subcommands(without_empty_variables)
}

/// What to do; without a command, `render`.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Rewrite manifests from stdin to stdout (the default)
    Render(RenderArgs),
    /// Show the decision for every image, and why
    Explain(ExplainArgs),
    /// Show what the last failed render said
    LastError(LastErrorArgs),
    /// Print the configuration in force
    Config(ConfigArgs),
    /// Print the Roles that a render of these manifests needs
    ///
    /// A render reads the record Deployment, the workloads that run a managed image and the
    /// refresher's CronJob, each by its name: one Role for each namespace of these. Where the
    /// record does not say whether its digest was ever rolled out, which the chart's shell
    /// refresher never writes down, the render lists the past templates of that workload and of
    /// the record Deployment: ReplicaSets, or ControllerRevisions of a DaemonSet or
    /// StatefulSet. The manifests do not tell what the record says, so these rules are printed
    /// wherever the render leaves an image of such a workload to the cluster, unless
    /// --no-history is given.
    ///
    ///   helm template demo ./chart -n prod | belay rbac -n prod --service-account ci/deployer
    #[command(verbatim_doc_comment)]
    Rbac(RbacArgs),
    /// Make belay known to Helm 4
    Plugin(PluginArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the man page
    Man,
}

/// `belay render`
#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    #[command(flatten)]
    pub(super) decide: DecideArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
    #[command(flatten)]
    pub(super) state: StateArgs,
    #[command(flatten)]
    pub(super) speech: SpeechArgs,
    /// Break one edit before the self-check, to show that the check sees it (for belay's own tests)
    #[arg(long, env = "BELAY_CORRUPT_EDIT", hide = true, value_parser = BoolishValueParser::new())]
    pub(super) corrupt_edit: bool,
}

/// `belay explain`
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    pub(super) decide: DecideArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
    #[command(flatten)]
    pub(super) speech: SpeechArgs,
    /// How to print
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        env = "BELAY_OUTPUT",
        default_value = "table"
    )]
    pub(super) output: ExplainFormat,
    /// Show unmanaged images too, instead of counting them
    #[arg(long, env = "BELAY_ALL", value_parser = BoolishValueParser::new())]
    pub(super) all: bool,
    /// End with 1 when an image would be rewritten
    #[arg(long, env = "BELAY_CHECK", value_parser = BoolishValueParser::new())]
    pub(super) check: bool,
    /// Print every reason with its text, and read nothing
    #[arg(long, env = "BELAY_REASONS", value_parser = BoolishValueParser::new())]
    pub(super) reasons: bool,
}

/// What is written down about the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(super) struct ReportArgs {
    /// Write what was decided to a file, as JSON if it ends in .json, else as text
    ///
    /// Helm shows nothing of a successful post-renderer's messages, and Helm 4 not even a failed one's.
    #[arg(long, value_name = "FILE", env = "BELAY_REPORT")]
    pub(super) report: Option<PathBuf>,
}

/// How `belay explain` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExplainFormat {
    /// A table with short digests
    Table,
    /// A table with whole digests and the evidence
    Wide,
    /// JSON (schema belay.dev/report/v1)
    Json,
    /// Markdown, for --reasons
    #[value(hide = true)]
    Markdown,
}

/// What decisions depend on.
#[derive(Debug, Args)]
pub(super) struct DecideArgs {
    #[command(flatten)]
    pub(super) record: RecordArgs,
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

/// Where the record is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Record")]
pub(super) struct RecordArgs {
    /// Ask no cluster; without --record, every tag stays
    #[arg(long, env = "BELAY_NO_CLUSTER", value_parser = BoolishValueParser::new())]
    pub(super) no_cluster: bool,
    /// Take answers from saved objects instead of the cluster; repeatable
    ///
    /// As `kubectl get deploy,ds,rs,controllerrevisions,cronjobs -o yaml --show-managed-fields` prints
    /// them, for every namespace of the release.
    #[arg(long, value_name = "FILE", env = "BELAY_RECORD", value_delimiter = None)]
    pub(super) record: Vec<PathBuf>,
    /// Fail when there is no record: this release was refreshed before
    #[arg(long, env = "BELAY_REQUIRE_RECORD", value_parser = BoolishValueParser::new())]
    pub(super) require_record: bool,
    #[command(flatten)]
    pub(super) profile: ProfileArgs,
}

/// Which cluster, and as whom.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(super) struct ClusterArgs {
    /// The release's namespace, for manifests that name none
    #[arg(short, long, value_name = "NAMESPACE", env = "BELAY_NAMESPACE", value_parser = namespace)]
    pub(super) namespace: Option<String>,
    /// The kubeconfig context
    #[arg(
        long,
        visible_alias = "kube-context",
        value_name = "CONTEXT",
        env = "BELAY_CONTEXT"
    )]
    pub(super) context: Option<String>,
    /// The kubeconfig file
    #[arg(long, value_name = "FILE", env = "BELAY_KUBECONFIG")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Act as this user
    #[arg(long = "as", value_name = "USER", env = "BELAY_AS")]
    pub(super) as_user: Option<String>,
    /// Act as a member of this group; repeatable
    #[arg(long = "as-group", value_name = "GROUP", env = "BELAY_AS_GROUP")]
    pub(super) as_groups: Vec<String>,
    /// How long all questions together may take, at most 24h
    #[arg(long, value_name = "DURATION", env = "BELAY_TIMEOUT", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,
    /// When the cluster cannot be asked: fail, or leave the tags with a warning
    #[arg(
        long,
        value_name = "WHAT",
        env = "BELAY_ON_LOOKUP_ERROR",
        default_value = "fail"
    )]
    pub(super) on_lookup_error: OnTrouble,
}

/// What to make of the answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Decisions")]
pub(super) struct PolicyArgs {
    /// Whether the refresher runs: as the manifests say, or whatever they say
    #[arg(
        long,
        value_name = "STATE",
        env = "BELAY_REFRESHER",
        default_value = "auto"
    )]
    pub(super) refresher: RefresherState,
    /// Fail when any outcome deserves a warning
    #[arg(long, env = "BELAY_STRICT", value_parser = BoolishValueParser::new())]
    pub(super) strict: bool,
    /// When an image cannot be rewritten safely: fail, or leave its tag with a warning
    #[arg(
        long,
        value_name = "WHAT",
        env = "BELAY_ON_UNEDITABLE",
        default_value = "fail"
    )]
    pub(super) on_uneditable: OnTrouble,
}

/// `fail` or `leave`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OnTrouble {
    /// End with an error
    Fail,
    /// Leave the rendered image and warn
    Leave,
}

/// `--refresher`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RefresherState {
    /// As the refresher's CronJob in the manifests says
    Auto,
    /// It runs, though the manifests may not hold it
    Active,
    /// It does not run
    Inactive,
}

impl From<RefresherState> for Refreshing {
    fn from(state: RefresherState) -> Self {
        match state {
            RefresherState::Auto => Self::Auto,
            RefresherState::Active => Self::Active,
            RefresherState::Inactive => Self::Inactive,
        }
    }
}

/// `belay config`
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// Print the built-in configuration, whatever --config says
    #[arg(long)]
    pub(super) default: bool,
    #[command(flatten)]
    pub(super) profile: ProfileArgs,
    #[command(flatten)]
    pub(super) speech: SpeechArgs,
}

/// `belay plugin`
#[derive(Debug, Args)]
pub(super) struct PluginArgs {
    #[command(subcommand)]
    pub(super) command: PluginCommand,
}

/// What to do about the plugin.
#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Put belay where Helm 4 finds post-renderers
    Install(PluginInstallArgs),
}

/// `belay plugin install`
#[derive(Debug, Args)]
pub(super) struct PluginInstallArgs {
    /// The plugins folder [default: the first of $HELM_PLUGINS, else $HELM_DATA_HOME/plugins, else
    /// Helm's own default]
    #[arg(long, value_name = "DIR", env = "BELAY_PLUGIN_DIR")]
    pub(super) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) speech: SpeechArgs,
}

/// `belay completions`
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    /// Every option can be set where no argument can be passed.
    #[test]
    fn every_option_has_its_variable() {
        let mut command = Cli::command();
        command.build();
        let mut commands = vec![&command];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().filter(|c| c.get_name() != "help"));
            for option in command.get_opts().chain(command.get_arguments()) {
                let long = option.get_long().unwrap_or("help");
                if !matches!(long, "help" | "version" | "default") {
                    assert!(
                        option.get_env().is_some(),
                        "{} --{long}",
                        command.get_name()
                    );
                }
            }
        }
    }
}
