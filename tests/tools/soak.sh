#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: soak.sh HOURS
# For so long, round after round with new seeds: every fuzz target; commands that are killed while they write;
# drawn faults of which ibdmchk judges the tables; groups whose trees OpenSM makes, too; the largest dumps by OpenSM and
# ibnetdiscover, fences of Slurm of 64 nodes, drawn sizes of libpmix; the reproductions of papers in full, once (golden
# cases that have a `cmd-full`); suites with all cases of which tests/run.sh tries some; the simulators next to their
# plain versions; every call that fails once; races between threads; mutations of the code. Builds in build-soak,
# where a failure leaves its output (failure-*). Ends with a table; exit status 1 when anything failed.
set -u
hours=${1:?usage: soak.sh HOURS}
cd "$(dirname "$0")/../.." || exit 1
source=$PWD build=$PWD/build-soak
end=$(awk -v h="$hours" -v now="$(date +%s)" 'BEGIN { printf "%d", now + h * 3600 }')
if [ ! -f "$build/build.ninja" ]; then
  meson setup "$build" -Dtests=enabled -Dpmix=auto >/dev/null || exit 1
fi
ninja -C "$build" >/dev/null || { ninja -C "$build"; exit 1; }
export PATH="$build/cmd:$PATH" FAB_SOURCE_DIR="$source" FAB_TEST_DATA="${FAB_TEST_DATA:-}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

parts=() n_failures=0
declare -A runs failures skips seconds
# part NAME COMMAND...: one run of it; the exit status is that of tests: 0, 77 (skipped) or a failure
part() {
  local name=$1 start=$SECONDS rc
  shift
  [ "$(date +%s)" -lt "$end" ] || return
  [ -n "${runs[$name]:-}" ] || parts+=("$name")
  "$@" >"$work/log" 2>&1
  rc=$?
  runs[$name]=$((${runs[$name]:-0} + 1))
  seconds[$name]=$((${seconds[$name]:-0} + SECONDS - start))
  [ $rc -eq 77 ] && skips[$name]=$((${skips[$name]:-0} + 1))
  [ $rc -eq 0 ] || [ $rc -eq 77 ] && return
  failures[$name]=$((${failures[$name]:-0} + 1))
  n_failures=$((n_failures + 1))
  { echo "\$ $*"; cat "$work/log"; } >"$build/failure-$n_failures"
  echo "$name failed: $build/failure-$n_failures"
}

# Killed after some milliseconds while it writes: no target is partly there, the database is sound, the next run
# removes what was left and gives the files of a run that nothing disturbs.
killed() (
  command=(fabric-mcroute 'gen:fattree:radix=8,levels=3' --pattern=grid:16x8 --algorithm=balanced --threads=1
    --quiet --trees-out=trees --mcfdbs-out=tables --store=runs.db -o report --format=csv --columns=max_efi)
  rm -rf "$work/killed" && mkdir "$work/killed" && cd "$work/killed" || return 1
  "${command[@]}" || return 1
  mkdir whole && mv trees tables report whole
  for _ in $(seq 40); do
    rm -f trees tables report
    timeout --foreground -s KILL "0.$(printf '%03d' $((RANDOM % 120)))" "${command[@]}"
    for name in trees tables report; do
      [ ! -e $name ] || cmp $name whole/$name || return 1
    done
    [ "$(sqlite3 -cmd '.timeout 30000' runs.db 'PRAGMA integrity_check')" = ok ] || { echo 'the database is damaged'; return 1; }
  done
  "${command[@]}" || return 1
  for name in trees tables report; do
    cmp $name whole/$name || return 1
  done
  [ -z "$(find . -name '.*.fabkit-*')" ] || { find .; return 1; }
)

