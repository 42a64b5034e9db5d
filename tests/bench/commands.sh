#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Whole commands: seconds of CPU (user), seconds that pass, memory; beside another set of binaries in
# the same run, alternately, and what part of their time ours take. Least of several runs each.
# usage: commands.sh BINDIR [BASEDIR]      FAB_BENCH_RUNS=N (default 3), FAB_BENCH_ONLY=PATTERN
set -u
bin=$1 base=${2:-} runs=${FAB_BENCH_RUNS:-3} only=${FAB_BENCH_ONLY:-.}
dumps=${FAB_TEST_DATA:-${FAB_SOURCE_DIR:-.}/../shared/topologies}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ -x /usr/bin/time ] || {
  echo "needs /usr/bin/time (Debian: time)" >&2
  exit 77
}

# One run: the least of each of user, wall and memory so far, in *least* of a file. Longer ones
# need no repetition. Returns 1 when the command refuses.
measure() { # FILE DIR COMMAND...
  file=$work/$1 dir=$2
  shift 2
  PATH=$dir:$PATH /usr/bin/time -o "$file.now" -f '%U %e %M' "$@" >/dev/null 2>&1 || {
    rm -f "$file.now"
    return 1
  }
  [ -e "$file" ] || cp "$file.now" "$file"
  paste -d ' ' "$file" "$file.now" |
    awk '{ for (i = 1; i <= 3; i++) printf "%s ", ($i + 0 < $(i + 3) + 0 ? $i : $(i + 3)) }' >"$file.least"
  mv "$file.least" "$file"
}

print() { # THREADS COMMAND...
  threads=$1
  shift
  touch "$work/base" "$work/ours"
  paste -d ' ' "$work/ours" "$work/base" | awk -v threads="$threads" -v command="$*" '
    function part(a, b) { return (b > 0) ? sprintf("%.2f", a / b) : "-" }
    function old(i) { return (NF > 3) ? sprintf("%.2f", $i) : "-" }
    { printf "%7d %8s %8.2f %6s %8s %8.2f %6s %7.0f  %s\n", threads,
        old(4), $1, part($1, $4),
        old(5), $2, part($2, $5), $3 / 1024, command }'
}

row() { # THREADS COMMAND...
  threads=$1
  shift
  [[ $* =~ $only ]] || return 0
  rm -f "$work/base" "$work/ours"
  export OMP_NUM_THREADS=$threads
  for ((run = 0; run < runs; run++)); do
    [ -z "$base" ] || measure base "$base" "$@"
    measure ours "$bin" "$@" || {
      echo "failed: $*"
      exit 1
    }
    [ "$(cut -d. -f1 "$work/ours")" -lt 5 ] || break
  done
  print "$threads" "$@"
}

printf '%7s %8s %8s %6s %8s %8s %6s %7s  %s\n' threads 'base' 'user s' 'ratio' 'base' 'wall s' \
  'ratio' 'MiB' command
million=gen:fattree:radix=160,levels=3
row 1 fabric-topo $million
row 1 fabric-mcroute $million --pattern=random:groups=10000,size=64 --algorithm=fulb
row 1 fabric-faults gen:kfat:dims=72x72 --random=20 --of=links --algorithm=vtftr
row 1 fabric-faults gen:kfat:dims=72x72 --random=20 --of=links --algorithm=vtftr-ib
row 1 fabric-faults gen:kfat:dims=20x20x20 --random=100 --of=leaves --algorithm=vtftr-ib
for threads in 1 2; do
  row $threads fabric-faults gen:kfat:dims=72x72 --random=20 --of=links --algorithm=xy,vtftr-ib
  row $threads fabric-faults gen:kfat:dims=16x16,hosts=16 --random=10 --count=600
  row $threads fabric-faults gen:kfat:dims=8x8 --random=4 --count=2000 --algorithm=xy,vtftr-ib
  row $threads fabric-mcroute gen:fattree:radix=24,levels=3 \
    --pattern=random:groups=2000,size=16 --algorithm=fulb,sssp
  for algorithm in xy vtftr vtftr-ib updn; do
    row $threads fabric-faults gen:kfat:dims=12x12,hosts=12 --criticality --algorithm=$algorithm
  done
done
# who waits for work by turning round and round takes the time of others
for policy in passive active; do
  row 2 env OMP_WAIT_POLICY=$policy fabric-faults gen:kfat:dims=16x16,hosts=4 --random=10 \
    --algorithm=vtftr-ib,xy,updn
  row 2 env OMP_WAIT_POLICY=$policy fabric-faults gen:kfat:dims=72x72 --random=20 --of=links \
    --algorithm=vtftr-ib
done
selene=$dumps/ibnetdiscover/selene-compute-hdr.txt
[ -r "$selene" ] || exit 0
"$bin/fabric-faults" "$selene" --algorithm=minhop --lfts-out="$work/lfts" >/dev/null 2>&1
for threads in 1 2; do
  row $threads fabric-faults "$selene" --algorithm=minhop
  row $threads fabric-faults "$selene" --lfts="$work/lfts"
  row $threads fabric-faults "$selene" --criticality
done
