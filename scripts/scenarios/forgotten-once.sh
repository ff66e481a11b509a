#!/usr/bin/env bash
# Helm does not remember a post-renderer. Forgotten once, the next upgrade with belay brings
# the recorded digests back (Helm 3), or goes through where the one before failed (Helm 4).
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
tags=$(expected_images :prod :prod :prod)

install_refreshed --set env.CLIENT_ENV=prod
pods=$(release_pods)
with_belay --report "$report"

if [[ $(helm_major) -eq 3 ]]; then
  helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes
  assert_eq "forgotten once, Helm 3 puts every tag back" "$tags" "$(live_images)"
else
  assert_fails "forgotten once, Helm 4 fails" helm_ upgrade "$release" "$chart" --reuse-values --wait
  assert_contains "it fails on the refresher's images" 'conflict with "kubectl-set"' "$output"
  assert_eq "every site keeps its digest" "$(refreshed_images)" "$(live_images)"
fi

helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "with belay again, every site has its digest" "$(refreshed_images)" "$(live_images)"
assert_eq "the stored release has the digests" "$(refreshed_images)" "$(stored_images)"
assert_eq "belay took them from the record" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$report")"
assert_eq "the release is deployed" deployed "$(helm_ status "$release" -o json | python3 -c '
import json, sys
print(json.load(sys.stdin)["info"]["status"])')"
[[ $(helm_major) -eq 3 ]] || assert_eq "under Helm 4 no Pod was ever replaced" "$pods" "$(release_pods)"
