#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-judge.sh TABLES FABRIC N_DEAD SEED
# ibdmchk reads a fabric of which N_DEAD switches are dead, with forwarding tables, service
# levels and lanes that we write: every pair of adapters has a path and there is no credit
# loop; without the service levels it finds the loop, without an entry the hole.
# TABLES is the helper that routes. Exit status 77 (skipped) without ibdmchk.
set -u
tables=$(readlink -f "$1")
shift
command -v ibdmchk >/dev/null || { echo "no ibdmchk"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail() {
  echo "FAILED: $*"
  [ -f report ] && tail -n 30 report
  exit 1
}

# It crashes when all is said: the text counts.
judge() { # OPTION...
  (timeout 200 ibdmchk -s subnet.lst -m mcfdbs "$@"; true) >report 2>&1
}

: >mcfdbs
told=$("$tables" "$@") || fail "no tables"
read -r pairs lanes <<<"$told"
[ "$lanes" -gt 1 ] || fail "nothing to show: one lane is enough"

judge -f fdbs -c psl -d slvl
grep -q "^-I- Scanned:$pairs CA to CA paths" report || fail "not $pairs paths"
grep -q "Analyzing Fabric for Credit Loops $lanes SLs" report || fail "not $lanes service levels"
grep -q '^-I- no credit loops found' report || fail "credit loops"
grep -E '^-E-' report && fail "errors"
cp report sound

judge -f fdbs
grep -q 'credit loop on' report || fail "no credit loop found on one lane"

# the switch of the last adapter without its entry for that adapter
lid=$(sed -n 's/^{ SW .*{ CA .* LID:\(....\) PN.*/\1/p' subnet.lst | tail -n 1)
grep -v "^0x$lid : ... *: 01 " fdbs >hole
[ $(($(wc -l <fdbs) - $(wc -l <hole))) -eq 1 ] || fail "no place for a hole"
judge -f hole -c psl -d slvl
grep -qE '^-E-' report || fail "no hole found"
echo "$* dead: $pairs paths, $lanes lanes, no loop"
