#!/usr/bin/env bash
# The Role that the chart gives to its auto-upgrade is enough for belay.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

install_refreshed --set env.CLIENT_ENV=prod
account_kubeconfig "$release-auto-upgrade" "$work/auto-upgrade.kubeconfig"
belay=$(belay_binary)

helm_ template "$release" "$chart" --set env.CLIENT_ENV=prod |
  "$belay" render --kubeconfig "$work/auto-upgrade.kubeconfig" --require-record --strict \
    --report "$work/report.json" >"$work/manifests"
assert_eq "with the auto-upgrade's own token, belay pins every site" \
  "$(refreshed_images)" "$(images_of_manifests <"$work/manifests")"
assert_eq "as recorded" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$work/report.json")"
