#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-engines.sh TOPO FAULTS FABRIC ENGINE
# The real OpenSM routes a fabric under ibsim by ENGINE (minhop or updn), fabric-faults by its
# own of that name: as many pairs of hosts are reached, by ways as long. TOPO is fabric-topo,
# FAULTS fabric-faults. Exit status 77 (skipped) when a program is missing.
set -u
topo=$(readlink -f "$1") faults=$(readlink -f "$2") fabric=$3 engine=$4
here=$(dirname "$(readlink -f "$0")")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
cd "$dir" || exit 1
fail() {
  echo "FAILED: $*"
  exit 1
}
"$topo" -q --to=ibnetdiscover -o net "$fabric" || fail "no net file"
"$here"/opensm-tables.sh net "$engine" sm >tables.out 2>&1
rc=$?
[ $rc -eq 77 ] && { cat tables.out; exit 77; }
# where updn finds no roots OpenSM falls back to minhop, and so do we
[ -s sm/opensm-lfts.dump ] || { cat tables.out; fail "no tables of OpenSM"; }
columns='--endpoints=hosts -q --format=csv --no-header --columns=pairs,unreachable,max_hops,minimal'
# shellcheck disable=SC2086
theirs=$("$faults" sm/opensm-subnet.lst --lfts=sm/opensm-lfts.dump $columns) || fail "not judged"
# shellcheck disable=SC2086
ours=$("$faults" net --algorithm="$engine" $columns) || fail "not routed"
[ "$ours" = "$theirs" ] || fail "OpenSM $theirs, ours $ours"
echo "$fabric, $engine: $ours"
