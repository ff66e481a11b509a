#!/usr/bin/env bash
# A refresher that is suspended or switched off pins nothing: the upgrade applies the tag. Under Helm 4
# that takes the images back from the refresher, which is a conflict and wants --force-conflicts once.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
tags=$(expected_images :prod :prod :prod)
with_belay --report "$report"

switch() { # VALUE [HELM_ARGUMENT…]
  local value=$1
  shift
  helm_ upgrade "$release" "$chart" --reuse-values --set "$value" --wait --hide-notes "$@" "${with_belay[@]}"
}

there_and_back() { # VALUE_FOR_OFF REASON VALUE_FOR_ON
  local image
  for image in "${!digest_of[@]}"; do
    refresh_sets "$image" "${digest_of[$image]}"
    refresh_records "$image" "${digest_of[$image]}"
  done
  if [[ $(helm_major) -ge 4 ]]; then
    assert_fails "under Helm 4 $1 is a conflict" switch "$1"
    assert_contains "with the refresher" 'conflict with "kubectl-set"' "$output"
    assert_eq "every site keeps its digest" "$(refreshed_images)" "$(live_images)"
    switch "$1" --force-conflicts
  else
    switch "$1"
  fi
  assert_eq "$1: every site has the tag" "$tags" "$(live_images)"
  assert_eq "the stored release has the tags" "$tags" "$(stored_images)"
  assert_eq "the report says why" "$(expected_reasons "$2" "$2" "$2")" "$(reasons_in "$report")"
  assert_eq "the record stands" "${digest_of[jobs-manager]}" "$(recorded jobs-manager)"

  # What was recorded before may be months old by now.
  switch "$3"
  assert_eq "$3: every site waits with the tag for the next tick" "$tags" "$(live_images)"
  local reason=record-unmaintained
  assert_eq "the report says why" "$(expected_reasons $reason $reason $reason)" "$(reasons_in "$report")"
}

install_control_plane --set env.CLIENT_ENV=prod
there_and_back imageRefresh.suspend=true refresh-suspended imageRefresh.suspend=false
there_and_back imageRefresh.enabled=false refresh-absent imageRefresh.enabled=true
