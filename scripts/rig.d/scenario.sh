# shellcheck shell=bash
# What scenarios are written with. A scenario starts with
#
#     # shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
#     . "$(dirname "$0")/../rig.d/scenario.sh"
#
# and is run by `scripts/rig run NAME`, which gives it a cluster (KUBECONFIG), kubectl
# (RIG_KUBECTL), the API server's audit log (RIG_AUDIT_LOG; empty in a given cluster)
# and the Helm under test (HELM). It has then a release name and namespaces of its own
# (or those that SCENARIO_RELEASE and SCENARIO_NAMESPACE choose), and fails at the first
# command or assertion that does.
set -euo pipefail

: "${KUBECONFIG:?run by: scripts/rig run SCENARIO}" "${RIG_KUBECTL:?}" "${HELM:?}"

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034 # for scenarios
chart=$repo/charts/control-plane
release=${SCENARIO_RELEASE:-edge-$(printf '%04x%04x' "$RANDOM" "$RANDOM")}
release_namespace=${SCENARIO_NAMESPACE:-$release}
agents_namespace=$release_namespace-$release-node-agents # as the chart names it
of_release=app.kubernetes.io/instance=$release
work=$(mktemp -d "${TMPDIR:-/tmp}/belay-scenario.XXXXXX")

# Nothing that the caller's shell exports, or keeps at home, may reach Helm, kubectl or
# belay: not their settings, nor discovery caches of an earlier cluster on this port.
unset "${!HELM_@}" "${!BELAY_@}" "${!XDG_@}"
export HOME=$work/home
export HELM_CACHE_HOME=$work/helm/cache HELM_CONFIG_HOME=$work/helm/config HELM_DATA_HOME=$work/helm/data
export HELM_PLUGINS=$work/helm/plugins
mkdir -p "$HOME" "$HELM_PLUGINS"

# --- the programs -------------------------------------------------------------------

helm_() { # the Helm under test, in the release's namespace
  "$HELM" --namespace "$release_namespace" "$@"
}

helm_major() {
  "$HELM" version --template '{{.Version}}' | sed 's/^v\([0-9]*\).*/\1/'
}

kube() { # kubectl, in the release's namespace unless -n says otherwise
  "$RIG_KUBECTL" --namespace "$release_namespace" "$@"
}

# $BELAY, or else what cargo built last, always as an absolute path.
belay_binary() {
  local target=${CARGO_TARGET_DIR:-$repo/target} found
  found=${BELAY:-$target/release/belay}
  [[ -n ${BELAY:-} || ! $target/debug/belay -nt $found ]] || found=$target/debug/belay
  [[ -x $found ]] || fail "there is no belay at $found: cargo build, or set BELAY"
  realpath "$found"
}

# Sets the array with_belay to what Helm needs to run belay with these arguments. Helm 3
# takes a path, Helm 4 the name of an installed plugin. The equals sign matters: Helm
# takes the second word of `--post-renderer-args --kubeconfig=FILE` for its own option.
#     with_belay --require-record && helm_ upgrade "$release" "$chart" "${with_belay[@]}"
with_belay() { # [ARGUMENT_OF_BELAY…]
  local belay argument
  belay=$(belay_binary)
  with_belay=(--post-renderer "$belay")
  if [[ $(helm_major) -ge 4 ]]; then
    [[ -d $HELM_PLUGINS/belay ]] || "$belay" plugin install --dir "$HELM_PLUGINS"
    with_belay=(--post-renderer belay)
  fi
  for argument in "$@"; do
    with_belay+=("--post-renderer-args=$argument")
  done
}

# --- the cluster --------------------------------------------------------------------

image_of() { # KIND/NAME CONTAINER [NAMESPACE]
  container_image containers "$@"
}

init_image_of() { # KIND/NAME CONTAINER [NAMESPACE]
  container_image initContainers "$@"
}

container_image() { # LIST KIND/NAME CONTAINER [NAMESPACE]
  kube get "$2" -n "${4:-$release_namespace}" \
    -o "jsonpath={.spec.template.spec.$1[?(@.name==\"$3\")].image}"
}

annotation_of() { # KIND/NAME KEY [NAMESPACE]: empty if there is none
  kube get "$1" -n "${3:-$release_namespace}" \
    -o "go-template={{with .metadata.annotations}}{{with index . \"$2\"}}{{.}}{{end}}{{end}}"
}

# One line `CONTAINER IMAGE` for each image that the refresher moves, sorted: what the
# cluster has, what the last revision of the release says, and what is expected of both.
live_images() {
  local list='{{range .items}}{{range .spec.template.spec.initContainers}}{{.name}} {{.image}}{{"\n"}}{{end}}{{range .spec.template.spec.containers}}{{.name}} {{.image}}{{"\n"}}{{end}}{{end}}'
  {
    kube get deployments -l "$of_release" -o "go-template=$list"
    kube get daemonsets -l "$of_release" -n "$agents_namespace" -o "go-template=$list"
  } | sort
}

