#!/usr/bin/env bash
# What people and tools compare before they apply: a render against the cluster is the same twice in a
# row, the same as what Helm has stored, and a server-side dry run changes nothing.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

install_refreshed --set env.CLIENT_ENV=prod
with_belay --require-record
upgrade=(helm_ upgrade "$release" "$chart" --reuse-values "${with_belay[@]}")
"${upgrade[@]}" --wait --hide-notes
stored=$(helm_ get manifest "$release")
before=$(release_state)

rendered() { # the manifests of a dry run, as Helm prints them
  "${upgrade[@]}" --dry-run=server --hide-notes -o json | python3 -c '
import json, sys
print(json.load(sys.stdin)["manifest"].strip("\n"))'
}
first=$(rendered)
assert_eq "two renders in a row are the same" "$first" "$(rendered)"
assert_eq "and the same as what is stored" "$(sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' <<<"$stored")" \
  "$(sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' <<<"$first")"
assert_eq "a dry run changes nothing" "$before" "$(release_state)"

template() {
  helm_ template "$release" "$chart" --set env.CLIENT_ENV=prod --no-hooks |
    "$(belay_binary)" --namespace "$release_namespace"
}
assert_eq "templates through belay have the digests" "$(refreshed_images)" "$(template | images_of_manifests)"
template >"$work/first.yaml"
template >"$work/second.yaml"
cmp "$work/first.yaml" "$work/second.yaml" || fail "two templates in a row differ"
