//! `belay rbac`: the smallest Roles that `render` needs for a stream. Asks nobody.

use super::args::RbacArgs;
use super::exit::Exit;
use super::report_file::end;
use super::{config, input, output};
use crate::cluster;
use crate::manifest::{self, Breadth};
use crate::policy::{self, Policy, Source};

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
        config,
        speech,
    } = args;
    let profile = config::load(config.as_deref())?;
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
