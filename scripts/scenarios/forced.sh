#!/usr/bin/env bash
# A forced upgrade replaces objects, and with jobs-manager the record is gone. What still runs a digest
# keeps it, and nothing is invented for what does not: the refresher's next tick starts anew.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
force=(--force)
[[ $(helm_major) -eq 3 ]] || force=(--force-replace --server-side=false)

install_refreshed --set env.CLIENT_ENV=prod
with_belay --report "$report"
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${force[@]}" "${with_belay[@]}"
assert_eq "with belay a forced upgrade keeps every digest" "$(refreshed_images)" "$(live_images)"
assert_eq "but the record is gone" "" "$(recorded jobs-manager)"

pods=$(release_pods)
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "the next upgrade keeps what runs" "$(refreshed_images)" "$(live_images)"
assert_eq "and replaces no Pod" "$pods" "$(release_pods)"
assert_eq "the report says why" "$(expected_reasons pinned-live pinned-live pinned-live)" "$(reasons_in "$report")"
