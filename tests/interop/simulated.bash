# SPDX-License-Identifier: BSD-2-Clause
# To be sourced: ibsim loads a fabric, OpenSM manages it. The current folder becomes an
# empty one, where the simulated devices appear; it and the programs are gone at the end.
# The messages of a failure end with the last lines of *.log in $logs.

# shellcheck source=tests/interop/patience.bash
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/patience.bash"

# need PROGRAM...: exit status 77 when one is missing; $so is the simulation's library
need() {
  PATH=$PATH:/usr/sbin
  for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib{,64}/umad2sim/libumad2sim.so; do
    [ -f "$so" ] && break
  done
  [ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "no $program"; exit 77; }
  done
}

stop() {
  for pid in $sm $second $sim; do
    kill "$pid" 2>/dev/null
    for _ in $(seq 50); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  cd /
  rm -rf "$work"
}

fail() {
  echo "FAILED: $*" >&2
  tail -n 5 "$logs"/*.log >&2
  exit 1
}

# simulate NET [OPTION...]: ibsim with the net file NET; it takes commands by console()
simulate() {
  local net=$1 nodes switches ports
  shift
  mkfifo console
  nodes=$(grep -c -E '^(Switch|Ca|Rt)' "$net")
  switches=$(grep -c '^Switch' "$net")
  ports=$(awk '/^(Switch|Ca|Rt)/ { n += $2 + 1 } END { print n + 64 }' "$net")
  export IBSIM_SOCKNAME=fabkit-$$
  : >"$logs/ibsim.log"
  ibsim -s -N $((nodes + 8)) -S $((switches + 8)) -P "$ports" -L 49152 "$@" "$net" \
    >"$logs/ibsim.log" 2>&1 <console &
  sim=$!
  exec 7>console
  await "$sim" ibsim 30 grep -q 'simulator ready' "$logs/ibsim.log" && return
  fail "ibsim does not load $net"
}

# console COMMAND: of ibsim; Unlink "ID"[PORT], Relink "ID"[PORT]
console() {
  echo "$1" >&7
  sleep 0.2
}

# members_of TREES LEAST: line in TREES (of fabric-mcroute --trees-out), TAB, port GUIDs; of the
# groups with so many members
members_of() {
  sed 's/.*"hosts":\[\(.*\)\]}$/\1/' "$1" | awk -v least="$2" '{
    n = split($0, host, /\],?/) - 1
    if (n < least) next
    printf "%d\t", NR
    for (i = 1; i <= n; i++) {
      split(host[i], part, ",")
      gsub(/"/, "", part[3])
      printf "%s ", part[3]
    }
    print ""
  }'
}

# host NET N: id of the Nth adapter
host() {
  sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$1" | sed -n "$2p"
}

is_up() { # N
  [ "$(grep -c 'SUBNET UP' "$logs/opensm.log" 2>/dev/null)" -ge "$1" ] 2>/dev/null
}

# until_up N: SUBNET UP for the Nth time
until_up() {
  await "$sm" opensm 300 is_up "$1" || fail "opensm ended"
}

# launch NET ENGINE [OPTION...]: OpenSM on the first adapter, its files in $logs. FAB_PRELOAD:
# a library that it is to load.
# 0x43: errors, what happens, and files with the tables; -d 2: every line at once
launch() {
  local from=$1 engine=$2
  shift 2
  SIM_HOST=$(host "$from" 1) OSM_CACHE_DIR=$logs OSM_TMP_DIR=$logs \
    LD_PRELOAD=$so${FAB_PRELOAD:+:$FAB_PRELOAD} \
    opensm -D 0x43 -f "$logs/opensm.log" -R "$engine" -s 0 -n 64 -d 2 "$@" \
    >"$logs/opensm.out" 2>&1 </dev/null &
  sm=$!
}

# manage NET ENGINE [OPTION...]: the same; returns when the subnet is up
manage() {
  launch "$@"
  until_up 1
}

# managed_by ENGINE: OpenSM replaces one that fails by minhop without a word
managed_by() {
  local used
  used=$(grep -o '[a-z0-9-]* tables configured' "$logs/opensm.log" | tail -n 1)
  [ "$used" = "$1 tables configured" ] || fail "asked for $1, not $used"
}

sim=
sm=
second= # another subnet manager
work=$(mktemp -d) || exit 3
logs=$work
cd "$work" || exit 3
trap stop EXIT
trap 'exit 130' INT TERM
