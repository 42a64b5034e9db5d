#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-trees.sh MCJOIN NET TREES ENGINE FOLDER
# What the real OpenSM does with a fabric and groups: ibsim loads the net file NET, OpenSM
# with routing engine ENGINE manages it, the members of the groups in TREES (written by
# fabric-mcroute --trees-out; only groups of two or more ports count) join, and OpenSM
# computes everything once more. Left in FOLDER: opensm.mcfdbs, opensm-subnet.lst,
# opensm.log, and "mlids", a line a group that has one: its line in TREES, its MLID.
# Exit status 77 when a program is missing.
#
# A group more than 1000 is refused: ibsim forgets MLIDs past the first 1023.
# OpenSM replaces an engine that fails by minhop without a word: that is an error here.
# Environment: FAB_PRELOAD, a library that OpenSM is to load; SWEEPS, how many times more
# all is computed (1).
set -u
[ $# -eq 5 ] || { sed -n '3,8s/^# //p' "$0" >&2; exit 2; }
mcjoin=$(readlink -f "$1") net=$(readlink -f "$2") trees=$(readlink -f "$3") engine=$4
mkdir -p "$5" && out=$(cd "$5" && pwd) || exit 3
PATH=$PATH:/usr/sbin
for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib{,64}/umad2sim/libumad2sim.so; do
  [ -f "$so" ] && break
done
[ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }
for program in ibsim opensm; do
  command -v $program >/dev/null || { echo "no $program"; exit 77; }
done

rm -f "$out"/opensm* "$out"/ibsim.log "$out"/mlids # OpenSM would keep old LIDs
work=$(mktemp -d) || exit 3
cd "$work" || exit 3 # the simulated devices appear in the current folder
sim=
sm=
stop() {
  for pid in $sm $sim; do
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
trap stop EXIT
trap 'exit 130' INT TERM
fail() {
  echo "FAILED: $*" >&2
  tail -n 5 "$out"/*.log >&2
  exit 1
}

# line in TREES, TAB, port GUIDs; of the groups that OpenSM makes trees for
sed 's/.*"hosts":\[\(.*\)\]}$/\1/' "$trees" | awk '{
  n = split($0, host, /\],?/) - 1
  if (n < 2) next
  printf "%d\t", NR
  for (i = 1; i <= n; i++) {
    split(host[i], part, ",")
    gsub(/"/, "", part[3])
    printf "%s ", part[3]
  }
  print ""
}' >groups
[ -s groups ] || fail "no groups of two members in $trees"
[ "$(wc -l <groups)" -le 1000 ] || fail "$(wc -l <groups) groups; ibsim keeps 1023"

export IBSIM_SOCKNAME=fabkit-opensm-$$
nodes=$(grep -c -E '^(Switch|Ca|Rt)' "$net")
switches=$(grep -c '^Switch' "$net")
ports=$(awk '/^(Switch|Ca|Rt)/ { n += $2 + 1 } END { print n + 64 }' "$net")
: >"$out/ibsim.log"
ibsim -s -n -N $((nodes + 8)) -S $((switches + 8)) -P "$ports" -L 49152 "$net" \
  >"$out/ibsim.log" 2>&1 </dev/null &
sim=$!
for _ in $(seq 300); do
  grep -q 'simulator ready' "$out/ibsim.log" && break
  kill -0 $sim 2>/dev/null || fail "ibsim does not load $net"
  sleep 0.1
done

# SUBNET UP for the COUNTth time
until_up() { # COUNT
  for _ in $(seq 600); do
    [ "$(grep -c 'SUBNET UP' "$out/opensm.log" 2>/dev/null)" -ge "$1" ] 2>/dev/null && return
    kill -0 $sm 2>/dev/null || fail "opensm ended"
    sleep 0.1
  done
  fail "opensm takes too long"
}
host() { # N: id of the Nth adapter
  sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$net" | sed -n "$1p"
}
# 0x43: errors, what happens, and files with the tables; -d 2: every line at once
SIM_HOST=$(host 1) OSM_CACHE_DIR=$out OSM_TMP_DIR=$out LD_PRELOAD=$so${FAB_PRELOAD:+:$FAB_PRELOAD} \
  opensm -D 0x43 -f "$out/opensm.log" -R "$engine" -s 0 -n 64 -d 2 >"$out/opensm.out" 2>&1 </dev/null &
sm=$!
until_up 1
SIM_HOST=$(host 2) LD_PRELOAD=$so timeout 300 "$mcjoin" <(cut -f 2 groups) >joined 2>"$out/mcjoin.log" ||
  fail "not all members could join"
paste <(cut -f 1 groups) joined >"$out/mlids"
for _ in $(seq "${SWEEPS:-1}"); do # SIGHUP: a heavy sweep
  up=$(grep -c 'SUBNET UP' "$out/opensm.log")
  kill -HUP $sm
  until_up $((up + 1))
done
used=$(grep -o '[a-z0-9-]* tables configured' "$out/opensm.log" | tail -n 1)
[ "$used" = "$engine tables configured" ] || fail "asked for $engine, not $used"
exit 0
