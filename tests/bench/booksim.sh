#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: booksim.sh COMMANDS BOOKSIM
# fabric-sim beside BookSim2 in the same minutes: the same network (fabric-topo --to=booksim), packets and
# load. Packet-hops/s: packets by cables that they cross, by CPU seconds. kfat 8x8 with 8 hosts a leaf, one
# plane, offered 0.0625: packets of 16 flits and of one. Adaptive routing on a mesh.
# Then saturation, the most that is accepted of uniform traffic, on a torus, rings and a tree with the same
# lanes and buffers; fabric-sim(1) says what differs.
set -eu
PATH=$1:$PATH booksim=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fabric=gen:kfat:dims=8x8,hosts=8
fabric-topo $fabric --to=booksim -q >net

# peer FLITS RATE LINE...: accepted, hops, cycles, CPU seconds
peer() {
  flits=$1 rate=$2
  shift 2
  { printf '%s;\n' "packet_size = $flits" 'injection_rate_uses_flits = 1' "injection_rate = $rate" 'traffic = uniform' \
    'sample_period = 1000' 'sim_count = 1' 'latency_thres = 1e9' "$@"; } >config # of two lines the last one counts
  bash -c "TIMEFORMAT='%U'; time '$booksim' config >out 2>&1" 2>cpu || true # its status says nothing
  awk -v cpu="$(cat cpu)" '/^Accepted flit rate average/ { got = $(NF - ($NF ~ /samples/ ? 2 : 0)) }
    /^Hops average/ { hops = $4 } /^Time taken is/ { cycles = $4 } END { print got, hops, cycles, cpu }' out
}

for flits in 16 1; do
  # shellcheck disable=SC2046 # words of one line
  set -- $(peer $flits 0.0625 'topology = anynet' 'network_file = net' 'routing_function = min' 'num_vcs = 1' \
    'vc_buf_size = 256')
  # hops are routers: a cable more
  peer_rate=$(awk "BEGIN { print 512 * $1 / $flits * $3 * ($2 + 1) / $4 }")
  bash -c "TIMEFORMAT='%U'; time fabric-sim $fabric --algorithm=minhop --rate=0.0625 --tick=flit --packet=$flits --vls=1 \
    --buffer=$((256 / flits)) --warmup=1000 --time=100000 --threads=1 --quiet --format=csv --no-header \
    --columns=packet_hops,accepted_per_live_host >ours" 2>cpu
  tr -d '\r' <ours | awk -F, -v flits=$flits -v peer="$peer_rate" -v got="$1" -v cpu="$(cat cpu)" '{
    printf "booksim kfat 8x8, %d flits: BookSim2 %.3g packet-hops/s (accepted %.4f), fabric-sim %.3g (%.4f): %.0f times\n",
      flits, peer, got, $1 / cpu, $2, $1 / cpu / peer }'
done

# minimal adaptive routing with an escape lane, mesh 8x8, packets of 16 flits: eight of them a lane
# shellcheck disable=SC2046 # words of one line
set -- $(peer 16 0.3 'topology = mesh' 'k = 8' 'n = 2' 'routing_function = min_adapt' 'num_vcs = 2' 'vc_buf_size = 128')
peer_rate=$(awk "BEGIN { print 64 * $1 / 16 * $3 * ($2 + 1) / $4 }")
bash -c "TIMEFORMAT='%U'; time fabric-sim gen:mesh:dims=8x8,hosts=1 --route=adaptive --rate=0.3 --tick=flit --packet=16 \
  --buffer=16 --warmup=1000 --time=100000 --threads=1 --quiet --format=csv --no-header \
  --columns=packet_hops,accepted_per_live_host >ours" 2>cpu
tr -d '\r' <ours | awk -F, -v peer="$peer_rate" -v got="$1" -v cpu="$(cat cpu)" '{
  printf "booksim mesh 8x8, adaptive, 16 flits: BookSim2 %.3g packet-hops/s (accepted %.4f), fabric-sim %.3g (%.4f): %.0f times\n",
    peer, got, $1 / cpu, $2, $1 / cpu / peer }'

# peer_most PERIOD RATES LINE...: the most that BookSim2 accepts of uniform traffic
like='vc_buf_size = 128;routing_delay = 0;speculative = 1;hold_switch_for_packet = 1;max_samples = 3;warmup_periods = 1'
peer_most() {
  period=$1 rates=$2
  shift 2
  for rate in $rates; do
    (IFS=';'; set -- $like "$@"; IFS=" "; peer 16 $rate "sample_period = $period" "$@")
  done | sort -n | tail -n 1 | cut -d' ' -f1
}

# of one packet after the other over a cable the router misses some flit times
peer_flow=$(peer_most 3000 '0.96 0.98 1.0' 'topology = mesh' 'k = 8' 'n = 1' 'routing_function = dim_order' 'num_vcs = 1' 'traffic = neighbor')
# saturation NAME HOSTS FABRIC ALGORITHM PERIOD RATES LINE...
saturation() {
  name=$1 hosts=$2 fabric=$3 algorithm=$4 period=$5 rates=$6
  shift 6
  ours=$(fabric-sim "$fabric" --algorithm="$algorithm" --sweep=0.3:1:0.05 --tick=flit --packet=16 --switch=fifo --buffer=8 \
    --set buffer-per-vl --set=switch-delay=2 --warmup=15000 --time=30000 --quiet --format=csv --no-header \
    --columns=accepted_per_live_host | tr -d '\r' | sort -n | tail -n 1)
  peer_most "$period" "$rates" "$@" | awk -v ours="$ours" -v hosts="$hosts" -v flow="$peer_flow" -v name="$name" '{
    to_others = $1 * (hosts - 1) / hosts
    printf "booksim saturation, %s: fabric-sim %.3f, BookSim2 %.3f, of it to other hosts %.3f (%+.0f %%), by what one flow gets there, %.3f: %+.1f %%\n",
      name, ours, $1, to_others, 100 * (ours / to_others - 1), flow, 100 * (ours / (to_others / flow) - 1) }'
}
ring="topology = torus;n = 1;routing_function = dim_order_bal;num_vcs = 2"
(IFS=';'; set -- $ring 'k = 8'; IFS=' '; saturation 'ring of 8' 8 gen:torus:dims=8 dor 20000 '0.65 0.7 0.75' "$@")
(IFS=';'; set -- $ring 'k = 16'; IFS=' '; saturation 'ring of 16' 16 gen:torus:dims=16 dor 20000 '0.3 0.35 0.4' "$@")
saturation '8-ary 2-tree' 64 gen:pgft:h=2,m=8/8,w=1/8,p=1/1 minhop 3000 '0.55 0.6 0.65 0.8' 'topology = fattree' 'k = 8' 'n = 2' \
  'routing_function = nca' 'num_vcs = 1'
(IFS=';'; set -- $ring 'k = 8' 'n = 2'; IFS=' '; saturation 'torus 8x8' 64 gen:torus:dims=8x8 dor 3000 '0.6 0.65 0.7 0.8' "$@")
