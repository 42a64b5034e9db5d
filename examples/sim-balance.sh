#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: sim-balance.sh [DUMP [PATTERN]]
# Balance made visible: the same groups on the trees that OpenSM makes and on those of fulb, all
# members sending; how long messages take until the last member has them, and what arrives. On three
# generated fabrics, and on a dump with a pattern of groups, if given. Columns: largest number of
# trees on a cable (EFI), mean latency, 99 % of it, share of the hosts' cables that arrives; and the
# factor between the two. Finds fabric-sim and fabric-mcroute in PATH or in build/cmd.
set -eu
here=$(dirname "$0")
PATH=$PATH:$(cd "$here/.." && pwd)/build/cmd

# row FABRIC PATTERN RATE ALGORITHM
row() {
  efi=$(fabric-mcroute "$1" --pattern="$2" --algorithm="$4" --quiet --format=csv --no-header --columns=max_efi | tr -d '\r')
  echo "$4,$efi,$(fabric-sim "$1" --traffic=groups:all --pattern="$2" --rate="$3" --mcast-algorithm="$4" --time=100us \
    --warmup=50us --quiet --format=csv --no-header \
    --columns=message_latency_ns.mean,message_latency_ns.p99,accepted_per_live_host,deadlock | tr -d '\r')"
}

# compare FABRIC PATTERN RATE
compare() {
  echo "$1, groups $2, each host sends at $3"
  { row "$1" "$2" "$3" opensm; row "$1" "$2" "$3" fulb; } | awk -F, '
    BEGIN { printf "  %-8s %8s %12s %12s %10s  %s\n", "trees", "max EFI", "mean ns", "p99 ns", "accepted", "deadlock" }
    { printf "  %-8s %8d %12.0f %12.0f %10.4f  %s\n", $1, $2, $3, $4, $5, $6
      efi[NR] = $2; mean[NR] = $3; p99[NR] = $4; got[NR] = $5 }
    END { printf "  %-8s %8.1f %12.1f %12.1f %10.2f\n", "factor", efi[1] / efi[2], mean[1] / mean[2], p99[1] / p99[2],
      got[2] / got[1] }'
}

compare gen:fattree:radix=8,levels=3 grid:16x8 0.05
compare gen:torus:dims=6x6x6,hosts=1 grid:18x12 0.05
compare gen:dragonfly:a=4,p=2,h=2 grid:9x8 0.05
[ $# -lt 1 ] || compare "$1" "${2-grid:8x8}" 0.05
