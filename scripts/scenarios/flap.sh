#!/usr/bin/env bash
# A new digest crashes, and the refresher has given up on it: belay goes back to the recorded
# one, which ran. Under Helm 4 that takes the image from the refresher, so it wants
# --force-conflicts.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
crashing=$(fake_digest e)

install_refreshed --set env.CLIENT_ENV=prod
kube set image "deployment/$release-jobs-manager" "api=docker.io/tracebloc/jobs-manager@$crashing"
kube wait "deployment/$release-jobs-manager" --for=condition=Available=false --timeout=60s
kube annotate "deployment/$release-jobs-manager" \
  tracebloc.io/refresh-attempt=3 tracebloc.io/refresh-flap-detected=true
with_belay --report "$report"
upgrade=(helm_ upgrade "$release" "$chart" --reuse-values --wait --timeout 2m "${with_belay[@]}")

if [[ $(helm_major) -eq 3 ]]; then
  "${upgrade[@]}" --hide-notes
else
  assert_fails "under Helm 4 going back is a conflict" "${upgrade[@]}"
  assert_contains "on the one image" \
    '1 conflict: conflict with "kubectl-set" using apps/v1: .spec.template.spec.containers[name="api"].image' "$output"
  "${upgrade[@]}" --hide-notes --force-conflicts
fi
assert_eq "every site has its recorded digest" "$(refreshed_images)" "$(live_images)"
assert_contains "the report says why" "api pinned-over-flap" "$(reasons_in "$report")"
warnings=$(warnings_in "$report")
printf '%s\n' "$warnings"
assert_contains "and warns" "api: " "$warnings"
wait_rolled_out "deployment/$release-jobs-manager"
