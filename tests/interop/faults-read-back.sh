#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-read-back.sh FAULTS N FABRIC ALGORITHM
# N times parts of a fabric die by chance, a few of each kind; what fabric-faults writes of
# it is read back by itself (both forms of tables) and by ibdmchk: the same result.
# FAULTS is fabric-faults. Exit status 77 (skipped) without ibdmchk.
set -u
# shellcheck source=tests/interop/patience.bash
. "$(dirname "$(readlink -f "$0")")/patience.bash"
faults=$(readlink -f "$1") n=$2 fabric=$3 algorithm=$4
command -v ibdmchk >/dev/null || { echo "no ibdmchk"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail() {
  echo "FAILED: $fabric $algorithm $kind=$k seed $seed: $*"
  exit 1
}

# What must be equal, as a line: pairs, those unreachable, channels in cycles, pairs connected in the graph, the others.
figures() { # FABRIC OPTION...
  "$faults" "$@" -q --verify --endpoints=hosts --format=json | sed -nE 's/.*"pairs": ([0-9]+), ("connected": [0-9]+), '\
'"unreachable": ([0-9]+), .*"connected_in_graph": ([0-9]+), ("hops": .*"cycle_channels": )([0-9]+), '\
'("pairs_on_cycles": [0-9]+), .*("verified": [a-z]+).*/\1,\3,\6,\4,\2,\5,\7,\8/p'
}

# It crashes when all is said: the text counts.
check() {
  : >mcfdbs
  (within 200 ibdmchk -s left -f fdbs -c psl -d slvl -m mcfdbs; true) >report 2>&1
  grep -q 'Fail to parse\|Fail to find node' report && fail "ibdmchk refuses: $(grep '^-E-' report | head -n 3)"
  # a fabric in parts it reads, and checks no further
  grep -q '^-E- Fail to update Min Hops Tables' report && [ "$apart" -gt 0 ] && return
  [ "$(grep -c '^-E- Fail to find a path' report)" -eq "$unreachable" ] ||
    fail "$unreachable pairs are unreachable, not for ibdmchk: $(grep '^-E-' report | head -n 3)"
  [ "$unreachable" -gt 0 ] && return
  grep -q "^-I- Scanned:$pairs CA to CA paths" report || fail "ibdmchk: not $pairs paths"
  if [ "$channels" -eq 0 ]; then
    grep -q '^-I- no credit loops found' report || fail "no loop, ibdmchk finds one"
  else
    grep -q 'credit loop' report && ! grep -q '^-I- no credit loops found' report || fail "a loop, ibdmchk finds none"
  fi
}

done=0 lost=0 loops=0
for ((seed = 1; seed <= n; seed++)); do
  kinds=(leaves roots links any)
  kind=${kinds[seed % 4]} k=$((1 + seed % 7))
  rm -f lfts fdbs psl slvl left
  want=$(figures "$fabric" --algorithm="$algorithm" --random=$k --of=$kind --seed=$seed --lfts-out=lfts --fdbs-out=fdbs \
    --path-sl-out=psl --sl2vl-out=slvl --subnet-out=left 2>err)
  if [ -z "$want" ]; then
    # more faults than parts, nothing left, no lanes that could be written: said in one line
    [ "$(wc -l <err)" -eq 1 ] || fail "$(cat err)"
    continue
  fi
  for tables in lfts fdbs; do
    got=$(figures left --lfts=$tables --path-sl=psl --sl2vl=slvl)
    [ "$got" = "$want" ] || fail "$tables: $got, expected $want"
  done
  IFS=, read -r pairs unreachable channels connected _ <<<"$want"
  apart=$((pairs - connected))
  [ "$pairs" -gt 0 ] && check
  done=$((done + 1)) lost=$((lost + (unreachable > 0))) loops=$((loops + (channels > 0)))
done
[ $done -gt 0 ] || fail "nothing could be written: $(cat err)"
echo "$fabric $algorithm: $done of $n sets, $lost with unreachable pairs, $loops with loops"
