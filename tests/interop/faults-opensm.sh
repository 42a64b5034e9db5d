#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-opensm.sh TOPO FAULTS FABRIC N_DEAD SEED
# ibsim loads what is left of a fabric of which N_DEAD leaf switches are dead, OpenSM's
# routing engine `file` loads the forwarding tables of fabric-faults: the switches get each
# entry of ours, and ibtracert walks paths by our switches and ports. TOPO is fabric-topo,
# FAULTS fabric-faults. Exit status 77 (skipped) when a program is missing.
set -u
topo=$(readlink -f "$1") faults=$(readlink -f "$2") fabric=$3 dead=$4 seed=$5
# shellcheck source=tests/interop/simulated.bash
. "$(dirname "$(readlink -f "$0")")/simulated.bash"
need ibsim opensm ibtracert

"$faults" "$fabric" --random="$dead" --seed="$seed" -q --check -o report \
  --subnet-out=subnet.lst --lfts-out=lfts || fail "no tables"
"$topo" --to=ibnetdiscover -o net subnet.lst || fail "no net file"
mkdir sm
logs=$work/sm
simulate net
manage net file -U "$work/lfts"
managed_by file

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
  SIM_HOST=$(host net 1) within 60 env LD_PRELOAD=$so ibtracert -G "0x$first" "0x$to" >trace 2>trace.log ||
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
