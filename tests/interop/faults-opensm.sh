#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-opensm.sh TOPO FAULTS FABRIC N_DEAD SEED
# ibsim loads what is left of a fabric of which N_DEAD leaf switches are dead, OpenSM's
# routing engine `file` loads the forwarding tables of fabric-faults: the switches get each
# entry of ours, and ibtracert walks paths by our switches and ports. TOPO is fabric-topo,
# FAULTS fabric-faults. Exit status 77 (skipped) when a program is missing.
set -u
topo=$(readlink -f "$1") faults=$(readlink -f "$2") fabric=$3 dead=$4 seed=$5
PATH=$PATH:/usr/sbin
for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib{,64}/umad2sim/libumad2sim.so; do
  [ -f "$so" ] && break
done
[ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }
for program in ibsim opensm ibtracert; do
  command -v $program >/dev/null || { echo "no $program"; exit 77; }
done
dir=$(mktemp -d) || exit 1
cd "$dir" || exit 1
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
  rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT TERM
fail() {
  echo "FAILED: $*"
  tail -n 5 ./*.log
  exit 1
}

"$faults" "$fabric" --random="$dead" --seed="$seed" -q --check -o report \
  --subnet-out=subnet.lst --lfts-out=lfts || fail "no tables"
"$topo" --to=ibnetdiscover -o net subnet.lst || fail "no net file"
export IBSIM_SOCKNAME=fabkit-faults-$$
nodes=$(grep -c -E '^(Switch|Ca|Rt)' net)
switches=$(grep -c '^Switch' net)
ports=$(awk '/^(Switch|Ca|Rt)/ { n += $2 + 1 } END { print n + 64 }' net)
ibsim -s -n -N $((nodes + 8)) -S $((switches + 8)) -P "$ports" -L 49152 net \
  >ibsim.log 2>&1 </dev/null &
sim=$!
for _ in $(seq 300); do
  grep -q 'simulator ready' ibsim.log && break
  kill -0 $sim 2>/dev/null || fail "ibsim does not load the fabric"
  sleep 0.1
done
mkdir sm
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' net | head -n 1)
SIM_HOST=$host OSM_CACHE_DIR=$dir/sm OSM_TMP_DIR=$dir/sm LD_PRELOAD=$so \
  opensm -D 0x43 -f "$dir/opensm.log" -R file -U "$dir/lfts" -s 0 -n 16 -d 2 \
  >opensm.out 2>&1 </dev/null &
sm=$!
for _ in $(seq 600); do
  grep -q 'SUBNET UP' opensm.log 2>/dev/null && break
  kill -0 $sm 2>/dev/null || fail "opensm ended"
  sleep 0.1
done
grep -q 'SUBNET UP' opensm.log || fail "opensm takes too long"
grep -q 'file tables configured' opensm.log || fail "OpenSM did not take the tables"

# switch, destination, port: LIDs are OpenSM's own
entries() { # FILE
  awk '/^Unicast lids/ { for (i = 1; i < NF; i++) if ($i == "guid") sw = $(i + 1); next }
    / portguid / { for (i = 1; i < NF; i++) if ($i == "portguid") print sw, substr($(i + 1), 1, 18), $2 }' "$1" |
    sort
}
entries lfts >want
entries sm/opensm-lfts.dump >got
[ -s want ] || fail "no entries"
comm -23 want got >missing
[ -s missing ] && { head -n 3 missing; fail "$(wc -l <missing) of $(wc -l <want) entries are not in the switches"; }

# hops from the first adapter to others, by their port GUIDs
first=$(sed -n 's/^{ CA [^}]*PortGUID:\([0-9a-f]*\) .*/\1/p' subnet.lst | sort -u | head -n 1)
walked=0
for to in $(sed -n 's/^{ CA [^}]*PortGUID:\([0-9a-f]*\) .*/\1/p' subnet.lst | sort -u | tail -n +2 | head -n 20); do
  SIM_HOST=$host LD_PRELOAD=$so timeout 60 ibtracert -G "0x$first" "0x$to" >trace 2>trace.log ||
    fail "ibtracert finds no path to $to"
  grep -q "^To ca" trace || fail "ibtracert does not arrive at $to"
  sed -n 's/^\[.*\] -> switch port {\(0x[0-9a-f]*\)}.*/\1/p' trace >by
  # the last hop into the adapter is from the last switch
  sed -n 's/^\[\([0-9]*\)\] -> .*/\1/p' trace | tail -n +2 >ports
  paste -d' ' by ports | while read -r sw port; do
    grep -q "^$sw 0x$to $(printf %03d "$port")\$" want || exit 1
  done || fail "ibtracert goes another way to $to: $(cat trace)"
  walked=$((walked + 1))
done
[ $walked -gt 0 ] || fail "nothing to walk"
echo "$fabric, $dead dead: $(wc -l <want) entries in the switches, $walked paths walked"
