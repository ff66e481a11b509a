#!/usr/bin/env bash
# `helm rollback` runs no post-renderer, so it puts back the images that its revision has: a tag,
# or an older digest. The next upgrade with belay brings the recorded digests again.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
older=$(fake_digest d)
rollback=(helm_ rollback "$release")
# Helm 4 would rather leave the images to the refresher.
[[ $(helm_major) -eq 3 ]] || rollback+=(--force-conflicts)

# No step here needs the Pods to be ready.
refresh() { # IMAGE DIGEST
  refresh_sets "$1" "$2"
  refresh_records "$1" "$2"
}

install_control_plane --set env.CLIENT_ENV=prod
for image in "${!digest_of[@]}"; do
  refresh "$image" "$older"
done
with_belay --report "$report"
upgrade=(helm_ upgrade "$release" "$chart" --reuse-values --hide-notes "${with_belay[@]}")
"${upgrade[@]}"
for image in "${!digest_of[@]}"; do
  refresh "$image" "${digest_of[$image]}"
done

"${rollback[@]}" 2
assert_eq "a rollback puts the older digests back" "$(expected_images "@$older" "@$older" "@$older")" "$(live_images)"
assert_eq "and they are Helm's" helm "$(owners_of_image "deployment/$release-jobs-manager" api | cut -d' ' -f1)"
"${upgrade[@]}"
assert_eq "an upgrade with belay brings the recorded ones" "$(refreshed_images)" "$(live_images)"
reason=pinned-over-rollback
assert_eq "the report says why" "$(expected_reasons $reason $reason $reason)" "$(reasons_in "$report")"

"${rollback[@]}" 1
assert_eq "a rollback to the first revision puts the tags back" "$(expected_images :prod :prod :prod)" "$(live_images)"
"${upgrade[@]}"
assert_eq "an upgrade with belay brings the recorded digests" "$(refreshed_images)" "$(live_images)"
assert_eq "the report says why" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$report")"
