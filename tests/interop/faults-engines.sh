#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-engines.sh TOPO FAULTS FABRIC ENGINE [LMC [ROOTS]]
# The real OpenSM routes a fabric under ibsim by ENGINE (minhop or updn), fabric-faults by its
# own of that name: the tables are the same port for port, and so is what they amount to.
# With ROOTS both have a list of roots, the first ROOTS top switches by their names, also
# where they leave pairs without a path and fabric-topo --to=root-guids refuses them.
# FABRIC is gen: or a real dump. TOPO is fabric-topo, FAULTS fabric-faults. Exit status 77
# (skipped) when a program or the dump is missing. Environment: FAB_TEST_DATA, FAB_SOURCE_DIR.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
# shellcheck source=tests/interop/tables.bash
. "$(dirname "$(readlink -f "$0")")/tables.bash"
topo=$(readlink -f "$1") faults=$(readlink -f "$2") fabric=$3 engine=$4 lmc=${5:-0} n_roots=${6:-0}
here=$(dirname "$(readlink -f "$0")")
find_dump
enter
"$topo" -q --to=ibnetdiscover -o net "$fabric" || fail "no net file"
roots=() list=()
if [ "$n_roots" -gt 0 ]; then
  sed -nE 's/^Switch.*"S-([0-9a-f]+)".*# "([^"]*;CCORE|root-|l3-).*/0x\1/p' net | head -n "$n_roots" >roots
  [ -s roots ] || fail "no roots"
  roots=(--root-guids="$dir/roots") list=(-a "$dir/roots")
fi
"$here"/opensm-tables.sh net "$engine" sm -l "$lmc" "${list[@]}" >tables.out 2>&1
rc=$?
[ $rc -eq 77 ] && { cat tables.out; exit 77; }
# where updn finds no roots OpenSM falls back to minhop, and so do we
[ -s sm/opensm-lfts.dump ] || { cat tables.out; fail "no tables of OpenSM"; }
# OpenSM writes no LMC into its list of links
"$topo" -q --to=ibnetdiscover sm/opensm-subnet.lst | sed '/^\[/s/ lmc 0/ lmc '"$lmc"'/' >left ||
  fail "its links are not read"
columns='-q --format=csv --no-header --columns=pairs,unreachable,max_hops,minimal,cycle_channels,pairs_on_cycles,valley_pairs'
for ends in hosts adapters all; do
  # shellcheck disable=SC2086
  theirs=$("$faults" left --lfts=sm/opensm-lfts.dump --endpoints=$ends $columns) || fail "not analysed"
  # shellcheck disable=SC2086
  ours=$("$faults" left --algorithm="$engine" "${roots[@]}" --lfts-out=ours --endpoints=$ends $columns) ||
    fail "not routed"
  [ "$ours" = "$theirs" ] || fail "$ends: OpenSM $theirs, ours $ours"
  echo "$fabric, $engine, $ends: $ours"
done
entries sm/opensm-lfts.dump >theirs
entries ours | cmp - theirs || fail "$(entries ours | comm -13 - theirs | wc -l) entries differ"
[ -s theirs ] || fail "no entries"
echo "$(wc -l <theirs) entries: all equal"
