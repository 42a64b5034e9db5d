#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-rdma.sh [RUNS]
# The claims of Wang S., Xu W., Wu D., Pang Z., Xia J., "A fast RDMA offload method for unreliable
# interconnection networks" (2015), one after the other: what comes out, by which numbers, and the
# command that shows it. The paper does not tell its MTU, rates, timeout, torus, delays and the
# window of SSW; those taken are in the commands. RUNS (default 200) are runs of each point: with few
# of them (below 60) some verdicts are "undecided". Finds fabric-rdma in PATH or in build/cmd.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
runs=${1:-200}
torus=gen:torus:dims=4x4x4,hosts=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# row CLAIM VERDICT NUMBERS COMMAND
row() {
  printf '%s\n    %s\n    %s\n    $ %s\n' "$1" "$2" "$3" "$4"
}

# one COLUMN OPTION...: that column of the only row
one() {
  column=$1
  shift
  fabric-rdma run "$@" --quiet --format=csv --no-header --columns="$column" | tr -d '\r'
}

# claims COMMAND...: the claims of a figure that its options look at, with their verdicts
claims() {
  fabric-rdma "$@" --quiet --format=json | tr -d '\n' | sed 's/.*"claims": \[//; s/\].*//' |
    grep -oE '"claim": "[^"]*", "verdict": "[^"]*", "shown": "[^"]*"' |
    grep -v '"verdict": "not looked at' |
    sed -E 's/"claim": "([^"]*)", "verdict": "([^"]*)", "shown": "([^"]*)"/\1|\2|\3/' >"$work/claims"
  while IFS='|' read -r claim verdict shown; do
    row "$claim" "$verdict" "$shown" "fabric-rdma $*"
  done <"$work/claims"
}

sum() { awk "BEGIN { printf \"%.3g\", $1 }"; }
if_true() { awk "BEGIN { exit !($1) }" && echo "$2" || echo "$3"; }

echo '-- the window'
trace='trace --arrivals=2,1,0,4,3 --as-printed'
# shellcheck disable=SC2086
wrong=$(fabric-rdma $trace --format=json | grep -c '"right": false' || true)
row 'The window slides by WBASE = WBASE + LOC(WVEC)' \
  "$(if_true "$wrong > 0" 'refuted: off by one against its own example' reproduced)" \
  "$wrong of 5 states of the paper's example are wrong by that rule" "fabric-rdma $trace"
cost='cost --memory=256KiB --window=32,128'
# shellcheck disable=SC2086
fabric-rdma $cost --format=csv >"$work/cost"
row 'A context of RSW is smaller than one of RC' 'refuted for any window that is of use' \
  "$(awk -F, '$1 == "rc" { rc = $3 } $1 == "rsw" { printf "W = %s: %s bits; ", $2, $3 } END { print "rc: " rc " bits; smaller below W = 7 only" }' "$work/cost")" \
  "fabric-rdma $cost"

echo
echo '-- figure 4: without loss'
claims figure 4 $torus --runs=4

echo
echo '-- figure 5: loss, by size'
claims figure 5 $torus --size=256K --scheme=rsw,ssw,rc --runs="$runs"

echo
echo '-- figure 6: 256 K, by loss'
claims figure 6 $torus --loss=5e-3 --mtu=2048 --scheme=rsw,ssw,rc --runs="$((runs * 2))"
claims figure 6 $torus --loss=5e-3 --mtu=512 --scheme=rsw,rsw+,ssw,rc --runs="$runs"
order="run $torus --loss=5e-3 --delay=1:U:300ns --route=adaptive --scheme=rsw,ssw --runs=$runs --sender-window=64"
# shellcheck disable=SC2086
fabric-rdma $order --quiet --format=csv --no-header --columns=completion_us.mean >"$work/times"
rsw=$(sed -n 1p "$work/times") ssw=$(sed -n 2p "$work/times")
row '... whatever the window of SSW is' \
  "$(if_true "$rsw < $ssw" reproduced 'needs a small one: with 64 packets SSW repairs more in a timeout')" \
  "rsw $rsw us, ssw $ssw us" "fabric-rdma $order"

echo
echo '-- figure 7: reordering'
# a pair of each distance on the torus, and how many of the 63 others are as far away
late="--delay=0.1:U:2.7us --mtu=512 --scheme=rsw --runs=$((runs / 4 + 1))"
claims figure 7 $torus --pattern=pair:h0,h21 --runs="$((runs / 4 + 1))"
: >"$work/far"
for pair in 1:1:6 5:2:15 21:3:20 22:4:15 26:5:6 42:6:1; do
  to=${pair%%:*} rest=${pair#*:}
  # shellcheck disable=SC2086
  printf '%s %s %s\n' "${rest%:*}" "${rest#*:}" \
    "$(one ratio_to_ideal $torus --pattern=pair:h0,h$to --window=32 $late)" >>"$work/far"
done
mean=$(awk '{ n += $2; sum += $2 * $3 } END { printf "%.3f", sum / n }' "$work/far")
row '... on the mean over all pairs' \
  "$(if_true "$mean > 0.65 && $mean < 0.75" 'reproduced with 10 % of packets held up' refuted)" \
  "W = 32: $mean; $(awk '{ printf "%s%s hops %.3f", (NR > 1 ? ", " : ""), $1, $3 }' "$work/far")" \
  "fabric-rdma run $torus --pattern=pair:h0,hN --window=32 $late"
far=$(awk '$1 == 6 { print $3 }' "$work/far")
row '... whatever the length of the path is' \
  "$(if_true "$far > 0.65" reproduced 'needs a short one: what is dropped is asked for over all of it')" \
  "W = 32 over 6 hops: $far" "fabric-rdma run $torus --window=32 $late"

echo
echo '-- what adaptive paths do by themselves'
load='gen:torus:dims=8x8x8,hosts=1 --pattern=permutation --size=64KiB --route'
big="${load%% *}"
degree=$(one reorder_degree.max "$big" --pattern=permutation --size=64KiB --route=adaptive --mtu=512 --scheme=oracle)
gbn=$(one completion_us.mean "$big" --pattern=permutation --size=64KiB --route=adaptive --mtu=512 --scheme=gbn)
adaptive=$(one completion_us.mean "$big" --pattern=permutation --size=64KiB --route=adaptive --mtu=512 --scheme=rsw+)
ordered=$(one completion_us.mean "$big" --pattern=permutation --size=64KiB --route=dor --mtu=512 --scheme=gbn)
row 'Adaptive paths need a scheme that takes packets in any order' \
  "$(if_true "$gbn > 2 * $adaptive" reproduced refuted)" \
  "degree $degree; gbn $gbn us, rsw+ $adaptive us; gbn in dimension order $ordered us, $(sum "$ordered / $adaptive") times the latter" \
  "fabric-rdma run $load=adaptive --mtu=512"
