# shellcheck shell=bash
# The rig's processes: started in the background, known by pid and start time (a pid
# that was given to another process since is never signalled), stopped in reverse
# order. The file $RIG_DIR/processes has a line `NAME PID START_TIME` for each.
# Sourced by scripts/rig.

start_time() { # PID: in clock ticks since boot; fails for a process that is gone or a zombie
  local stat fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  read -r -a fields <<<"${stat##*) }" # the program's name before it may hold blanks
  [[ ${fields[0]} != Z ]] || return 1
  printf '%s\n' "${fields[19]}"
}

is_running() { # PID START_TIME
  [[ $(start_time "$1") == "$2" ]]
}

# A session of its own keeps a later Ctrl-C in the same terminal away from the cluster.
start() { # NAME COMMAND…
  local name=$1 started
  shift
  setsid "$@" </dev/null >"$RIG_DIR/logs/$name.log" 2>&1 {start_lock}>&- &
  started=$(start_time "$!") || started=never
  printf '%s %s %s\n' "$name" "$!" "$started" >>"$RIG_DIR/processes"
}

dead_processes() { # names, one a line
  local name pid started
  while read -r name pid started; do
    is_running "$pid" "$started" || printf '%s\n' "$name"
  done <"$RIG_DIR/processes"
}

# The command runs in a subshell: a trap would otherwise run, and speak, under its
# redirections.
wait_until() { # WHAT SECONDS LOG_NAME COMMAND…
  local what=$1 deadline=$((SECONDS + $2)) log=$RIG_DIR/logs/$3.log dead
  shift 3
  until ("$@") >/dev/null 2>&1; do
    dead=$(dead_processes | head -n1)
    [[ -z $dead ]] || fail_with_log "$dead ended while the rig waited for $what" "$RIG_DIR/logs/$dead.log"
    ((SECONDS < deadline)) || fail_with_log "the rig waited in vain for $what" "$log"
    sleep 0.1
  done
}

stop_processes() {
  local line lines=()
  [[ ! -f $RIG_DIR/processes ]] || mapfile -t lines < <(tac "$RIG_DIR/processes")
  for line in "${lines[@]}"; do
    read -r _ pid started <<<"$line"
    stop "$pid" "$started"
  done
}

# Waits for the end, since the API server takes seconds to let go of its port.
stop() { # PID START_TIME
  local patience=$((SECONDS + 15))
  is_running "$1" "$2" || return 0
  kill -TERM "$1" 2>/dev/null || true
  while is_running "$1" "$2"; do
    ((SECONDS < patience)) || kill -KILL "$1" 2>/dev/null || true
    sleep 0.05
  done
}

# Below the range from which the kernel serves outgoing connections, so that none of
# those takes a port between this look and the server's start.
free_ports() { # COUNT: that many loopback ports on which nobody listens, one a line
  local port=$((20000 + RANDOM % 11000)) found=0
  while ((found < $1)); do
    port=$((port + 1))
    if ! (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%s\n' "$port"
      found=$((found + 1))
    fi
  done
}