# a random one of the words
draw() {
  shift $((RANDOM % $#))
  echo "$1"
}
faults() {
  "$source/tests/interop/faults-ibdmchk.sh" "$build/cmd/fabric-faults" \
    "gen:kfat:dims=$(draw 4x4 5x3 6x6 4x4x3),hosts=$(draw 1 2 3)" $((1 + RANDOM % 6)) "$RANDOM"
}
# engines of OpenSM whose trees are those of its minhop; sssp and dfsssp make others
trees() {
  local drawn
  drawn=$(draw minhop,updn=fattree:radix=8,levels=3 minhop,dnup,lash,dor=torus:dims=4x4,hosts=2 \
    minhop=dragonfly:a=4,p=2,h=2)
  "$source/tests/interop/opensm.sh" "$build/cmd/fabric-topo" "$build/cmd/fabric-mcroute" "$build/tests/interop/mcjoin" \
    "${drawn%%=*}" "gen:${drawn#*=}" "random:groups=$((20 + RANDOM % 60)),size=2-$((3 + RANDOM % 9)),seed=$RANDOM"
}
# the tables of minhop by OpenSM, on the largest dumps: their loops are those that ibdmchk finds; those of updn with
# roots are the ones of fabric-faults
dumps() {
  local engines=("$source/tests/interop/opensm-engines.sh" "$build/cmd/fabric-topo" "$build/cmd/fabric-faults")
  "${engines[@]}" ibnetdiscover/selene-compute-hdr.txt minhop '13501950 0 124 86762 36' '18839940 0 any any any' &&
    "${engines[@]}" ibnetdiscover/ufm-director-puttylog.txt minhop '5417256 0 0 0 0' '5417256 0 0 0 0' &&
    "$source/tests/interop/opensm-run.sh" "$build/cmd/fabric-topo" "$build/cmd/fabric-faults" \
      ibnetdiscover/topograph-ndr.txt &&
    "${engines[@]}" ibnetdiscover/selene-compute-hdr.txt updn '13501950 36 0 0 0' '18839940 any 0 0 0' CCORE
}
# what CI has of smaller fabrics and fewer nodes only
large() {
  local dump live=no
  [ ! -f "$build/tests/interop/mcjoin" ] || live=yes
  for dump in selene-compute-hdr ufm-director-puttylog; do
    "$source/tests/interop/ibsim.sh" "$build/tests/interop/interop-read" $live ibnetdiscover/$dump.txt || return
  done
  "$source/tests/interop/slurm-fence.sh" "$build/cmd" "$build/tests/interop/fence-counts"
}
# with libpmix, where the build has it (-Dpmix=auto)
sizes() {
  [ -x "$build/tests/interop/pmix-size" ] || return 77
  "$build/tests/interop/pmix-size" 200 "$RANDOM"
}
suite() { # NAME: its cases, drawn with another seed
  FAB_TEST_SEED=$RANDOM meson test -C "$build" --no-rebuild "$1"
}
# cases of which tests/run.sh tries some only, all of them
whole() {
  FAB_TEST_FULL=1 meson test -C "$build" --no-rebuild --timeout-multiplier 4 "$1"
}
mutants() {
  tests/tools/mutants.sh "$(grep -v '^#' tests/tools/mutants.list | cut -d: -f1 | sort -u | shuf -n 1)"
}

fuzz=$(ls "$source"/tests/fuzz/corpus)
suites_whole=$(cd "$source/tests/unit" && grep -lE 'test_(some|step)\(|FAB_TEST_FULL' ./*.c | sed 's,./,,; s,\.c$,,')
most=20 # calls of a kind that fail of each command; in the second round all of them
while [ "$(date +%s)" -lt "$end" ]; do
  part 'every call fails once' python3 tests/tools/fail-once.py "$build/tests/tools/fail-alloc.so" examples/fabrics \
    tests/tools/fail-once.list $most
  part 'races between threads' tests/tools/races.sh build-races
  part 'dumps by OpenSM, ibdmchk' dumps
  part 'large dumps, Slurm of 64 nodes' large
  part 'sizes, libpmix' sizes
  part 'shellcheck, what is sourced' tests/tools/check-scripts.sh "$source" sourced
  [ $most -eq 1000000000 ] || for case in "$source"/tests/golden/*/cmd-full; do
    part 'papers in full' "$source/tests/golden/run.sh" --full "${case%/cmd-full}"
  done
  n=0
  for target in $fuzz; do
    n=$((n + 1))
    part 'fuzz targets, 20 s each' tests/tools/fuzz.sh 20 "$target"
    part 'drawn faults, ibdmchk' faults
    part 'drawn groups, OpenSM' trees
    part 'simulators, plain versions' suite "$(draw sim_naive sim_laws one_network sim_adaptive sim_drops fence_net)"
    part 'killed while writing' killed
    [ $((n % 6)) -ne 1 ] || part 'mutations of a file' mutants
  done
  for name in $suites_whole; do
    part 'suites, all of their cases' whole "$name"
  done
  most=1000000000
done

printf '\n%-30s %6s %8s %8s %8s\n' part runs failures skipped seconds
for name in "${parts[@]}"; do
  printf '%-30s %6d %8d %8d %8d\n' "$name" "${runs[$name]}" "${failures[$name]:-0}" "${skips[$name]:-0}" \
    "${seconds[$name]}"
done
[ $n_failures -eq 0 ]
