#!/usr/bin/env bash
# An upgrade in the middle of a tick: the refresher has moved an image and not written that down
# yet. What runs is newer than the record, and belay leaves it where it is.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
newer=$(fake_digest d)
expected=$(expected_images "@$newer" "@${digest_of[pods-monitor]}" "@${digest_of[resource-monitor]}")

install_refreshed --set env.CLIENT_ENV=prod
refresh_sets jobs-manager "$newer"
refresh_waits jobs-manager
pods=$(release_pods)
with_belay --report "$report"

helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "the image that has just moved stays" "$expected" "$(live_images)"
assert_eq "the stored release has the same" "$expected" "$(stored_images)"
assert_eq "the report says why" "$(expected_reasons pinned-live pinned pinned)" "$(reasons_in "$report")"
assert_eq "no Pod is replaced" "$pods" "$(release_pods)"

refresh_records jobs-manager "$newer"
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "written down, it stays for that" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$report")"
assert_eq "and still no Pod is replaced" "$pods" "$(release_pods)"
