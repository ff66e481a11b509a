#!/usr/bin/env bash
# On nothing, belay has nothing to keep: the tags are installed. --require-record, which a
# release that was refreshed before wants, makes the install fail and leaves no release.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
tags=$(expected_images :prod :prod :prod)
first=$(expected_reasons first-install first-install first-install)

with_belay --report "$report" --require-record
assert_fails "--require-record refuses a first install" \
  helm_ install "$release" "$chart" --set env.CLIENT_ENV=prod "${with_belay[@]}"
assert_eq "with exit code 76" 76 "$(field_in "$report" exitCode)"
printf '%s\n' "$(field_in "$report" error)"
all=(--all)
[[ $(helm_major) -eq 3 ]] || all=() # Helm 4 always lists all
assert_eq "no release is left behind" "" "$(helm_ list --short "${all[@]}")"
assert_eq "nothing was created" "" "$(kube get deployments,cronjobs,secrets -o name)"

rm "$report"
with_belay --report "$report"
install_control_plane --set env.CLIENT_ENV=prod "${with_belay[@]}"
assert_eq "helm install: the tags are installed" "$tags" "$(live_images)"
assert_eq "helm install: the report says why" "$first" "$(reasons_in "$report")"
assert_eq "helm install: belay ended well" 0 "$(field_in "$report" exitCode)"

rm "$report"
helm_ uninstall "$release" --wait
helm_ upgrade --install "$release" "$chart" --set env.CLIENT_ENV=prod --hide-notes "${with_belay[@]}"
assert_eq "helm upgrade --install: the tags are installed" "$tags" "$(live_images)"
assert_eq "helm upgrade --install: the report says why" "$first" "$(reasons_in "$report")"
assert_eq "helm upgrade --install: belay ended well" 0 "$(field_in "$report" exitCode)"
