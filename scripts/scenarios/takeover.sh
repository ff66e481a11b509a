#!/usr/bin/env bash
# A release that Helm 3 installed and Helm 4 goes on with: Helm 4 keeps client-side apply for it
# (--server-side=auto), or is told to take it over with server-side apply. Either way every site keeps
# its digest, no Pod is replaced, and the upgrade after it works as well.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

under_test=$HELM
HELM=$("$repo/scripts/fetch-helm" 3.17.1)
install_refreshed --set env.CLIENT_ENV=prod
with_belay
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
HELM=$under_test
pods=$(release_pods)

report=$work/report.json
with_belay --report "$report"
modes=("")
[[ $(helm_major) -eq 3 ]] || modes=(--server-side=auto --server-side=true --server-side=true)
for mode in "${modes[@]}"; do
  helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes ${mode:+"$mode"} "${with_belay[@]}"
  what=${mode:-"Helm 3 as before"}
  assert_eq "$what: every site keeps its digest" "$(refreshed_images)" "$(live_images)"
  assert_eq "$what: no Pod is replaced" "$pods" "$(release_pods)"
  assert_eq "$what: the report says why" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$report")"
done
