#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-engines.sh TOPO FAULTS DUMP ENGINE HOSTS ADAPTERS [ROOTS]
# What OpenSM's routing engine ENGINE makes of a real fabric under ibsim, analysed by
# fabric-faults and by ibdmchk. HOSTS and ADAPTERS: `pairs unreachable cycle-channels pairs-on-cycles
# valley-pairs` that must come out, `any` for a number that is only known not to be 0.
# ROOTS: what the names of the root switches contain (updn); with the same roots fabric-faults
# itself makes the same tables, port for port. Of selene-compute all valleys
# and all pairs that are not reached lie between MLG01-01 or -02 and MLG01-04.
# TOPO is fabric-topo, FAULTS fabric-faults. Exit status 77 (skipped) when a
# program or the dump is missing. Environment: FAB_TEST_DATA, FAB_SOURCE_DIR.
set -u
# shellcheck source=tests/interop/tables.bash
. "$(dirname "$(readlink -f "$0")")/tables.bash"
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
topo=$(readlink -f "$1") faults=$(readlink -f "$2") here=$(dirname "$(readlink -f "$0")")
fabric=$3 engine=$4
hosts=$5 adapters=$6 roots=${7-}
find_dump
needs ibdmchk jq
enter

"$topo" -q --to=ibnetdiscover -o net "$fabric" || fail "no net file"
options=
if [ -n "$roots" ]; then
  sed -n 's/^Switch.*"S-\([0-9a-f]*\)"[^"]*"[^"]*'"$roots"'.*/0x\1/p' net >roots
  [ -s roots ] || fail "no switches called $roots"
  echo "$(wc -l <roots) roots"
  options="-a $dir/roots"
fi
# shellcheck disable=SC2086
"$here"/opensm-tables.sh net "$engine" sm $options
rc=$?
[ $rc -eq 77 ] && exit 77
[ $rc -eq 0 ] || fail "no tables of OpenSM"

# A line of numbers, then a line for all pairs of two switches that turn or have no way.
check() { # ENDS OPTION...
  "$faults" sm/opensm-subnet.lst -q --endpoints="$1" --format=json "${@:2}" | jq -r '
    (.results[0] | ["analysed", .pairs, .unreachable, .cycle_channels, .pairs_on_cycles,
      .valley_pairs]),
    ((.valleys // [] | .[]), (.unreached // [] | .[]) | ["pairs", .from, .to, .pairs]) | @tsv'
}
expect() { # ENDS WANT
  local i got want
  check "$1" --lfts=sm/opensm-lfts.dump >"$1" || fail "no judgement of $1"
  read -ra got <<<"$(sed -n 's/^analysed//p' "$1")"
  read -ra want <<<"$2"
  [ ${#want[@]} -eq 5 ] || fail "want $2"
  for i in 0 1 2 3 4; do
    [ "${want[i]}" = "${got[i]}" ] || { [ "${want[i]}" = any ] && [ "${got[i]}" -gt 0 ]; } ||
      fail "$1: ${got[*]}, expected $2"
  done
  echo "$1: ${got[*]}"
}
expect hosts "$hosts"
check hosts --lfts=sm/opensm.fdbs | cmp - hosts || fail "opensm.fdbs is not opensm-lfts.dump"
if [ -n "$roots" ]; then
  check hosts --algorithm="$engine" --root-guids=roots --lfts-out=ours | cmp - hosts ||
    fail "our tables are judged otherwise"
  entries sm/opensm-lfts.dump >theirs
  entries ours | cmp - theirs || fail "$(entries ours | comm -13 - theirs | wc -l) entries differ"
  [ -s theirs ] || fail "no entries"
fi
expect adapters "$adapters"

case $fabric in
*selene-compute*)
  awk -F '\t' '$1 == "analysed" { want = $3 + $6; next }
    { n += $4; if (($2 $3) !~ /MLG01-0[12].*MLG01-04|MLG01-04.*MLG01-0[12]/) bad = 1 }
    END { exit !(want && n == want) || bad }' hosts || fail "pairs elsewhere: $(cat hosts)"
  ;;
esac

# ibdmchk counts all adapters; hosts are what is left without the aggregation nodes. It ends
# at a path that leads nowhere, and it crashes when all is said: the text counts.
agree() { # ENDS
  local pairs unreachable channels rest none
  read -r pairs unreachable channels rest <<<"$(sed -n 's/^analysed//p' "$1")"
  : >mcfdbs
  (within 250 ibdmchk -s "$1.lst" -f sm/opensm.fdbs -m mcfdbs; true) >report 2>&1
  none=$(grep -c '^-E- Fail to find a path' report)
  [ "$none" -eq "$unreachable" ] || fail "$1: $unreachable unreachable pairs, ibdmchk says $none"
  [ "$unreachable" -gt 0 ] && return
  grep -q "^-I- Scanned:$pairs CA to CA paths" report || fail "$1: not $pairs paths"
  if [ "$channels" -eq 0 ]; then
    grep -q '^-I- no credit loops found' report || fail "$1: no loop, ibdmchk finds one"
  else
    grep -q '^-E- credit loops in routing' report || fail "$1: a loop, ibdmchk finds none"
  fi
}
[ -n "$roots" ] && exit 0 # it takes minutes, and the tables are those of the algorithm of ours
grep -v 'Aggregation Node' sm/opensm-subnet.lst >hosts.lst
agree hosts
if [ "$(wc -c <hosts.lst)" -lt "$(wc -c <sm/opensm-subnet.lst)" ] && [ "$(wc -l <hosts.lst)" -lt 5000 ]; then
  cp sm/opensm-subnet.lst adapters.lst # of large fabrics it takes minutes
  agree adapters
fi
exit 0
