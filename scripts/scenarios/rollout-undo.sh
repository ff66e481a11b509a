#!/usr/bin/env bash
# `kubectl rollout undo` is somebody's hand, not Helm's. A digest that it put back runs on through an
# upgrade. A tag does not: that pin was dropped, and the upgrade brings the recorded digest, which under
# Helm 4 is a conflict with kubectl and wants --force-conflicts.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
older=$(fake_digest d)

install_control_plane --set env.CLIENT_ENV=prod
refresh_writes pods-monitor "$older"
for image in jobs-manager pods-monitor resource-monitor; do
  refresh_writes "$image" "${digest_of[$image]}"
done
with_belay --report "$report"
upgrade=(helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}")
"${upgrade[@]}"

# The first roll-out of the requests-proxy ran the tag, the one before its last.
kube rollout undo "deployment/$release-requests-proxy"
refresh_waits jobs-manager
undone=$(image_of "deployment/$release-requests-proxy" proxy)
assert_eq "the hand put the tag back" docker.io/tracebloc/jobs-manager:prod "$undone"
pods=$(pod_uids "$release_namespace" "app.kubernetes.io/component=jobs-manager,$of_release")

if [[ $(helm_major) -eq 3 ]]; then
  "${upgrade[@]}"
else
  assert_fails "under Helm 4 that tag is a conflict" "${upgrade[@]}"
  assert_contains "with kubectl" 'conflict with "kubectl"' "$output"
  "${upgrade[@]}" --force-conflicts
fi
assert_eq "an upgrade with belay brings the recorded digest" \
  "docker.io/tracebloc/jobs-manager@${digest_of[jobs-manager]}" \
  "$(image_of "deployment/$release-requests-proxy" proxy)"
assert_eq "no other Pod is replaced" "$pods" \
  "$(pod_uids "$release_namespace" "app.kubernetes.io/component=jobs-manager,$of_release")"

# jobs-manager itself, from all three digests to the revision before: another digest of one image.
kube rollout undo "deployment/$release-jobs-manager"
refresh_waits jobs-manager
before=$(live_images)
pods=$(release_pods)
"${upgrade[@]}"
assert_eq "a digest that a hand put back stays" "$before" "$(live_images)"
assert_eq "and no Pod is replaced" "$pods" "$(release_pods)"
