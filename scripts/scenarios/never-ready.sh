#!/usr/bin/env bash
# An upgrade that never gets ready is taken back by Helm itself (--atomic, --rollback-on-failure). Its last
# good revision was rendered through belay, so that the digests come back with it.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
take_back=(--atomic)
# The pin takes the image from the refresher.
[[ $(helm_major) -eq 3 ]] || take_back=(--rollback-on-failure --force-conflicts)

install_refreshed --set env.CLIENT_ENV=prod
with_belay --report "$report"
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"

assert_fails "an image that crashes for ever makes the upgrade fail" \
  helm_ upgrade "$release" "$chart" --reuse-values --timeout 20s "${take_back[@]}" \
  --set images.podsMonitor.digest="$(fake_digest e)" "${with_belay[@]}"
printf '%s\n' "$output"
assert_eq "belay left the operator's pin alone" "$(expected_reasons pinned operator-pin pinned)" "$(reasons_in "$report")"
assert_eq "Helm took it back to the digests" "$(refreshed_images)" "$(live_images)"
assert_eq "the stored release has the digests" "$(refreshed_images)" "$(stored_images)"

helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "the next upgrade keeps them" "$(refreshed_images)" "$(live_images)"
