#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-ibdmchk.sh FAULTS FABRIC N_DEAD SEED [OPTION...]
# ibdmchk reads a fabric of which N_DEAD leaf switches are dead, with the forwarding tables,
# service levels and lanes of fabric-faults: every pair of adapters has a path and there is
# no credit loop; without the service levels it finds a loop where fabric-faults does, without an entry the hole.
# FAULTS is fabric-faults. Exit status 77 (skipped) without ibdmchk.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
faults=$(readlink -f "$1") fabric=$2 dead=$3 seed=$4
shift 4
needs ibdmchk
enter

# It crashes when all is said: the text counts.
check() { # OPTION...
  (within 200 ibdmchk -s subnet.lst -m mcfdbs "$@"; true) >report 2>&1
}

: >mcfdbs
dying=()
[ "$dead" -gt 0 ] && dying=(--random="$dead" --seed="$seed")
told=$("$faults" "$fabric" "${dying[@]}" "$@" -q --verify --check --endpoints=hosts \
  --subnet-out=subnet.lst --fdbs-out=fdbs --path-sl-out=psl --sl2vl-out=slvl \
  --format=csv --no-header --columns=pairs,unreachable,vls,sls,deadlock_free) || fail "no tables: $told"
IFS=, read -r pairs unreachable lanes levels is_free <<<"${told%$'\r'}"
[ "$unreachable $is_free" = '0 true' ] || fail "not sound: $told"
[ "$lanes" -gt 1 ] || fail "nothing to show: one lane is enough"

check -f fdbs -c psl -d slvl
grep -q "^-I- Scanned:$pairs CA to CA paths" report || fail "not $pairs paths"
grep -q "Analyzing Fabric for Credit Loops $levels SLs" report || fail "not $levels service levels"
grep -q '^-I- no credit loops found' report || fail "credit loops"
grep -E '^-E-' report && fail "errors"
cp report sound

channels=$("$faults" "$fabric" --lfts=fdbs --endpoints=hosts -q --format=csv --no-header --columns=cycle_channels) ||
  fail "tables are refused"
loops='credit loop on'
[ "${channels%$'\r'}" -gt 0 ] || loops='^-I- no credit loops found'
check -f fdbs
grep -q "$loops" report || fail "not '$loops' on one lane, where $channels channels are in circles"

# the switch of the last adapter without its entry for that adapter
lid=$(sed -n 's/^{ SW .*{ CA .* LID:\(....\) PN.*/\1/p' subnet.lst | tail -n 1)
grep -v "^0x$lid : ... *: 01 " fdbs >hole
[ $(($(wc -l <fdbs) - $(wc -l <hole))) -eq 1 ] || fail "no place for a hole"
check -f hole -c psl -d slvl
grep -qE '^-E-' report || fail "no hole found"
echo "$fabric, $dead dead: $pairs paths, $lanes lanes, $levels service levels, no loop"
