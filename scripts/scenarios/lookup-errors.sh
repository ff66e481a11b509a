#!/usr/bin/env bash
# When the cluster cannot be asked, belay fails, so Helm fails, and nothing has changed.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json

install_refreshed --set env.CLIENT_ENV=prod
before=$(release_state)

# Helm itself reaches the cluster; belay gets a kubeconfig of its own.
upgrade_fails() { # WHAT EXIT_CODE KUBECONFIG
  rm -f "$report"
  with_belay "--kubeconfig=$3" --timeout=2s "--report=$report"
  assert_fails "$1: the upgrade fails" helm_ upgrade "$release" "$chart" --reuse-values "${with_belay[@]}"
  printf '%s\n' "$output"
  error=$(field_in "$report" error)
  printf '%s\n' "$error"
  assert_eq "$1: the exit code tells why" "$2" "$(field_in "$report" exitCode)"
  assert_eq "$1: nothing has changed" "$before" "$(release_state)"
}

dead=$work/dead.kubeconfig
cp "$KUBECONFIG" "$dead"
"$RIG_KUBECTL" config set-cluster "$("$RIG_KUBECTL" config view --minify -o 'jsonpath={.clusters[0].name}')" \
  --kubeconfig "$dead" --server https://127.0.0.1:1 >/dev/null
begin=$SECONDS
upgrade_fails "nobody listens" 69 "$dead"
((SECONDS - begin < 15)) || fail "--timeout=2s was not kept: $((SECONDS - begin)) s"
assert_contains "the message names the address" 127.0.0.1:1 "$error"

kube create serviceaccount stranger
account_kubeconfig stranger "$work/stranger.kubeconfig"
upgrade_fails "an account without rights" 77 "$work/stranger.kubeconfig"
rule="{apiGroups: [\"apps\"], resources: [\"deployments\"], resourceNames: [\"$release-jobs-manager\"], verbs: [\"get\"]}"
assert_contains "the message names the missing rule" "$rule in namespace \`$release_namespace\`" "$error"

: >"$work/empty.kubeconfig"
upgrade_fails "an empty kubeconfig" 78 "$work/empty.kubeconfig"
assert_contains "the message names the file" "$work/empty.kubeconfig" "$error"
