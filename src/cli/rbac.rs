//! `belay rbac`: the smallest Roles that `render` needs for a stream. Asks nobody.

use clap::Args;
use clap::builder::BoolishValueParser;

use super::args::RefresherState;
use super::config::ProfileArgs;
use super::exit::Exit;
use super::report_file::end;
use super::speech::SpeechArgs;
use super::values::namespace;
use super::{config, input, output};
use crate::cluster::{self, ServiceAccount};
use crate::manifest::{self, Breadth};
use crate::policy::{self, Policy, Source};

/// `belay rbac`
#[derive(Debug, Args)]
pub(super) struct RbacArgs {
    /// The release's namespace, for manifests that name none
    ///
    /// Without it, the Role for these names none either, and goes where kubectl apply -n puts it.
    #[arg(short, long, value_name = "NAMESPACE", env = "BELAY_NAMESPACE", value_parser = namespace)]
    namespace: Option<String>,
    /// Bind the Roles to this ServiceAccount
    #[arg(long, value_name = "NAMESPACE/NAME", env = "BELAY_SERVICE_ACCOUNT")]
    service_account: Option<ServiceAccount>,
    /// Leave out the rules for past templates: every record has a state, as belay's own refresher writes
    #[arg(long, env = "BELAY_NO_HISTORY", value_parser = BoolishValueParser::new())]
    no_history: bool,
    /// Whether the refresher runs: as the manifests say, or whatever they say
    #[arg(
        long,
        value_name = "STATE",
        env = "BELAY_REFRESHER",
        default_value = "auto"
    )]
    refresher: RefresherState,
    #[command(flatten)]
    profile: ProfileArgs,
    #[command(flatten)]
    speech: SpeechArgs,
}

/// Prints the Roles, as documents that kubectl applies.
pub(super) fn run(args: &RbacArgs) -> Exit {
    args.speech.set_color();
    end(print(args), &args.speech)
}

fn print(args: &RbacArgs) -> anyhow::Result<Exit> {
    let RbacArgs {
        namespace,
        service_account,
        no_history,
        refresher,
        profile,
        speech,
    } = args;
    let profile = config::load(profile)?;
    let input = input::read()?;
    let policy = Policy {
        source: Source::Cluster,
        refreshing: (*refresher).into(),
        require_record: false,
        namespace: namespace.clone(),
    };
    let stream = manifest::scan(&input, &profile.needles(), Breadth::Marked)?;
    let survey = policy::survey(&stream, &profile, &policy, None);
    let mut histories = survey.possible_histories();
    if *no_history {
        histories.clear();
    }
    let roles = cluster::roles(&survey.questions(), histories, namespace.as_deref())?;
    if roles.roles.is_empty() {
        speech.tell("these manifests leave nothing to ask the cluster, so no Role is needed");
    }
    for (kind, resource) in &roles.guessed {
        speech.warning(&format!(
            "the resource of {kind} is taken to be `{resource}`: check it with kubectl api-resources"
        ));
    }
    let mut text = String::new();
    for manifest in roles.manifests(survey.only_release(), service_account.as_ref()) {
        text += "---\n";
        text += &serde_yaml::to_string(&manifest)?;
    }
    output::print(&text)?;
    Ok(Exit::Done)
}
