#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: booksim.sh COMMANDS BOOKSIM
# fabric-sim beside BookSim2 in the same minutes: the same network (fabric-topo --to=booksim), packets and
# load. Packet-hops/s: packets by cables that they cross, by CPU seconds. kfat 8x8 with 8 hosts a leaf, one
# plane, offered 0.0625: packets of 16 flits and of one.
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
    'sample_period = 1000' 'sim_count = 1' 'latency_thres = 1e9' "$@"; } >config
  bash -c "TIMEFORMAT='%U'; time '$booksim' config >out 2>&1" 2>cpu
  awk -v cpu="$(cat cpu)" '/^Accepted flit rate average/ { got = $(NF - ($NF ~ /samples/ ? 2 : 0)) }
    /^Hops average/ { hops = $4 } /^Time taken is/ { cycles = $4 } END { print got, hops, cycles, cpu }' out
}

for flits in 16 1; do
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
