#!/usr/bin/env bash
# Without any Helm release: objects that were applied on the server's side, as Argo CD does it.
# Nothing says then who deployed them, and belay still keeps the digests.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

belay=$(belay_binary)
report=$work/report.json
manifests() {
  # Without its Roles, some of which no namespace would take along at the end.
  helm_ template "$release" "$chart" --no-hooks --set env.CLIENT_ENV=prod --set rbac.create=false
}
apply() { # <MANIFESTS, which name their namespaces
  "$RIG_KUBECTL" apply --server-side --field-manager argocd-controller -f -
}

manifests | apply >/dev/null
for image in "${!digest_of[@]}"; do
  refresh_writes "$image" "${digest_of[$image]}"
done
pods=$(release_pods)

assert_fails "without belay, the next apply is a conflict" apply < <(manifests)
assert_contains "with the refresher" 'conflict with "kubectl-set"' "$output"

manifests | "$belay" --report "$report" | apply >/dev/null
assert_eq "with belay, every site keeps its digest" "$(refreshed_images)" "$(live_images)"
assert_eq "as recorded" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$report")"
assert_eq "no Pod is replaced" "$pods" "$(release_pods)"
assert_contains "it is noted that the record may be of another release" \
  "does not carry the annotation meta.helm.sh/release-name" "$(field_in "$report" notes)"
assert_eq "whose the images are is unknown" None "$(python3 -c '
import json, sys
for owners in {site["evidence"]["live"]["owners"] for site in json.load(open(sys.argv[1]))["sites"]}:
    print(owners)
' "$report")"
