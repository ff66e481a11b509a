#!/usr/bin/env bash
# Helm tells a post-renderer nothing of its --kubeconfig and --kube-context. belay reads Helm's
# command line, and stops rather than ask another cluster than Helm is going to change.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
reasons=$(expected_reasons no-record no-record no-record)

# One cluster under two contexts, in a file that the environment does not name.
other=$work/other.kubeconfig
config() {
  "$RIG_KUBECTL" config --kubeconfig "$other" "$@"
}
"$RIG_KUBECTL" config view --raw --minify --flatten >"$other"
config rename-context "$(config current-context)" first
config set-context second --cluster "$(config view -o 'jsonpath={.clusters[0].name}')" \
  --user "$(config view -o 'jsonpath={.users[0].name}')"

upgrade() { # [HELM_OPTION…]
  rm -f "$report"
  (unset KUBECONFIG && helm_ upgrade "$release" "$chart" --reuse-values --hide-notes "${with_belay[@]}" "$@")
}
assert_stops() { # WHAT ARGUMENT_THAT_IS_MISSING HELM_OPTION…
  local before missing=$2
  before=$(release_state)
  assert_fails "$1: the upgrade fails" upgrade "${@:3}"
  assert_eq "$1: with exit code 76" 76 "$(field_in "$report" exitCode)"
  field_in "$report" error
  assert_contains "$1: belay says what to add" "--post-renderer-args=$missing" "$(field_in "$report" error)"
  assert_eq "$1: nothing has changed" "$before" "$(release_state)"
}

install_control_plane --set env.CLIENT_ENV=prod

with_belay "--report=$report"
assert_stops "a kubeconfig of Helm's own" "--kubeconfig=$other" --kubeconfig "$other"

with_belay "--report=$report" "--kubeconfig=$other"
upgrade --kubeconfig "$other"
assert_eq "passed on, belay asks the same cluster" "$reasons" "$(reasons_in "$report")"
assert_stops "a context of Helm's own" --context=second --kubeconfig "$other" --kube-context second

with_belay "--report=$report" "--kubeconfig=$other" --context=second
upgrade --kubeconfig "$other" --kube-context second
assert_eq "passed on, belay asks the same context" "$reasons" "$(reasons_in "$report")"

# What is exported reaches both.
with_belay "--report=$report"
rm "$report"
KUBECONFIG=$other HELM_KUBECONTEXT=second helm_ upgrade "$release" "$chart" --reuse-values --hide-notes "${with_belay[@]}"
assert_eq "from the environment, belay takes the same context" "$reasons" "$(reasons_in "$report")"
