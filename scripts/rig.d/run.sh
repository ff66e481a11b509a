# shellcheck shell=bash
# Runs scenarios against real Helms. Whatever cannot run, for want of a Helm or of a
# cluster, counts as failed: nothing is skipped. Sourced by scripts/rig.

scenario_folder=$here/scenarios

run() { # [-v] SCENARIO|all
  local verbose='' scenario version scenarios helms passed=0 failed=0
  [[ ${1:-} != -v ]] || { verbose=1 && shift; }
  [[ $# -eq 1 ]] || { usage >&2 && exit 2; }
  mapfile -t scenarios < <(list_scenarios "$1")
  [[ ${#scenarios[@]} -gt 0 ]] || fail "no scenario $1 in $scenario_folder"
  read -r -a helms <<<"${RIG_HELMS:-3.17.1 4.3.1}"
  logs=${RIG_LOGS:-$(mktemp -d "${TMPDIR:-/tmp}/belay-scenarios.XXXXXX")}
  mkdir -p "$logs"
  own_rig='' scenario_pid=''
  trap end_run EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  choose_cluster
  for scenario in "${scenarios[@]}"; do
    for version in "${helms[@]}"; do
      if run_one "$scenario" "$version"; then
        passed=$((passed + 1))
      else
        failed=$((failed + 1))
      fi
    done
  done
  printf '%s passed, %s failed\n' "$passed" "$failed"
  [[ $failed -eq 0 ]]
}

list_scenarios() { # NAME|all
  local file
  for file in "$scenario_folder"/*.sh; do
    [[ ! -f $file || $1 != all && ${file##*/} != "$1.sh" ]] || basename "$file" .sh
  done
}

# Sets kubeconfig, audit_log and scenario_kubectl, or no_cluster to the reason why not.
choose_cluster() {
  audit_log='' scenario_kubectl=$kubectl no_cluster=''
  if [[ -n ${E2E_KUBECONFIG:-} ]]; then
    kubeconfig=$E2E_KUBECONFIG
    scenario_kubectl=$(command -v kubectl) || no_cluster="E2E_KUBECONFIG is set, but there is no kubectl in PATH"
    return
  fi
  select_rig
  rig_is_up || start_own_rig || no_cluster="the rig did not start"
  kubeconfig=$RIG_DIR/kubeconfig
  audit_log=$RIG_DIR/audit.log
}

# In a folder that no state file names, so that no other call takes it for its own;
# `up` is a process of its own, because it cleans up after itself in its own traps.
start_own_rig() {
  RIG_DIR=$(mktemp -d "${TMPDIR:-/tmp}/belay-rig.XXXXXX")
  export RIG_DIR
  own_rig=$RIG_DIR
  "$here/rig" up
}

end_run() { # the trap of a run that ended or was interrupted
  local status=$?
  trap '' INT TERM
  if [[ -n $scenario_pid ]] && kill -TERM "$scenario_pid" 2>/dev/null; then
    wait "$scenario_pid" || true
  fi
  rmdir --ignore-fail-on-non-empty "$logs"
  [[ $status -lt 128 || ! -d $logs ]] || say "interrupted; the logs so far are in $logs"
  if [[ -d $own_rig ]]; then
    "$here/rig" down
    rmdir "$own_rig" 2>/dev/null || true # empty, if the start failed early
  fi
  exit "$status"
}

run_one() { # SCENARIO HELM_VERSION: prints one line; the log stays if it failed
  local log=$logs/$1.helm-$2.log begin=$EPOCHREALTIME verdict=ok
  execute "$1" "$2" "$log" || verdict=FAIL
  printf '%-4s  %s (Helm %s)  %s s\n' "$verdict" "$1" "$2" "$(seconds_since "$begin")"
  [[ -z $verbose ]] || sed 's/^/  | /' "$log"
  if [[ $verdict == ok ]]; then
    rm "$log"
  else
    [[ -n $verbose ]] || tail -n 25 "$log" | sed 's/^/  | /'
    printf '  the whole log: %s\n' "$log"
    return 1
  fi
}

# In the background with `wait`, since bash runs no trap while a foreground program
# runs: an interrupted run must not first sit through a scenario.
execute() { # SCENARIO HELM_VERSION LOG
  local helm status=0
  : >"$3"
  if [[ -n $no_cluster ]]; then
    echo "$no_cluster" >"$3"
    return 1
  fi
  helm=$("$here/fetch-helm" "$2" 2>"$3") || return 1
  KUBECONFIG=$kubeconfig RIG_AUDIT_LOG=$audit_log RIG_KUBECTL=$scenario_kubectl HELM=$helm \
    timeout --kill-after=30 "${RIG_SCENARIO_TIMEOUT:-300}" \
    bash "$scenario_folder/$1.sh" </dev/null >"$3" 2>&1 &
  scenario_pid=$!
  wait "$scenario_pid" || status=$?
  scenario_pid=''
  [[ $status -ne 124 ]] || echo "timed out" >>"$3"
  return "$status"
}

seconds_since() { # EPOCHREALTIME, whose decimal sign depends on the locale
  local tenths=$(((${EPOCHREALTIME//[.,]/} - ${1//[.,]/}) / 100000))
  printf '%s.%s' $((tenths / 10)) $((tenths % 10))
}
