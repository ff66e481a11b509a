#!/usr/bin/env bash
# A suspended refresher pins nothing: the upgrade applies the tag. Under Helm 4 that takes the
# images back from the refresher, which is a conflict and wants --force-conflicts once.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
tags=$(expected_images :prod :prod :prod)

install_refreshed --set env.CLIENT_ENV=prod
with_belay --report "$report"
suspend=(helm_ upgrade "$release" "$chart" --reuse-values --set imageRefresh.suspend=true --wait "${with_belay[@]}")

if [[ $(helm_major) -eq 3 ]]; then
  "${suspend[@]}" --hide-notes
else
  assert_fails "under Helm 4 suspending is a conflict" "${suspend[@]}"
  assert_contains "with the refresher" 'conflict with "kubectl-set"' "$output"
  assert_eq "every site keeps its digest" "$(refreshed_images)" "$(live_images)"
  "${suspend[@]}" --hide-notes --force-conflicts
fi
assert_eq "suspended, every site has the tag" "$tags" "$(live_images)"
assert_eq "the stored release has the tags" "$tags" "$(stored_images)"
reason=refresh-suspended
assert_eq "the report says why" "$(expected_reasons $reason $reason $reason)" "$(reasons_in "$report")"
assert_eq "the refresher is suspended" true \
  "$(kube get cronjob "$release-image-refresh" -o 'jsonpath={.spec.suspend}')"
assert_eq "the record stands" "${digest_of[jobs-manager]}" "$(recorded jobs-manager)"

# What was recorded before may be months old by now.
helm_ upgrade "$release" "$chart" --reuse-values --set imageRefresh.suspend=false --wait --hide-notes "${with_belay[@]}"
assert_eq "resumed, every site waits with the tag for the next tick" "$tags" "$(live_images)"
reason=record-unmaintained
assert_eq "the report says why" "$(expected_reasons $reason $reason $reason)" "$(reasons_in "$report")"
