#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-run.sh TOPO FAULTS FABRIC...
# --algorithm=opensm:ENGINE on each FABRIC (gen: or a real dump): its minhop and updn give,
# port for port, the tables of ours, also with dead parts and with a list of roots, and the same
# verdicts. The engine that routed instead of one that could not is named. TOPO is fabric-topo,
# FAULTS fabric-faults. Exit status 77 (skipped) when a program or all dumps are missing.
# Environment: FAB_TEST_DATA, FAB_SOURCE_DIR.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
# shellcheck source=tests/interop/tables.bash
. "$(dirname "$(readlink -f "$0")")/tables.bash"
topo=$(readlink -f "$1") faults=$(readlink -f "$2")
shift 2
needs opensm ibsim
enter
columns='-q --format=csv --no-header --columns=pairs,unreachable,max_hops,minimal,cycle_channels,pairs_on_cycles,valley_pairs'
same() { # FABRIC ENGINE [OPTION...]
  local fabric=$1 engine=$2 ours theirs
  shift 2
  # shellcheck disable=SC2086
  ours=$("$faults" "$fabric" "$@" --algorithm="$engine" --endpoints=all --lfts-out=ours $columns) ||
    fail "$fabric, $engine $*: not routed"
  # shellcheck disable=SC2086
  theirs=$("$faults" "$fabric" "$@" --algorithm=opensm:"$engine" --endpoints=all --lfts-out=theirs \
    --set=time-limit=2h $columns) || fail "$fabric, opensm:$engine $*: not routed"
  [ "$ours" = "$theirs" ] || fail "$fabric, $engine $*: ours $ours, theirs $theirs"
  entries ours >a
  entries theirs >b
  [ -s a ] || fail "no entries"
  cmp a b || fail "$fabric, $engine $*: $(comm -13 a b | wc -l) entries differ"
  echo "$fabric, $engine $*: $(wc -l <a) entries: all equal ($ours)"
}
n=0
for fabric in "$@"; do
  case $fabric in
  gen:*) ;;
  *)
    fabric=$(readlink -m "${FAB_TEST_DATA:-$FAB_SOURCE_DIR/../shared/topologies}/$fabric")
    [ -f "$fabric" ] || continue
    ;;
  esac
  n=$((n + 1))
  same "$fabric" minhop
  same "$fabric" updn
  same "$fabric" minhop --random=2 --of=any --seed=5
  "$topo" -q "$fabric" --to=root-guids -o roots 2>/dev/null || continue
  same "$fabric" updn --root-guids=roots
  same "$fabric" updn --root-guids=roots --random=3 --of=links --seed=7
done
[ $n -gt 0 ] || { echo "no dumps"; exit 77; }
# what routed instead, and why
"$faults" gen:torus:dims=4x4,hosts=1 --algorithm=opensm:ftree >report || fail "not routed"
grep -q '^opensm:ftree: OpenSM took minhop instead' report || fail "not said: $(cat report)"
grep -q 'minhop routed, for ftree could not: Found more than one root on fabric' report ||
  fail "no reason: $(cat report)"
"$faults" gen:torus:dims=4x4,hosts=1 --algorithm=minhop,opensm:ftree,opensm:lash |
  head -n 1 >report
[ "$(cat report)" = 'Safe: opensm:lash (2 lanes); shortest paths: minhop, opensm:ftree, opensm:lash (2.13 hops on average).' ] ||
  fail "first line: $(cat report)"
exit 0
