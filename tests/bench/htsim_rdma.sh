#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: htsim_rdma.sh COMMANDS HTSIM
# fabric-rdma beside csg-htsim in the same minutes: HTSIM is htsim_eqds, htsim_ndp is in its folder, and the library
# and headers for htsim_dctcp.cpp above it. A permutation, an incast of 64 and an all to all of 16 rounds on 1024
# hosts, a fat tree of three levels, 100 Gb/s, 1 us a cable, the same connection matrix: queues of 35 packets that
# trim and pulls, then queues that drop and mark above 15 packets, and DCTCP on the paths of d-mod-k. Slowest flows,
# and packet-hops/s: packets of data by cables that they cross, by CPU seconds, of three runs the least. Fails when
# a slowest flow differs by more than 10 %.
# Exit status 77 when HTSIM is no program.
#
# What differs. Their switches store and forward, five of them 1.7 us, of which the permutation is short; a full queue
# there trims its oldest packet half of the time, here the one that arrives; a flow of theirs draws 64 paths; their
# receivers pull from flows in rotation, here in the order of arrivals. One path a flow is not compared: htsim_roce and
# htsim_hpcc, which reads queues from packets, draw it (297 and 330 us for the permutation), tables have it: 228 us by
# d-mod-k, 549 us by minhop.
# DCTCP has no program there: htsim_dctcp.cpp runs its flows with an end, without slow start, with a first window of 10
# packets (their default; 1 with queues of 200). Their average of marks begins at 0, here at 1, so that the first marks
# cut half of a window; then they cut each round, here rounds with marks; theirs mark a packet that leaves, here one
# that arrives. Of eight permutations the ratio is 0.96 to 1.06. The incast with queues of 35 is three timeouts in both;
# they look at their timers every 10 ms. Where more is lost they lose again in the slow start that follows a timeout,
# with twice the timer: with queues of 100 two timeouts there and one here, of 256 senders 15.8 s there and 1.5 s here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) PATH=$(realpath "$1"):$PATH htsim=$(realpath -m "${2:-none}")
[ -x "$htsim" ] || { echo "htsim rdma: skipped, -Dhtsim names no program: '$htsim'"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
TIMEFORMAT='%U %S' failed=0
fabric=gen:fattree:radix=16,levels=3

# one cycle through all hosts; 64 to the first; 16 rounds, in each all to the one as many farther on
awk 'BEGIN {
  srand(1)
  n = 1024
  for (i = 0; i < n; i++) to[i] = i
  for (i = n - 1; i > 0; i--) { j = int(rand() * i); x = to[i]; to[i] = to[j]; to[j] = x }
  print "Nodes 1024\nConnections 1024" >"permutation"
  for (i = 0; i < n; i++) print i "->" to[i] " id " i + 1 " start 0 size 500000" >"permutation"
  print "Nodes 1024\nConnections 64" >"incast"
  for (i = 0; i < 64; i++) print 1 + int(i * (n - 1) / 64) "->0 id " i + 1 " start 0 size 500000" >"incast"
  print "Nodes 1024\nConnections 16384" >"alltoall"
  for (r = 0; r < 16; r++) for (e = 0; e < n; e++)
    print e "->" (e + 1 + int(r * (n - 1) / 16)) % n " id " ++id " start 0 size 65536" >"alltoall"
}'

# compare NAME MATRIX MTU PROGRAM... -- OPTION...: times of flows, and CPU seconds, of the program and of fabric-rdma
compare() {
  name=$1 matrix=$2 mtu=$3 program=()
  shift 3
  for (( ; $# > 0; )); do
    [ "$1" != -- ] || { shift && break; }
    program+=("$1")
    shift
  done
  : >cpu
  : >here
  for _ in 1 2 3; do
    { time "${program[@]}" >out 2>&1; } 2>>cpu || { tail -n 5 out; exit 1; }
    fabric-rdma run $fabric --pattern=file:"$matrix" --mtu="$mtu" --set=cable-rate=100G --set=switch-delay=0 \
      --set=cable-delay=1us "$@" --runs=1 --threads=1 --quiet --format=csv --no-header \
      --columns=completion_us.max,seconds.simulate,packet_hops,packets_sent,control_packets >>here || failed=1
  done
  flows=$(awk '/^Connections/ { print $2 }' "$matrix")
  [ "$(grep -c ' finished at ' out)" = "$flows" ] || { echo "$name $matrix: not all flows finished"; exit 1; }
  slowest=$(sed -n 's/.* finished at \([0-9.]*\) .*/\1/p' out | sort -n | tail -n 1)
  tr -d '\r' <here | sort -t, -g -k 2 | head -n 1 | awk -F, -v what="$name, $matrix of $flows flows" \
    -v cpu="$(awk '{ print $1 + $2 }' cpu | sort -g | head -n 1)" -v slowest="$slowest" '{
      hops = $3 / ($4 + $5)
      printf "htsim rdma: %s: slowest %.4g us, here %.4g us: %+.1f %%; %.3g s of CPU, here %.3g s (%.3g data packet-hops/s): %.0f times\n",
        what, slowest, $1, 100 * ($1 / slowest - 1), cpu, $2, $4 * hops / $2, cpu / $2
      exit !($1 < 1.1 * slowest && slowest < 1.1 * $1) }' || failed=1
}
folder=$(dirname "$htsim")
pulls=(--set=header=64 --set=control=64 --set=no-handshake --route=spray --drop=trim --buffer=143360B --scheme=rsw-vec
  --rate-control=pull --set=cap=50 --rto=400us)
for matrix in permutation incast alltoall; do
  end=$([ "$matrix" = incast ] && echo 5000 || echo 150)
  same=(-tm "$matrix" -nodes 1024 -linkspeed 100000 -mtu 4096 -end "$end" -q 35 -o log)
  compare htsim_ndp "$matrix" 4096 "$folder/htsim_ndp" "${same[@]}" -cwnd 50 -strat rand -paths 64 -- "${pulls[@]}"
  [ "$matrix" = alltoall ] || compare htsim_eqds "$matrix" 4032 "$htsim" "${same[@]}" -- "${pulls[@]}"
done

# QUEUE and WINDOW in packets: their TCP begins with 10
c++ -O2 -std=c++11 -I"$folder/.." -I"$folder" "$here/htsim_dctcp.cpp" \
  "$folder"/{fat_tree_topology,fat_tree_switch,connection_matrix,firstfit}.o "$folder/../libhtsim.a" -o htsim_dctcp
dctcp() {
  compare "DCTCP, queues of $2, first window $3" "$1" 4096 ./htsim_dctcp "$1" "$2" "$3" -- --set=header=0 --set=control=40 \
    --route=table --algorithm=d-mod-k --drop=tail --buffer=$((4096 * $2))B --set=ecn=61440B --scheme=sack-ro \
    --rate-control=dctcp --set=cap="$3" --rto=250ms
}
dctcp permutation 35 10
dctcp incast 35 10
dctcp incast 200 1
dctcp alltoall 35 10
exit $failed