stored_images() {
  helm_ get manifest "$release" | images_of_manifests
}

# Without `job`, which is in the text of a ConfigMap, and `check`, which is in a hook.
images_of_manifests() { # <MANIFESTS
  awk '$1 == "-" && $2 == "name:" { name = $3 }
    $1 == "image:" && $2 ~ "/tracebloc/(jobs-manager|pods-monitor|resource-monitor)[:@]" && name !~ /^(job|check)$/ {
      print name, $2
    }' | sort
}

expected_images() { # JOBS_MANAGER PODS_MONITOR RESOURCE_MONITOR: each is :TAG or @DIGEST
  cat <<TEXT
api docker.io/tracebloc/jobs-manager$1
migrate docker.io/tracebloc/jobs-manager$1
pods-monitor-container docker.io/tracebloc/pods-monitor$2
proxy docker.io/tracebloc/jobs-manager$1
tracebloc-resource-monitor docker.io/tracebloc/resource-monitor$3
TEXT
}

# One line `MANAGER OPERATION` for each that owns the container's image field.
owners_of_image() { # KIND/NAME CONTAINER [NAMESPACE]
  kube get "$1" -n "${3:-$release_namespace}" --show-managed-fields -o json | python3 -c '
import json, sys

key = "k:" + json.dumps({"name": sys.argv[1]}, separators=(",", ":"))
for entry in json.load(sys.stdin)["metadata"]["managedFields"]:
    pod = entry.get("fieldsV1", {})
    for step in ("f:spec", "f:template", "f:spec"):
        pod = pod.get(step, {})
    if any("f:image" in pod.get(kind, {}).get(key, {}) for kind in ("f:containers", "f:initContainers")):
        print(entry["manager"], entry["operation"])
' "$2" | sort
}

pod_uids() { # NAMESPACE LABEL_SELECTOR: of Pods that are not on their way out, sorted
  kube get pods -n "$1" -l "$2" \
    -o 'go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.uid}}{{"\n"}}{{end}}{{end}}' | sort
}

# The same for all Pods of the release, but for those that its CronJobs start by the clock.
release_pods() {
  local workloads="$of_release,app.kubernetes.io/component notin (image-refresh,auto-upgrade)"
  {
    pod_uids "$release_namespace" "$workloads"
    pod_uids "$agents_namespace" "$workloads"
  } | sort
}

# One line for each object of the release and each revision that Helm has stored: equal
# before and after if nobody has written in between. A controller's status does not count.
release_state() {
  local list='{{range .items}}{{.kind}} {{.metadata.name}} {{.metadata.uid}} {{or .metadata.generation .metadata.resourceVersion}}{{"\n"}}{{end}}'
  kube get deployments,cronjobs,configmaps,secrets,services -o "go-template=$list"
  kube get daemonsets,secrets -n "$agents_namespace" -o "go-template=$list"
}

wait_rolled_out() { # KIND/NAME [NAMESPACE]
  kube rollout status "$1" -n "${2:-$release_namespace}" --timeout 60s
}

# Writes a kubeconfig with a fresh token of a ServiceAccount in the release's namespace.
account_kubeconfig() { # SERVICE_ACCOUNT FILE
  kube config view --raw --minify --flatten >"$2"
  local user
  user=$(kube config view --kubeconfig "$2" -o 'jsonpath={.users[0].name}')
  kube config unset "users" --kubeconfig "$2" >/dev/null # or the certificate would win
  kube config set-credentials "$user" --kubeconfig "$2" --token "$(kube create token "$1")" >/dev/null
}

# --- the chart and its refresher ----------------------------------------------------

install_control_plane() { # [HELM_ARGUMENT…]
  helm_ install "$release" "$chart" --wait --timeout 2m --hide-notes "$@"
}

# A digest of one repeated hexadecimal digit. The Pods of fake_digest e crash for ever.
fake_digest() { # DIGIT
  printf 'sha256:%064d' 0 | tr 0 "$1"
}

# A release whose images the refresher has moved, each to its digest.
install_refreshed() { # [HELM_ARGUMENT…]
  local image
  install_control_plane "$@"
  for image in "${!digest_of[@]}"; do
    refresh_sets "$image" "${digest_of[$image]}"
    refresh_records "$image" "${digest_of[$image]}"
  done
  for image in "${!digest_of[@]}"; do
    refresh_waits "$image"
  done
}

refreshed_images() { # as expected_images prints them
  expected_images "@${digest_of[jobs-manager]}" "@${digest_of[pods-monitor]}" "@${digest_of[resource-monitor]}"
}

