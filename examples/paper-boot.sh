#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-boot.sh
# Sets the figures of Gong D., Song C., Liu S., Qi F., "Network boot distribution algorithms of
# large-scale supercomputers" beside what fabric-bootplan gives for the machine of the paper, and
# shows what a balanced mapping makes of it. Finds fabric-bootplan in PATH or in build/cmd. Exits
# with 1 when a figure differs.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shares ALGORITHM BOOT: lines "NAME SHARE", then "time SECONDS"
shares() {
  fabric-bootplan --quiet --machine=preset:taihulight --algorithm="$1" --boot="$2" \
    --format=json --columns=boot_seconds,segments |
    tr -d ' \r\n' | sed 's/{"name"/\n&/g; s/"results":/\n&/' |
    sed -nE 's/.*"results":.*"boot_seconds":([0-9.]+),.*/time \1/p
      s/^\{"name":"(N[1-5])".*"share_mbps":([0-9.]+).*/\1 \2/p'
}

# figure ALGORITHM BOOT WHAT PAPER
figure() {
  [ -f "$work/$1.$2" ] || shares "$1" "$2" >"$work/$1.$2"
  ours=$(awk -v what="$3" '$1 == what { print $2 }' "$work/$1.$2")
  awk -v a="$1" -v b="$2" -v w="$3" -v p="$4" -v o="$ours" 'BEGIN {
    same = o != "" && o - p <= 0.005 && p - o <= 0.005
    printf "%-5s %-20s %-5s %9s %9.2f  %s\n", a, b, w, p, o, same ? "same" : "differs"
    exit !same
  }' || echo differs >>"$work/differs"
}

cat <<'END'
Shares in Mb/s on the segments N1 (CPU) to N5 (server), and times to boot (50 MB) in seconds.

rule  boot                 what      paper      ours
END
for rule in scda bcda; do
  figure $rule first:1:cpu N1 1000
  figure $rule first:1:cpu N5 1000
  for boards in 1 2 20 32 5120; do figure $rule first:$boards:board N2 125; done
  figure $rule first:1:board N3 2500
  figure $rule first:20:board N3 125
  figure $rule first:1:supernode N3 78.13
  figure $rule all N3 78.13
  figure $rule first:1:board N4 2500
  figure $rule first:1:board N5 125
done
figure scda first:2:board N5 62.5
figure scda first:20:board N5 6.25
figure scda first:1:supernode N5 3.91
figure scda first:5:cabinet N4 3.91
figure scda first:5:cabinet N5 3.91
figure scda all N4 3.91
figure scda all N5 3.91
figure bcda first:20:board N4 125
figure bcda first:21:board N4 125
figure bcda first:160:board N4 125
figure bcda first:160:board N5 125
figure bcda first:320:board N4 62.5
figure bcda first:320:board N5 62.5
figure bcda all N4 3.91
figure bcda all N5 3.91
figure scda first:1:supernode time 102.4
figure scda all time 102.4
figure bcda first:1:board time 3.2
figure bcda first:20:board time 3.2
figure bcda first:1:supernode time 5.12
figure bcda all time 102.4

cat <<'END'

How many times faster than SCDA:

boards       bcda  balanced
END
fabric-bootplan --quiet --machine=preset:taihulight --sweep=board --algorithm=scda,bcda,balanced \
  --format=csv --no-header --columns=algorithm,batch,boot_seconds | tr -d '\r' |
  awk -F, '{ t[$1] = $3 }
    $1 == "balanced" {
      split($2, part, ":")
      printf "%6d %10.2f %9.2f\n", part[2], t["scda"] / t["bcda"], t["scda"] / t["balanced"]
    }'
[ ! -f "$work/differs" ]
