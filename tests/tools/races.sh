#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: races.sh BUILD
# Data races between threads: ThreadSanitizer, with what LLVM's OpenMP tells it, watches one run of each part
# that has threads. The commands are built by clang in the folder BUILD first. Ends with `N passed, N
# failed, N skipped`; exit status 1 when a run has a race or does not end well.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | sort -V | tail -n 1)
export TSAN_OPTIONS='ignore_noninstrumented_modules=1 exitcode=66' OMP_TOOL_LIBRARIES=$archer ARCHER_OPTIONS=

# a race is found where there is one
cat >"$work/race.c" <<'END'
int main(void)
{
	volatile int n = 0;
#pragma omp parallel num_threads(4)
	for (int i = 0; i < 1000; i++)
		n++;
	return n < 0;
}
END
if [ -z "$archer" ] || ! clang -O1 -fopenmp -fsanitize=thread "$work/race.c" -o "$work/race" 2>/dev/null; then
  echo 'no clang with OpenMP and ThreadSanitizer'
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
fi
fail() {
  cat "$work/log"
  echo '0 passed, 1 failed, 0 skipped'
  exit 1
}
"$work/race" 2>/dev/null
[ $? -eq 66 ] || { echo 'a race was not found' >"$work/log"; fail; }

commands='cmd/fabric-topo cmd/fabric-mcroute cmd/fabric-faults cmd/fabric-sim cmd/fabric-rdma cmd/fabric-launch
  cmd/fabric-bootplan'
if [ ! -f "$build/build.ninja" ]; then
  CC=clang meson setup "$build" -Dtests=disabled -Db_sanitize=thread -Db_lundef=false -Ddebug=false \
    -Dc_args='-g1 -O0' >"$work/log" || fail # -O1 takes nearly three times as long to compile
fi
# shellcheck disable=SC2086
ninja -C "$build" $commands >"$work/log" || fail

passed=0 failed=0
# watch COMMAND...: a run with four threads
watch() {
  local threads=--threads=4
  [ "$1" != fabric-topo ] || threads= # takes OMP_NUM_THREADS
  # shellcheck disable=SC2086
  OMP_NUM_THREADS=4 "$build/cmd/$1" "${@:2}" $threads -q >"$work/out" 2>"$work/err"
  case $? in
  0 | 1) passed=$((passed + 1)) ;;
  *)
    failed=$((failed + 1))
    echo "== $*, 4 threads"
    head -n 40 "$work/err"
    ;;
  esac
}
kfat=gen:kfat:dims=8x8,hosts=8
tree=gen:fattree:radix=8,levels=3
watch fabric-topo $kfat --capacity
watch fabric-mcroute $kfat --pattern=random:groups=400,size=40 --algorithm=all --verify
watch fabric-mcroute $tree --pattern=grid:16x8 --algorithm=balanced
watch fabric-mcroute $tree --pattern=random:groups=200,size=20 --algorithm=opensm,balanced,optimal
watch fabric-mcroute gen:torus:dims=5x5x5,hosts=1 --pattern=random:groups=300,size=30 --algorithm=fulb,sssp
watch fabric-faults $kfat --algorithm=all
watch fabric-faults gen:kfat:dims=6x6,hosts=2 --random=3 --count=60
watch fabric-faults $tree --algorithm=minhop,updn,d-mod-k --criticality
watch fabric-faults gen:torus:dims=4x4x4,hosts=1 --algorithm=dor,dor-up --fail=sw-1.1.1
watch fabric-faults gen:torus:dims=4x4,hosts=1 --algorithm=minhop --cure
watch fabric-sim $tree --sweep=0.2:0.8:0.2 --time=4us --warmup=1us
watch fabric-sim $kfat --traffic=uniform --rate=0.2 --time=5us --warmup=1us
watch fabric-rdma run gen:fattree:radix=4,levels=2 --scheme=rc,rsw --loss=0.01 --size=128KiB --runs=16
watch fabric-launch fence gen:kfat:dims=6x6,hosts=4 --nodes=100 --bytes=1000 --fence=all
watch fabric-launch advise gen:fattree:radix=8,levels=2
watch fabric-bootplan $tree --servers=h1,h2 --sweep
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
