#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: htsim_rdma.sh COMMANDS HTSIM
# fabric-rdma beside htsim_eqds of csg-htsim (HTSIM) in the same minutes: a permutation of 1024 hosts
# on a fat tree of three levels, 100 Gb/s, 1 us a cable, packets of 4096 bytes, 500 kB a flow, both
# from the same connection matrix, both spraying packets over all paths. Slowest flows, and
# packet-hops/s: packets of data by cables that they cross, by CPU seconds.
# Exit status 77 when HTSIM is no program.
set -eu
# shellcheck source=tests/bench/htsim_run.bash
. "$(cd "$(dirname "$0")" && pwd)/htsim_run.bash"
packets='' peer='' slowest=
PATH=$1:$PATH htsim=$2
[ -x "$htsim" ] || { echo "htsim rdma: skipped, -Dhtsim names no program: '$htsim'"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

htsim_run 'htsim rdma' "$htsim"
ours() { # SCHEME OPTION...
  scheme=$1
  shift
  fabric-rdma run gen:fattree:radix=16,levels=3 --pattern=file:matrix --mtu=4096 --set=cable-rate=100G --set=switch-delay=0 \
    --set=cable-delay=1us --route=spray --set=no-handshake --scheme="$scheme" "$@" --threads=1 --quiet --format=csv --no-header \
    --columns=completion_us.max,packets_sent,control_packets,packet_hops,events,seconds.simulate,rounds |
    tr -d '\r' | awk -F, -v what="$scheme${*:+ $*}" -v packets="$packets" -v peer="$peer" -v slowest="$slowest" '{
      hops = $4 / ($2 + $3); data = $2 * hops / $6; theirs = packets * hops / peer
      printf "htsim rdma: slowest of 1024 flows %.4g us by %s (%.3g times the packets), htsim_eqds %.4g us; data packet-hops/s %.3g (%.3g events/s), htsim_eqds %.3g: %.0f times\n",
        $1, what, $7, slowest, data, $5 / $6, theirs, data / theirs }'
}
ours oracle
ours irn
ours sack-ro
ours sack-ro --set=reorder=10us
