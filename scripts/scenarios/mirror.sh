#!/usr/bin/env bash
# Images from a mirror are not the refresher's: it is inert there, and belay leaves the mirror's tags.
# Back at the registry that it watches, what was recorded long ago waits for the next tick.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
install_refreshed --set env.CLIENT_ENV=prod
with_belay --report "$report"
upgrade=(helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}")
"${upgrade[@]}"

to_mirror=("${upgrade[@]}" --set global.imageRegistry=mirror.example:5000)
if [[ $(helm_major) -ge 4 ]]; then
  assert_fails "under Helm 4 the mirror is a conflict" "${to_mirror[@]}"
  assert_contains "with the refresher" 'conflict with "kubectl-set"' "$output"
  to_mirror+=(--force-conflicts)
fi
"${to_mirror[@]}"
assert_eq "every site has the mirror's tag" \
  "$(expected_images :prod :prod :prod | sed 's#docker.io#mirror.example:5000#')" \
  "$(live_images)"
assert_eq "the report says why" "$(expected_reasons mirror mirror mirror)" "$(reasons_in "$report")"

"${upgrade[@]}" --set global.imageRegistry=docker.io
assert_eq "back again, every site waits with the tag for the next tick" \
  "$(expected_images :prod :prod :prod)" "$(live_images)"
reason=record-unmaintained
assert_eq "the report says why" "$(expected_reasons $reason $reason $reason)" "$(reasons_in "$report")"
