#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: htsim.sh COMMANDS HTSIM
# fabric-sim beside htsim_eqds of csg-htsim (HTSIM) in the same minutes: a permutation of 1024 hosts on a fat
# tree of three levels, 100 Gb/s, packets of 4096 bytes. Packet-hops/s: packets of data by cables that they
# cross, by CPU seconds. htsim has a transport (EQDS: pulls, acknowledgements, losses) and no credits; fabric-sim
# has credits and no transport, so that its messages can be longer for as many events a packet.
# Exit status 77 when HTSIM is no program.
set -eu
# shellcheck source=tests/bench/htsim_run.bash
. "$(cd "$(dirname "$0")" && pwd)/htsim_run.bash"
packets='' peer=''
PATH=$1:$PATH htsim=$2
[ -x "$htsim" ] || { echo "htsim: skipped, -Dhtsim names no program: '$htsim'"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fabric=gen:fattree:radix=16,levels=3

htsim_run htsim "$htsim"
awk '{ print 0, "h" $1, "h" $2, 5000000 }' pairs >flows
bash -c "TIMEFORMAT='%U'; time fabric-sim $fabric --algorithm=minhop --traffic=trace:flows --packet=4096B --set=cable-rate=100G \
  --set=switch-delay=0 --set=cable-delay=1us --threads=1 --quiet --format=csv --no-header --columns=packet_hops,packets,events >ours" 2>cpu
tr -d '\r' <ours | awk -F, -v packets="$packets" -v peer="$peer" -v cpu="$(cat cpu)" '{
  hops = $1 / $2 # the same hosts and shortest paths: as many for both
  theirs = packets * hops / peer
  printf "htsim permutation of 1024 hosts: htsim_eqds %.3g packet-hops/s (%d packets of %.2f cables, %.1f s), fabric-sim %.3g (%d packets, %.2f events a hop, %.1f s): %.0f times\n",
    theirs, packets, hops, peer, $1 / cpu, $2, $3 / $1, cpu, $1 / cpu / theirs }'
