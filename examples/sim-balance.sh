#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: sim-balance.sh [DUMP [PATTERN]]
# Balance made visible: the same groups on the trees that OpenSM makes and on those of fulb, all
# members sending. On three generated fabrics, and on a dump with a pattern of groups, if given.
# Columns: largest number of trees on a cable (EFI); the highest rate, a share of each host's cable,
# up to which no backlog grows; and at the highest rate at which that holds for both kinds of trees
# the mean and 99 % of the time until the last member has a message. Beyond it latency grows with
# the time that is simulated, and is not compared. The last line is the factor between the two.
# Finds fabric-sim and fabric-mcroute in PATH or in build/cmd.
set -eu
here=$(dirname "$0")
PATH=$PATH:$(cd "$here/.." && pwd)/build/cmd

# rates FABRIC PATTERN SWEEP ALGORITHM: ALGORITHM,EFI,RATE,MEAN,P99,SATURATED a line a rate
rates() {
  efi=$(fabric-mcroute "$1" --pattern="$2" --algorithm="$4" --quiet --format=csv --no-header --columns=max_efi | tr -d '\r')
  fabric-sim "$1" --traffic=groups:all --pattern="$2" --sweep="$3" --set=mcast-algorithm="$4" --time=100us --warmup=50us \
    --quiet --format=csv --no-header \
    --columns=offered,message_latency_ns.mean,message_latency_ns.p99,saturated,deadlock | tr -d '\r' | sed "s/^/$4,$efi,/"
}

# compare FABRIC PATTERN SWEEP
compare() {
  echo "$1, groups $2"
  { rates "$1" "$2" "$3" opensm; rates "$1" "$2" "$3" fulb; } | awk -F, '
    !($1 in efi) { name[++n] = $1; efi[$1] = $2; carried[$1] = 0 }
    $6 == "false" && $7 == "false" && !ended[$1] { carried[$1] = $3; mean[$1, $3] = $4; p99[$1, $3] = $5; next }
    { ended[$1] = 1 }
    END {
      at = carried[name[1]] < carried[name[2]] ? carried[name[1]] : carried[name[2]]
      printf "  %-8s %8s %12s %12s %12s\n", "trees", "max EFI", "carried to", "mean ns", "p99 ns"
      for (i = 1; i <= 2; i++) {
        printf "  %-8s %8d %12s", name[i], efi[name[i]], (ended[name[i]] ? "" : ">= ") carried[name[i]]
        if (at > 0) printf " %12.0f %12.0f  at %g\n", mean[name[i], at], p99[name[i], at], at
        else printf " %12s %12s\n", "-", "-"
      }
      printf "  %-8s %8.1f", "factor", efi[name[1]] / efi[name[2]]
      if (at > 0) printf " %12.1f %12.2f %12.2f\n", carried[name[2]] / carried[name[1]],
        mean[name[1], at] / mean[name[2], at], p99[name[1], at] / p99[name[2], at]
      else print ""
    }'
}

compare gen:fattree:radix=8,levels=3 grid:16x8 0.005:0.06:0.005
compare gen:torus:dims=6x6x6,hosts=1 grid:18x12 0.01:0.07:0.01
compare gen:dragonfly:a=4,p=2,h=2 grid:9x8 0.005:0.06:0.005
[ $# -lt 1 ] || compare "$1" "${2-grid:8x8}" 0.005:0.06:0.005
