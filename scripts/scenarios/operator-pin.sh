#!/usr/bin/env bash
# The operator pins one image by its value: that one gets his digest, the others keep theirs.
# Under Helm 4 he takes it from the refresher, which wants --force-conflicts once.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
chosen=$(fake_digest d)
expected=$(expected_images "@${digest_of[jobs-manager]}" "@$chosen" "@${digest_of[resource-monitor]}")

install_refreshed --set env.CLIENT_ENV=prod
proxy_and_monitor() {
  pod_uids "$release_namespace" "$of_release,app.kubernetes.io/component=requests-proxy"
  pod_uids "$agents_namespace" "$of_release"
}
pods=$(proxy_and_monitor)
with_belay --report "$report"
pin=(helm_ upgrade "$release" "$chart" --reuse-values --set "images.podsMonitor.digest=$chosen" --wait "${with_belay[@]}")

if [[ $(helm_major) -eq 3 ]]; then
  "${pin[@]}" --hide-notes
else
  assert_fails "under Helm 4 the pin is a conflict" "${pin[@]}"
  assert_contains "on the one image" \
    '1 conflict: conflict with "kubectl-set" using apps/v1: .spec.template.spec.containers[name="pods-monitor-container"].image' "$output"
  assert_eq "every site keeps its digest" "$(refreshed_images)" "$(live_images)"
  "${pin[@]}" --hide-notes --force-conflicts
fi
assert_eq "one image has the operator's digest, the others keep theirs" "$expected" "$(live_images)"
assert_eq "the stored release has the same" "$expected" "$(stored_images)"
assert_eq "the report says why" "$(expected_reasons pinned operator-pin pinned)" "$(reasons_in "$report")"
assert_eq "the Pods of other workloads are not replaced" "$pods" "$(proxy_and_monitor)"

# From now on the pin is Helm's own, so no more force is needed.
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "the next upgrade changes nothing" "$expected" "$(live_images)"
