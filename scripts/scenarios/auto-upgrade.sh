#!/usr/bin/env bash
# The chart's own auto-upgrade, run as its Job would run it: by the script that the chart
# installed, with the token and the rights of its ServiceAccount, to a newer chart.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

newer=$work/newer
mkdir "$work/bin"
ln -s "$HELM" "$work/bin/helm"
"$(belay_binary)" plugin install --dir "$work/plugins"
cp -R "$chart" "$newer"
sed -i 's/^version: .*/version: 99.0.0/' "$newer/Chart.yaml"

auto_upgrade() { # the environment that the chart's CronJob gives it, but for the chart's place
  KUBECONFIG=$work/kubeconfig PATH=$work/bin:$PATH BELAY_PLUGINS=$work/plugins REPORT=$work/report.txt \
    RELEASE_NAME=$release RELEASE_NAMESPACE=$release_namespace \
    CHART=$newer CHART_REPOSITORY='' CHART_VERSION='' UPGRADE_TIMEOUT=2m ROLLBACK_ON_FAILURE=true \
    sh "$work/auto-upgrade.sh" 2>&1
}

installed_version() {
  helm_ get metadata "$release" -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])'
}

install_refreshed --set env.CLIENT_ENV=prod
account_kubeconfig "$release-auto-upgrade" "$work/kubeconfig"
kube get configmap "$release-auto-upgrade" -o 'jsonpath={.data.auto-upgrade\.sh}' >"$work/auto-upgrade.sh"
pods=$(release_pods)

said=$(auto_upgrade) || fail "the auto-upgrade ended with $?"$'\n'"$said"
printf '%s\n' "$said"
assert_eq "the newer chart is installed" 99.0.0 "$(installed_version)"
assert_eq "every site keeps its digest" "$(refreshed_images)" "$(live_images)"
assert_eq "the stored release has the digests" "$(refreshed_images)" "$(stored_images)"
assert_eq "no Pod is replaced" "$pods" "$(release_pods)"
assert_contains "the Job's log tells what belay decided" "5 pinned, " "$said"

said=$(auto_upgrade)
assert_contains "a second run finds nothing to do" "nothing to do" "$said"

# A release that was refreshed once always has a record, so without one something is wrong.
sed -i 's/^version: .*/version: 99.0.1/' "$newer/Chart.yaml"
kube delete deployment "$release-jobs-manager"
if said=$(auto_upgrade); then
  fail "without the record Deployment the auto-upgrade went through"$'\n'"$said"
fi
assert_contains "without the record it fails, and says so" "failed with exit code 76: " "$said"
assert_eq "the chart is the same" 99.0.0 "$(installed_version)"
