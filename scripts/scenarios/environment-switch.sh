#!/usr/bin/env bash
# CLIENT_ENV is switched, and the shell refresher's record speaks of the other environment until its
# next tick, without saying so. However many upgrades come in between, none takes a digest of the other
# environment for this one's: the history of the workloads says for which tag it ran.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
staging=$(expected_images :staging :staging :staging)

install_refreshed --set env.CLIENT_ENV=prod
with_belay --report "$report"

upgrade() { # [HELM_ARGUMENT…]
  helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "$@" "${with_belay[@]}"
}

# Helm 4 would rather leave the images to the refresher.
force=()
[[ $(helm_major) -eq 3 ]] || force=(--force-conflicts)

upgrade --set env.CLIENT_ENV=staging "${force[@]}"
assert_eq "the switch applies the new tag" "$staging" "$(live_images)"
assert_eq "the report says why" "$(expected_reasons tag-changed tag-changed tag-changed)" "$(reasons_in "$report")"
pods=$(release_pods)
for number in second third; do
  upgrade
  assert_eq "$number upgrade before any tick: the tags stay" "$staging" "$(live_images)"
  assert_eq "$number upgrade: the digests never ran for this tag" \
    "$(expected_reasons observed-only observed-only observed-only)" "$(reasons_in "$report")"
  assert_eq "$number upgrade: no Pod is replaced" "$pods" "$(release_pods)"
done

# A tick for staging, then back to prod: now staging's digests are the other environment's.
newer=$(fake_digest d)
for image in "${!digest_of[@]}"; do
  refresh_writes "$image" "$newer"
done
upgrade
assert_eq "after a tick its digests stay" "$(expected_images "@$newer" "@$newer" "@$newer")" "$(live_images)"
upgrade --set env.CLIENT_ENV=prod "${force[@]}"
upgrade
assert_eq "back again, the tags stay" "$(expected_images :prod :prod :prod)" "$(live_images)"
assert_eq "for the digests ran for staging alone" \
  "$(expected_reasons observed-only observed-only observed-only)" "$(reasons_in "$report")"

# The refresher writes down what it once rolled out for prod, which is what the tag means.
for image in "${!digest_of[@]}"; do
  refresh_records "$image" "${digest_of[$image]}"
done
upgrade
assert_eq "a digest that ran for prod is prod's, after whatever came in between" \
  "$(refreshed_images)" "$(live_images)"
