# shellcheck shell=bash
# up, down, status and env of one cluster, which lives in the folder $RIG_DIR: etcd,
# the three Kubernetes servers, and kwok in place of kubelets. Sourced by scripts/rig.

# Remembers the folder of the rig that was started without RIG_DIR; one per checkout.
record=$cache/rigs/$(printf '%s' "$here" | sha256sum | cut -c1-12)

select_rig() { # sets RIG_DIR to the rig of this call; empty if there is none
  RIG_DIR=${RIG_DIR:-$(cat "$record" 2>/dev/null || true)}
  [[ -z $RIG_DIR ]] || RIG_DIR=$(realpath -m "$RIG_DIR")
}

rig_exists() {
  [[ -n $RIG_DIR && -f $RIG_DIR/processes ]]
}

rig_is_up() {
  rig_exists && [[ -f $RIG_DIR/ready && -z $(dead_processes) ]]
}

# One at a time per machine: nobody else chooses ports between this call's choice and
# its last server's start, and a second call finds the first one's rig.
up() {
  local begin=$SECONDS chosen=${RIG_DIR:-}
  build_missing
  exec {start_lock}>"$cache/start.lock"
  flock "$start_lock"
  select_rig
  if rig_is_up; then
    say "already up in $RIG_DIR"
    return
  fi
  ! rig_exists || fail "the rig in $RIG_DIR is not whole (scripts/rig status tells more); stop it first: scripts/rig down"
  trap abandon_start EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  make_folder "$chosen"
  start_cluster
  touch "$RIG_DIR/ready"
  trap - EXIT INT TERM
  say "ready in $((SECONDS - begin)) s in $RIG_DIR; for a shell: eval \"\$(scripts/rig env)\""
}

make_folder() { # FOLDER, or empty for a new one that `down` finds by itself
  if [[ -n $1 ]]; then
    mkdir -p "$RIG_DIR"
    [[ -z $(ls -A "$RIG_DIR") ]] || fail "RIG_DIR=$RIG_DIR is not empty"
  else
    RIG_DIR=$(mktemp -d "${TMPDIR:-/tmp}/belay-rig.XXXXXX")
    mkdir -p "${record%/*}"
    printf '%s\n' "$RIG_DIR" >"$record"
  fi
  mkdir "$RIG_DIR/logs"
  touch "$RIG_DIR/processes"
}

# The trap of a start that failed or was interrupted. After a failure the logs outlive
# the folder, since the message that was just printed quotes one of them.
abandon_start() {
  local status=$? logs
  trap '' INT TERM
  if rig_exists; then
    stop_processes
    if [[ $status -lt 128 ]]; then
      logs=$(mktemp -d "${TMPDIR:-/tmp}/belay-rig-logs.XXXXXX")
      cp -R "$RIG_DIR/logs/." "$logs"
    fi
    remove_folder
    say "nothing is left running${logs:+; the logs are in $logs}"
  fi
  exit "$status"
}

remove_folder() {
  rm -rf "$RIG_DIR"
  [[ $(cat "$record" 2>/dev/null) != "$RIG_DIR" ]] || rm -f "$record"
}

start_cluster() {
  local ports
  mapfile -t ports < <(free_ports 4)
  api_port=${ports[0]}
  make_certificates
  write_kubeconfig "$RIG_DIR/kubeconfig" admin
  start_etcd "${ports[1]}" "${ports[2]}"
  start_apiserver "${ports[1]}"
  start_controllers
  start_kwok "${ports[3]}"
  create_objects
}

kube() {
  "$kubectl" --kubeconfig "$RIG_DIR/kubeconfig" --cache-dir "$RIG_DIR/kubectl-cache" "$@"
}

start_etcd() { # CLIENT_PORT PEER_PORT
  local client=http://127.0.0.1:$1 peer=http://127.0.0.1:$2
  start etcd "$etcd_bin/etcd" --data-dir "$RIG_DIR/etcd" --log-level error --unsafe-no-fsync \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
}

