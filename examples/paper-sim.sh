#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-sim.sh [--quick]
# The simulations of Liu B., Hu S., Shi D., Lu H., "VTFTR: deadlock-free fault-tolerant routing
# algorithm in high-dimension fat tree" (V1 to V10) and the measurements of Chen S., Zhou H., He W.,
# Qi F., "Load-balanced multicast routing for very large InfiniBand networks" (M1 to M5), beside what
# fabric-sim finds. The papers give no parameters of their switches: those taken are printed, and
# are the same for all figures of a paper. A figure that is not met gives status 1. "fitted" are those to which
# parameters were fitted: four values for M1 to M4, which agree therefore; they are no evidence for the model.
# --quick leaves out V7 to V9, which simulate 4096 hosts for minutes: there 0.07 % between places of five faults,
# 0.49 % of ten; 0.6 and 1.1 % less by five and ten for a host that is still in the network (the divisor of the paper)
# of 16x16 leaves, 0.2 and 0.3 % of 32x32 leaves with four hosts each.
# Finds fabric-sim and fabric-faults in PATH or in build/cmd.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# figure ID WHAT PAPER OURS [LOW HIGH [WORD]]: ours must lie between; it is printed as WORD then (default: holds)
figure() {
  verdict=
  if [ $# -gt 4 ]; then
    verdict=$(awk -v x="$4" -v low="$5" -v high="$6" -v word="${7-holds}" \
      'BEGIN { print (x ~ /^-?[0-9.]+$/ && x + 0 >= low && x + 0 <= high ? word : "DIFFERS") }')
    [ "$verdict" != DIFFERS ] || echo "$1" >>"$work/differs"
  fi
  printf '%-3s %-58s %9s %9s  %s\n' "$1" "$2" "$3" "$4" "$verdict"
}

# less ID WHAT PAPER OURS THAN: is the first of two "mean,half of the 95 % interval" less, in percent?
less() {
  verdict=$(awk -v x="$4" -v y="$5" 'BEGIN {
    split(x, a, ","); split(y, b, ",")
    print (a[1] + a[2] < b[1] - b[2] ? "holds" : a[1] - a[2] > b[1] + b[2] ? "DIFFERS" : "undecided") }')
  [ "$verdict" != DIFFERS ] || echo "$1" >>"$work/differs"
  printf '%-3s %-58s %9s %9s  %s\n' "$1" "$2" "$3" "$(sum "100 * ${4%,*}" 3)" "$verdict"
}

# sum EXPRESSION: a number
sum() { awk "BEGIN { x = $1; printf \"%.${2:-2}f\", x }"; }

# column NAME OPTION...: that column, a line a row
column() {
  name=$1
  shift
  fabric-sim --quiet --format=csv --no-header --columns="$name" "$@" | tr -d '\r'
}

# latency of a pair in an idle network, ns
pair() { column latency_ns gen:kfat:dims=8x8,hosts=8 --preset=paper "$@"; }

# what live hosts get at a rate, percent of their cables
kfat=gen:kfat:dims=8x8,hosts=8,planes=8
switch='--tick=flit --packet=16 --switch=voq --buffer=32 --time=8000 --warmup=4000'
get() {
  rate=$1
  shift
  sum "100 * $(column accepted_per_live_host $kfat $switch --rate="$rate" "$@")" 3
}

# seeds OPTION...: the same of 8 runs with 8 packets a port, with its interval: buffers of 32 hide what half of them costs
seeds() {
  column accepted_per_live_host,accepted_ci95 $kfat --tick=flit --packet=16 --switch=voq --buffer=8 --time=3000 \
    --warmup=2000 --rate=1 --runs=8 "$@"
}

# loss LESS MORE: percent of MORE
loss() { sum "100 * (1 - $1 / $2)" 2; }

echo "VTFTR: voq switches, packets of 16 flits, 32 packets a port, kfat of 8 planes (one a host)"
echo
printf '%-3s %-58s %9s %9s\n' id figure paper ours
figure V1 'ns to another row and column, xy' 237 "$(pair --algorithm=xy --pair=h0,h511)" 237 237
figure V2 'ns by yx, around a dead leaf' 237 "$(pair --algorithm=vtftr --fail=7.0 --pair=h0,h511)" 237 237
figure V3 'ns by a detour of VTFTR, both turns dead' 307 \
  "$(pair --algorithm=vtftr --fail=7.0,0.7 --pair=h0,h511)" 307 307
figure V3 'ns by the detour of algorithm A' 377 "$(pair --algorithm=algorithm-a --fail=3.4 --pair=h32,h192)" 377 377

one=$(seeds --algorithm=xy --vls=1)
figure V4 '% accepted at 1.0: one channel, 8 packets, 8 seeds' - "$(sum "100 * ${one%,*}" 3)"
less V4 '  (a) one of two channels, half the buffer each' 'less' "$(seeds --algorithm=xy --vls=2)" "$one"
for point in 4:15:30 8:8:16 16:0.5:2 32:-1:0.5 64:-1:0.5; do
  buffer=${point%%:*} bounds=${point#*:}
  half() { column accepted_per_live_host $kfat $switch --time=3000 --warmup=2000 --rate=1 --algorithm=xy --buffer="$buffer" "$@"; }
  figure V4 "  (a) % less by one of two channels, $buffer packets a port" 'a little' "$(loss "$(half --vls=2)" "$(half --vls=1)")" \
    "${bounds%:*}" "${bounds#*:}"
done
figure V4 '% accepted at 1.0: one channel, 32 packets' - "$(get 1 --algorithm=xy --vls=1)"
both=$(get 1 --algorithm=xy --vls=2 --set=spread-vls)
figure V4 '  (b) both of two channels used' '-' "$both"
doubled=$(get 1 --algorithm=xy --vls=2 --buffer=64)
figure V4 '  (c) one of two, the buffer doubled: as one channel' '-' "$doubled"

for rate in 0.3 0.5 0.8 1; do
  sound=$(get $rate --algorithm=vtftr --vls=2)
  vtftr=$(get $rate --algorithm=vtftr --vls=2 --fail=3.4)
  a=$(get $rate --algorithm=algorithm-a --vls=2 --fail=3.4)
  most=1
  [ $rate != 1 ] || most=2
  figure V5 "% lost by one fault at $rate, VTFTR" 'little' "$(loss "$vtftr" "$sound")" -1 $most
  figure V6 "% lost by one fault at $rate, algorithm A" 'from 0.5' "$(loss "$a" "$sound")"
done
figure V6 'mean latency at 0.5: algorithm A / VTFTR' '> 1' "$(sum "$(column latency_ns.mean $kfat $switch --rate=0.5 \
  --algorithm=algorithm-a --vls=2 --fail=3.4) / $(column latency_ns.mean $kfat $switch --rate=0.5 --algorithm=vtftr \
  --vls=2 --fail=3.4)")" 1.05 1000

if [ "${1-}" != --quick ]; then
  kfat=gen:kfat:dims=16x16,hosts=16,planes=16
  switch='--tick=flit --packet=16 --switch=voq --buffer=32 --time=3000 --warmup=3000 --vls=2 --algorithm=vtftr'
  sound=$(get 1)
  spread() { # ID FAULTS PAPER MOST RUNS...
    id=$1 n=$2 paper=$3 most=$4 low=1000 high=0
    shift 4
    for faults; do
      x=$(get 1 "$faults")
      low=$(sum "$x < $low ? $x : $low" 3)
      high=$(sum "$x > $high ? $x : $high" 3)
    done
    figure "$id" "% between places of $n faults: row, column, distinct, drawn" "$paper" "$(loss "$low" "$high")" 0 "$most"
  }
  row5=--fail=1.1,2.1,3.1,4.1,5.1 column5=--fail=1.1,1.2,1.3,1.4,1.5 distinct5=--fail=1.1,2.2,3.3,4.4,5.5
  distinct10=$distinct5,6.6,7.7,8.8,9.9,10.10
  spread V7 5 'hardly' 1 $row5 $column5 $distinct5 --set=random=5
  spread V8 10 '2' 2 $row5,6.1,7.1,8.1,9.1,10.1 $column5,1.6,1.7,1.8,1.9,1.10 $distinct10 --set=random=10
  five=$(get 1 $distinct5) ten=$(get 1 $distinct10)
  figure V9 '% less by 5 distinct faults, per live host' 1 "$(loss "$five" "$sound")" 0.1 2
  figure V9 '% less by 10, per live host' 2 "$(loss "$ten" "$sound")" 0.1 3
  kfat=gen:kfat:dims=32x32,hosts=4,planes=4
  sound=$(get 1) five=$(get 1 $distinct5) ten=$(get 1 $distinct10)
  figure V9 '% less by 5 on 32x32 leaves of 4 hosts, per live host' 1 "$(loss "$five" "$sound")" 0.1 2
  figure V9 '% less by 10, the same, per live host' 2 "$(loss "$ten" "$sound")" 0.1 3
fi

loop() { fabric-faults --quiet --format=csv --no-header --columns=cycle_channels gen:kfat:dims=8x8,hosts=8 "$@" | tr -d '\r'; }
figure V10 'channels in cycles, algorithm A, leaf 3.4 dead' 'may' "$(loop --algorithm=algorithm-a --fail=3.4)"
figure V10 'channels in cycles, algorithm A, leaves 3.4 and 5.2' 'may' "$(loop --algorithm=algorithm-a --fail=3.4,5.2)" 1 1000
figure V10 'channels in cycles, VTFTR, the same' never "$(loop --algorithm=vtftr --fail=3.4,5.2)" 0 0
# dead_end ALGORITHM: how many of five draws of two faults end in a deadlock, small fifo buffers, one lane for A
dead_end() {
  for seed in 1 2 3 4 5; do
    column deadlock gen:kfat:dims=8x8,hosts=8 --tick=flit --packet=16 --switch=fifo --rate=1 --time=20000 --warmup=0 \
      --seed=$seed "$@"
  done | grep -c true || true
}
figure V10 'deadlocks of 5 runs, A, leaves 3.4 and 5.2, fifo, 1 packet' 'may' \
  "$(dead_end --algorithm=algorithm-a --fail=3.4,5.2 --vls=1 --buffer=1)" 1 5
figure V10 'deadlocks of 5 runs, VTFTR, the same, 1 packet a lane' never \
  "$(dead_end --algorithm=vtftr --fail=3.4,5.2 --vls=2 --buffer=2)" 0 0

# one set of four parameters for M1 to M4; the time in adapters differs by size
echo
echo "Multicast: cables of 100 Gb/s and 10 ns, 129 ns a switch, think time 164 ns, 74 bytes of headers,"
echo "1531 ns in the adapters at 2 KiB, 1234.44 ns at 8 B; closed loop of one message. Their height is max_height + 1."
echo
groups() { # E STRIDE: E groups of 4 hosts
  awk -v e="$1" -v stride="$2" 'BEGIN {
    for (g = 0; g < e; g++) {
      printf "g%d:", g
      for (m = 0; m < 4; m++) printf " h%d", g * 4 * stride + m * stride
      print ""
    }
  }'
}
# multicast SIZE FABRIC E STRIDE COLUMN
multicast() {
  host=1531
  [ "$1" = 2048 ] || host=1234.44
  groups "$3" "$4" >"$work/groups"
  column "message_latency_ns.$5" "$2" --traffic=groups --groups="$work/groups" --set=mlid-cap=1 --set=closed-loop --set=think=164ns \
    --size="${1}B" --set=cable-rate=100G --set=switch-delay=129ns --set=cable-delay=10ns --set=host-delay=${host}ns --warmup=60us --time=120us
}
more() { sum "100 * ($1 / $2 - 1)"; }
one=gen:fattree:radix=512,levels=1 two=gen:pgft:h=2,m=16/32,w=1/1,p=1/1
low8=$(multicast 8 $one 1 1 mean) low2=$(multicast 2048 $one 1 1 mean)
for kind in mean p99; do
  figure M1 "% more at height 2, 8 B, $kind" 20 "$(more "$(multicast 8 $two 1 16 $kind)" "$(multicast 8 $one 1 1 $kind)")" 17 23 fitted
  figure M2 "% more at height 2, 2 KiB, $kind" 15 \
    "$(more "$(multicast 2048 $two 1 16 $kind)" "$(multicast 2048 $one 1 1 $kind)")" 12 18 fitted
done
figure M3 '% more by EFI 16, 2 KiB, one switch of 512 hosts' 38 "$(more "$(multicast 2048 $one 16 1 mean)" "$low2")" 35 41 fitted
figure M4 '% more by EFI 128, 2 KiB, one switch' 1066 "$(more "$(multicast 2048 $one 128 1 mean)" "$low2")" 1063 1069 \
  fitted
figure M5 '% more by EFI 128, 8 B, one switch' 'little' "$(more "$(multicast 8 $one 128 1 mean)" "$low8")" -1 5
tree2=$(multicast 2048 $two 1 1 mean)
figure M3 '% more by EFI 16, leaves of 16 hosts under one root' 38 "$(more "$(multicast 2048 $two 16 1 mean)" "$tree2")"
figure M4 '% more by EFI 128, the same' 1066 "$(more "$(multicast 2048 $two 128 1 mean)" "$tree2")" 700 1500 \
  fitted

[ ! -e "$work/differs" ] || { echo "differ: $(sort -u "$work/differs" | tr '\n' ' ')"; exit 1; }