declare -A digest_of=(
  [jobs-manager]=$(fake_digest a)
  [pods-monitor]=$(fake_digest b)
  [resource-monitor]=$(fake_digest c)
)

# What one tick of the chart's refresher does for an image that has moved.
refresh_writes() { # IMAGE DIGEST
  refresh_sets "$1" "$2"
  refresh_waits "$1"
  refresh_records "$1" "$2"
}

refresh_sets() { # IMAGE DIGEST: the first half of a tick
  local image=docker.io/tracebloc/$1@$2
  case $1 in
    jobs-manager)
      kube set image "deployment/$release-jobs-manager" migrate="$image" api="$image"
      kube set image "deployment/$release-requests-proxy" proxy="$image"
      ;;
    pods-monitor)
      kube set image "deployment/$release-jobs-manager" pods-monitor-container="$image"
      ;;
    resource-monitor)
      kube set image -n "$agents_namespace" "daemonset/$release-resource-monitor" \
        tracebloc-resource-monitor="$image"
      ;;
    *) fail "the refresher knows no image $1" ;;
  esac
}

refresh_waits() { # IMAGE
  case $1 in
    resource-monitor) wait_rolled_out "daemonset/$release-resource-monitor" "$agents_namespace" ;;
    pods-monitor) wait_rolled_out "deployment/$release-jobs-manager" ;;
    *)
      wait_rolled_out "deployment/$release-jobs-manager"
      wait_rolled_out "deployment/$release-requests-proxy"
      ;;
  esac
}

refresh_records() { # IMAGE DIGEST: the second half of a tick
  kube annotate --overwrite "deployment/$release-jobs-manager" "$(record_key "$1")=$2"
}

recorded() { # IMAGE
  annotation_of "deployment/$release-jobs-manager" "$(record_key "$1")"
}

record_key() { # IMAGE
  printf 'tracebloc.io/last-refreshed-%s-digest' "$1"
}

# --- belay's report, in JSON --------------------------------------------------------

# One line `CONTAINER REASON` for each managed image, sorted. Without the hooks, which
# Helm 4 shows a post-renderer and Helm 3 does not.
reasons_in() { # FILE
  python3 -c '
import json, sys

for site in json.load(open(sys.argv[1]))["sites"]:
    if site["reason"] != "hook":
        print(site["container"].removeprefix("init:"), site["reason"])
' "$1" | sort
}

expected_reasons() { # JOBS_MANAGER PODS_MONITOR RESOURCE_MONITOR
  printf '%s\n' "api $1" "migrate $1" "pods-monitor-container $2" "proxy $1" "tracebloc-resource-monitor $3"
}

warnings_in() { # FILE: one line for each, `CONTAINER: WARNING`, sorted
  python3 -c '
import json, sys

for site in json.load(open(sys.argv[1]))["sites"]:
    for warning in site["warnings"]:
        print(site["container"].removeprefix("init:") + ": " + warning)
' "$1" | sort
}

field_in() { # FILE FIELD: of the report as a whole; empty if there is none
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], ""))' "$1" "$2"
}

# --- assertions ---------------------------------------------------------------------

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

assert_eq() { # WHAT EXPECTED ACTUAL
  [[ $2 == "$3" ]] || fail "$1"$'\n'"  expected: $2"$'\n'"  actual:   $3"
  printf 'ok: %s\n' "$1"
}

assert_contains() { # WHAT PART WHOLE
  [[ $3 == *"$2"* ]] || fail "$1"$'\n'"  expected in it: $2"$'\n'"  actual: $3"
  printf 'ok: %s\n' "$1"
}

assert_fails() { # WHAT COMMAND…: what the command said is in $output afterwards
  local what=$1
  shift
  ! output=$("$@" 2>&1) || fail "$what, but it did not fail"$'\n'"  it said: $output"
  printf 'ok: %s\n' "$what"
}

# --- begin and end ------------------------------------------------------------------

finish() {
  local status=$?
  trap '' INT TERM
  if [[ $status -ne 0 ]]; then
    kube get deployments,daemonsets,pods,pvc -o wide || true
    kube get daemonsets,pods -o wide -n "$agents_namespace" || true
  fi >&2
  helm_ uninstall "$release" >/dev/null 2>&1 || true # also takes what lies outside the namespaces
  "$RIG_KUBECTL" delete namespace "$release_namespace" "$agents_namespace" --ignore-not-found --wait=false >/dev/null || true
  rm -rf "$work"
  exit "$status"
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$RIG_KUBECTL" create namespace "$release_namespace" >/dev/null
printf 'release %s, Helm %s\n' "$release" "$("$HELM" version --short)"
