#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-tables.sh NET ENGINE FOLDER [OPENSM-OPTION...]
# What the real OpenSM programs: ibsim loads the net file NET, OpenSM with routing engine
# ENGINE manages it. Left in FOLDER: opensm-lfts.dump, opensm-subnet.lst, opensm.log, ...
# Exit status 77 when a program is missing.
#
# OpenSM replaces an engine that fails by minhop without a word: that is an error here.
set -u
[ $# -ge 3 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
net=$(readlink -f "$1") engine=$2
mkdir -p "$3" && out=$(cd "$3" && pwd) || exit 3
shift 3
PATH=$PATH:/usr/sbin
for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib{,64}/umad2sim/libumad2sim.so; do
  [ -f "$so" ] && break
done
[ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }
for program in ibsim opensm; do
  command -v $program >/dev/null || { echo "no $program"; exit 77; }
done

rm -f "$out"/opensm* "$out"/ibsim.log # OpenSM would keep old LIDs
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

export IBSIM_SOCKNAME=fabkit-tables-$$
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
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$net" | head -n 1)
# 0x43: errors, what happens, and files with the tables; -d 2: every line at once
SIM_HOST=$host OSM_CACHE_DIR=$out OSM_TMP_DIR=$out LD_PRELOAD=$so \
  opensm -D 0x43 -f "$out/opensm.log" -R "$engine" -s 0 -n 64 -d 2 "$@" \
  >"$out/opensm.out" 2>&1 </dev/null &
sm=$!
for _ in $(seq 1800); do
  grep -q 'SUBNET UP' "$out/opensm.log" 2>/dev/null && break
  kill -0 $sm 2>/dev/null || fail "opensm ended"
  sleep 0.1
done
grep -q 'SUBNET UP' "$out/opensm.log" || fail "opensm takes too long"
used=$(grep -o '[a-z0-9-]* tables configured' "$out/opensm.log" | tail -n 1)
[ "$used" = "$engine tables configured" ] || fail "asked for $engine, not $used"
exit 0
