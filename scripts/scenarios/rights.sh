#!/usr/bin/env bash
# What `belay rbac` prints is enough for a render, and no rule of it is too much: without any one of
# them belay ends with 77 and names it. The Role that the chart gives to its auto-upgrade is enough too.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

belay=$(belay_binary)
report=$work/report.json
roles=$work/roles.json

render() { # ACCOUNT: the manifests of an upgrade, with this account's rights
  "$belay" render --kubeconfig "$work/$1.kubeconfig" --require-record --report "$report" \
    <"$work/rendered" >"$work/manifests"
}

# Rights take effect a moment after they are written.
eventually() { # EXIT_CODE
  local code=0 try
  for try in {1..50}; do
    code=0
    said=$(render deployer 2>&1) || code=$?
    [[ $code -ne $1 ]] || return 0
    sleep 0.2
  done
  fail "belay ended with $code instead of $1, $try times"$'\n'"$said"
}

# One line `NAMESPACE ROLE INDEX RULE` for each rule in $roles, as belay's messages write it, which name
# one object at a time: here the last of several.
rules() {
  python3 -c '
import json, sys

for role in json.load(open(sys.argv[1]))["items"]:
    for index, rule in enumerate(role.get("rules", [])):
        if "resourceNames" in rule:
            rule["resourceNames"] = rule["resourceNames"][-1:]
        fields = ["apiGroups", "resources", "resourceNames", "verbs"]
        parts = [field + ": " + json.dumps(rule[field]) for field in fields if field in rule]
        print(role["metadata"]["namespace"], role["metadata"]["name"], index, "{" + ", ".join(parts) + "}")
' "$roles"
}

# A first observation by the shell refresher: the histories have to be asked for, of every kind.
install_control_plane --set env.CLIENT_ENV=prod
for image in "${!digest_of[@]}"; do
  refresh_records "$image" "${digest_of[$image]}"
done
helm_ template "$release" "$chart" --set env.CLIENT_ENV=prod >"$work/rendered"
tags=$(expected_images :prod :prod :prod)
observed=$(expected_reasons observed-only observed-only observed-only)

account_kubeconfig "$release-auto-upgrade" "$work/auto-upgrade.kubeconfig"
render auto-upgrade
assert_eq "the auto-upgrade's own token may ask for all" "$observed" "$(reasons_in "$report")"

kube create serviceaccount deployer
account_kubeconfig deployer "$work/deployer.kubeconfig"
"$belay" rbac --service-account "$release_namespace/deployer" <"$work/rendered" >"$work/roles.yaml"
cat "$work/roles.yaml"
"$RIG_KUBECTL" apply -f "$work/roles.yaml"
"$RIG_KUBECTL" get -f "$work/roles.yaml" -o json >"$roles"
eventually 0
assert_eq "with what belay rbac prints, a render ends well" "$tags" "$(images_of_manifests <"$work/manifests")"
assert_eq "and was told all" "$observed" "$(reasons_in "$report")"

count=0
while read -r namespace role index rule; do
  path=/rules/$index
  kube patch role "$role" -n "$namespace" --type json -p "[{\"op\": \"remove\", \"path\": \"$path\"}]" >/dev/null
  eventually 77
  assert_contains "without a rule it ends with 77 and names it" "$rule in namespace \`$namespace\`" "$said"
  assert_eq "and writes nothing" "" "$(<"$work/manifests")"
  "$RIG_KUBECTL" apply -f "$work/roles.yaml" >/dev/null
  eventually 0
  count=$((count + 1))
done < <(rules)
assert_eq "every rule was tried" 5 "$count"

# Where the record says what it is, as belay's refresher writes it, no history is asked for.
for image in "${!digest_of[@]}"; do
  kube annotate "deployment/$release-jobs-manager" \
    "tracebloc.io/last-refreshed-$image-state=observed@${digest_of[$image]}"
done
"$belay" rbac --no-history <"$work/rendered" | "$RIG_KUBECTL" apply -f -
for kind in replicasets controllerrevisions; do
  namespace=$release_namespace
  [[ $kind == replicasets ]] || namespace=$agents_namespace
  allowed=$(kube auth can-i list "$kind" -n "$namespace" --as "system:serviceaccount:$release_namespace:deployer" || true)
  assert_eq "the $kind may not be listed" no "$allowed"
done
eventually 0
assert_eq "with a state, belay rbac --no-history is enough" "$observed" "$(reasons_in "$report")"

# What was rolled out is pinned, by the chart's own Role.
for image in "${!digest_of[@]}"; do
  refresh_writes "$image" "${digest_of[$image]}"
done
render auto-upgrade
assert_eq "with the auto-upgrade's own token, belay pins every site" \
  "$(refreshed_images)" "$(images_of_manifests <"$work/manifests")"
assert_eq "as recorded" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$report")"
