# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034
# Sourced by the benchmarks beside csg-htsim: htsim_run NAME HTSIM, in an empty folder, runs
# htsim_eqds on a permutation of 1024 hosts, a fat tree of three levels, 100 Gb/s, 1 us a cable,
# packets of 4096 bytes, 500 kB a flow. Makes `pairs` (SOURCE TARGET a line) and the connection
# matrix `matrix`; sets packets (of data), slowest (us) and peer (CPU seconds).

htsim_run() {
  # who sends to whom, nobody to itself
  awk 'BEGIN {
    srand(1)
    for (i = 0; i < 1024; i++) to[i] = i
    for (i = 1023; i > 0; i--) { # one cycle through all
      j = int(rand() * i)
      x = to[i]; to[i] = to[j]; to[j] = x
    }
    for (i = 0; i < 1024; i++) print i, to[i]
  }' >pairs
  awk 'BEGIN { print "Nodes 1024\nConnections 1024" }
    { printf "%d->%d id %d start 0 size 500000\n", $1, $2, NR }' pairs >matrix
  bash -c "TIMEFORMAT='%U'; time '$2' -tm matrix -nodes 1024 -linkspeed 100000 -mtu 4096 -end 2000 -o log >out 2>&1" 2>cpu ||
    { tail -n 5 out; echo "$1: failed"; exit 1; }
  packets=$(sed -n 's/^New: \([0-9]*\) .*/\1/p' out) finished=$(grep -c ' finished at ' out)
  [ "$finished" = 1024 ] || { echo "$1: $finished of 1024 flows finished"; exit 1; }
  slowest=$(sed -n 's/.* finished at \([0-9.]*\) .*/\1/p' out | sort -n | tail -n 1)
  peer=$(cat cpu)
}
