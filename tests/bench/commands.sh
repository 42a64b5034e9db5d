#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# User seconds of whole commands on one thread, beside what they took at first on the same
# machine (-: refused). usage: commands.sh BINDIR
set -u
bin=$1 dumps=${FAB_TEST_DATA:-${FAB_SOURCE_DIR:-.}/../shared/topologies}
export OMP_NUM_THREADS=1
TIMEFORMAT=%U

row() { # BASE COMMAND...
  base=$1
  shift
  seconds=$({ time "$bin/$@" >/dev/null 2>&1; } 2>&1) || return 1
  printf '%8s %8s  %s\n' "$base" "$seconds" "$*"
}

printf '%8s %8s  %s\n' 'base s' 'user s' command
row - fabric-topo gen:fattree:radix=160,levels=3 || exit 1
row - fabric-mcroute gen:fattree:radix=160,levels=3 \
  --pattern=random:groups=10000,size=64 --algorithm=fulb || exit 1
row 4.0 fabric-faults gen:kfat:dims=72x72 --random=20 --of=links --algorithm=vtftr || exit 1
row 9.2 fabric-faults gen:kfat:dims=72x72 --random=20 --of=links --algorithm=vtftr-ib || exit 1
row 93 fabric-faults gen:kfat:dims=20x20x20 --random=100 --of=leaves \
  --algorithm=vtftr-ib || exit 1
for algorithm in xy vtftr vtftr-ib updn; do
  case $algorithm in xy) base=0.46 ;; updn) base=4.3 ;; vtftr) base=0.66 ;; *) base=0.60 ;; esac
  row $base fabric-faults gen:kfat:dims=12x12,hosts=12 --criticality --algorithm=$algorithm ||
    exit 1
done
selene=$dumps/ibnetdiscover/selene-compute-hdr.txt
[ -r "$selene" ] || exit 0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$bin/fabric-faults" "$selene" --algorithm=minhop --lfts-out="$work/lfts" >/dev/null 2>&1
row 0.46 fabric-faults "$selene" --algorithm=minhop || exit 1
row 0.82 fabric-faults "$selene" --lfts="$work/lfts" || exit 1
row 3.4 fabric-faults "$selene" --criticality || exit 1
