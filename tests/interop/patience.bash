# SPDX-License-Identifier: BSD-2-Clause
# To be sourced: how long to wait for programs of others. They get the time on the clock that
# they would need alone, times what shares the processors with them; one that has not ended by
# then says nothing about us: the test is skipped with the reason (exit status 77).
# FAB_PATIENCE: this factor instead.

# Programs that answer each other take half the processor time on one processor that they take on two, as each
# message wakes one that sleeps elsewhere. Which one differs from test to test. Threads that wait leave it to others.
export OMP_WAIT_POLICY=passive
if [ -z "${FAB_PROCESSORS:-}" ]; then
  FAB_PROCESSORS=$(nproc)
  export FAB_PROCESSORS
  ! command -v taskset >/dev/null || taskset -cp $(($$ % FAB_PROCESSORS)) $$ >/dev/null 2>&1
fi

# patience SECONDS: that many, scaled
patience() {
  local load
  read -r load _ </proc/loadavg 2>/dev/null || load=1
  awk -v seconds="$1" -v load="$load" -v cpus="$FAB_PROCESSORS" -v factor="${FAB_PATIENCE:-0}" 'BEGIN {
    if (factor + 0 <= 0) {
      factor = 2 * (load + 1) / cpus
      factor = factor < 2 ? 2 : factor > 20 ? 20 : factor
    }
    seconds *= factor
    print seconds < 1 ? 1 : int(seconds)
  }'
}

# give_up WHAT SECONDS: the test is skipped, also from within a pipe
give_up() {
  echo "skipped: $1 has not ended in $2 s (load $(cut -d ' ' -f 1-3 /proc/loadavg))" >&8
  kill -USR1 $$
  exit 77
}
trap 'exit 77' USR1
exec 8>&2 # where reasons go, whatever a command writes its messages to

# within SECONDS COMMAND...: its exit status when it ends in time; standard error as it is
within() {
  local seconds name rc
  seconds=$(patience "$1")
  shift
  for name in "$@"; do # env A=B NAME
    case $name in env | *=*) ;; *) break ;; esac
  done
  timeout "$seconds" "$@"
  rc=$?
  [ $rc -ne 124 ] || give_up "${name##*/}" "$seconds"
  return $rc
}

# cpu_seconds PID: what it has had of the processors
cpu_seconds() {
  local line
  line=$(cat "/proc/$1/stat" 2>/dev/null) || { echo 0; return; }
  # shellcheck disable=SC2086
  set -- ${line##*) }
  echo $(((${12} + ${13}) / 100))
}

# await PID NAME SECONDS CONDITION...: until it holds; fails when the program ends before.
# It gives up on one that has had so many seconds of a processor, or waits for more than that.
await() {
  local pid=$1 name=$2 limit start=$SECONDS
  limit=$(patience "$3")
  local cpu=$3
  shift 3
  while ! "$@"; do
    kill -0 "$pid" 2>/dev/null || return 1
    [ $((SECONDS - start)) -le "$limit" ] || give_up "$name" "$limit"
    [ -n "${FAB_PATIENCE:-}" ] || [ "$(cpu_seconds "$pid")" -le "$cpu" ] ||
      give_up "$name" "$cpu s of processor time, $((SECONDS - start))"
    sleep 0.1
  done
}
