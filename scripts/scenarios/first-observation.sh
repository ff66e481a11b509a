#!/usr/bin/env bash
# The chart's shell refresher writes down what it sees in the registry at its first tick, and rolls
# nothing: the same content runs by its tag. It does not say so, and the workloads may have had several
# revisions by then. belay asks for their history, and an upgrade replaces no Pod. A digest that did
# run comes back where its pin was dropped.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
tags=$(expected_images :prod :prod :prod)

install_control_plane --set env.CLIENT_ENV=prod
for level in debug warn; do
  helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes \
    --set "settings.LOG_LEVEL=$level" --set "resourceMonitor.podAnnotations.level=$level"
done
revision=$(annotation_of "deployment/$release-jobs-manager" deployment.kubernetes.io/revision)
assert_eq "jobs-manager has had several revisions" 3 "$revision"
for image in "${!digest_of[@]}"; do
  refresh_records "$image" "${digest_of[$image]}"
done
pods=$(release_pods)
with_belay --report "$report"

for upgrade in first second; do
  helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
  assert_eq "$upgrade upgrade: the tags stay" "$tags" "$(live_images)"
  assert_eq "$upgrade upgrade: the report says why" \
    "$(expected_reasons observed-only observed-only observed-only)" "$(reasons_in "$report")"
  assert_eq "$upgrade upgrade: no Pod is replaced" "$pods" "$(release_pods)"
done

# The next tick finds that the tag has moved, for one image.
newer=$(fake_digest d)
expected=$(expected_images "@$newer" :prod :prod)
refresh_writes jobs-manager "$newer"
drop=(helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes)
[[ $(helm_major) -eq 3 ]] || drop+=(--force-conflicts)
"${drop[@]}"
assert_eq "an upgrade without belay drops the pin" "$tags" "$(live_images)"
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "with belay it comes back, and no other" "$expected" "$(live_images)"
assert_eq "for it ran" "$(expected_reasons pinned observed-only observed-only)" "$(reasons_in "$report")"