start_apiserver() { # ETCD_PORT
  local pki=$RIG_DIR/pki
  start kube-apiserver "$kubernetes_bin/kube-apiserver" \
    --etcd-servers "http://127.0.0.1:$1" \
    --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$api_port" \
    --endpoint-reconciler-type none --service-cluster-ip-range 10.0.0.0/24 \
    --tls-cert-file "$pki/server.crt" --tls-private-key-file "$pki/server.key" \
    --client-ca-file "$pki/ca.crt" \
    --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file "$pki/service-account.pub" \
    --service-account-signing-key-file "$pki/service-account.key" \
    --authorization-mode RBAC --allow-privileged \
    --audit-policy-file "$here/rig.d/audit-policy.yaml" --audit-log-path "$RIG_DIR/audit.log"
  wait_until "an answer of the API server" 60 kube-apiserver kube get --raw /readyz
}

# They serve nothing themselves (--secure-port 0), so they need no ports. The default
# limit of 20 requests a second would keep the controllers from starting for seconds.
start_controllers() {
  local name
  for name in kube-controller-manager kube-scheduler; do
    write_kubeconfig "$RIG_DIR/$name.kubeconfig" "$name"
  done
  start kube-controller-manager "$kubernetes_bin/kube-controller-manager" \
    --kubeconfig "$RIG_DIR/kube-controller-manager.kubeconfig" --leader-elect=false --secure-port 0 \
    --service-account-private-key-file "$RIG_DIR/pki/service-account.key" \
    --root-ca-file "$RIG_DIR/pki/ca.crt" --use-service-account-credentials \
    --kube-api-qps 500 --kube-api-burst 500
  start kube-scheduler "$kubernetes_bin/kube-scheduler" \
    --kubeconfig "$RIG_DIR/kube-scheduler.kubeconfig" --leader-elect=false --secure-port 0
}

# Without the lease flag the Nodes turn NotReady after 40 s, and every Pod with them.
start_kwok() { # PORT
  local stage stages=()
  for stage in "$here"/rig.d/stages/*.yaml; do
    stages+=(--config "$stage")
  done
  start kwok "$kwok_bin/kwok" --kubeconfig "$RIG_DIR/kubeconfig" --manage-all-nodes=true \
    --node-ip 127.0.0.1 --node-lease-duration-seconds 40 --server-address "127.0.0.1:$1" "${stages[@]}"
}

create_objects() {
  local log=$RIG_DIR/logs/objects.log
  kube create --validate=false -f "$here/rig.d/objects.yaml" >"$log" 2>&1 ||
    fail_with_log "the first objects could not be created" "$log"
  wait_until "metrics.k8s.io/v1beta1" 30 kube-apiserver kube get --raw /apis/metrics.k8s.io/v1beta1
  wait_until "the default ServiceAccount" 30 kube-controller-manager kube get serviceaccount default
  wait_until "schedulable Nodes" 30 kwok nodes_are_schedulable
}

# Ready is not enough: the taint `not-ready` goes a moment later.
nodes_are_schedulable() {
  local state='{range .items[*]}{.spec.taints}{.status.conditions[?(@.type=="Ready")].status} {end}'
  [[ $(kube get nodes -o "jsonpath=$state") == "True True " ]]
}

down() {
  select_rig
  if ! rig_exists; then
    say "no rig to stop"
    return
  fi
  stop_processes
  remove_folder
  say "stopped, nothing is left of $RIG_DIR"
}

status() {
  local name pid started failed=0
  select_rig
  if ! rig_exists; then
    say "no rig is up"
    return 1
  fi
  printf '%s\n' "$RIG_DIR"
  while read -r name pid started; do
    if is_running "$pid" "$started"; then
      printf '  %-24s running, pid %s\n' "$name" "$pid"
    else
      printf '  %-24s ENDED, log %s\n' "$name" "$RIG_DIR/logs/$name.log"
      failed=1
    fi
  done <"$RIG_DIR/processes"
  return "$failed"
}

print_env() {
  select_rig
  rig_is_up || fail "no rig is up: scripts/rig up"
  printf 'export KUBECONFIG=%q RIG_AUDIT_LOG=%q RIG_KUBECTL=%q\n' \
    "$RIG_DIR/kubeconfig" "$RIG_DIR/audit.log" "$kubectl"
}
