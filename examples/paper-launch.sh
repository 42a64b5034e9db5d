#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-launch.sh
# The statements of Zhang K., Zhang W., Lu K., Dong Y., Dai Y., "Survey on process management
# interfaces for exascale systems" (2020), L1 to L15, compared with the results of fabric-launch. A
# statement that must hold and does not gives status 1. Garbled and rounded figures are marked.
# Finds fabric-launch in PATH or in build/cmd.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# row ID CLAIM PAPER OURS VERDICT
row() {
  [ "$5" = DIFFERS ] && echo "$1" >>"$work/differs"
  printf '%-4s %-52s %10s %10s  %s\n' "$1" "$2" "$3" "$4" "$5"
}

# is EXPRESSION: holds or DIFFERS
is() { awk "BEGIN { print ($1) ? \"holds\" : \"DIFFERS\" }"; }
sum() { awk "BEGIN { x = $1; printf \"%.${2:-1}f\", x }"; }

# column NAME OPTION...: that column, a line a row
column() {
  name=$1
  shift
  fabric-launch --quiet --format=csv --no-header --columns="$name" "$@" | tr -d '\r'
}

# size PPN KEYS OPT: bytes of a node
size() { column bytes size --ppn="$1" --keys="$2" --set=opt="$3"; }

# phases WIREUP IFACE: how many a start has
phases() {
  fabric-launch stages --nodes=64 --ppn=8 --iface="$2" --wireup="$1" --format=json |
    awk -v want="\"wireup\": \"$1\", \"phase\":" 'index($0, want) { n++ } END { print n }'
}

printf '%-4s %-52s %10s %10s  %s\n' id claim paper ours verdict

# Steps and orders
start='--nodes=1000 --ppn=64 --stage-in=tree'
total() { column total_s stages $start --iface="$1" --wireup="$2"; }
full=$(total pmix full) instant=$(total pmix instant)
row L1 'dynamic data moves to predefined: no put, no exchange' fewer "$(phases instant pmix)" \
  "$(is "$(phases instant pmix) < $(phases full pmix) - 2")"
row L2 'PMI-1: the six phases, of which four are told apart' 6 "$(phases full pmi1)" \
  "$(is "$(phases full pmi1) == 10")"
row L3 'PMIx ideal: seconds saved of the start' - "$(sum "$full - $instant" 2)" \
  "$(is "$instant < $full")"
storm='--nodes=10000 --ppn=128 --iface=pmix --wireup=full'
row L3 '30 s: a goal, no result; storm of libraries, met' goal \
  "$(column goal_met stages $storm --stage-in=storm)" 'a goal'
row L3 '30 s: files over a tree, met' goal "$(column goal_met stages $storm --stage-in=tree)" 'a goal'
row L3 '30 s: least rate of the file system then, MB/s' - \
  "$(column goal_fs_MBps stages $storm --stage-in=tree)" 'a goal'

# Direct exchange
modex() { column total_us modex --nodes=256 --ppn=4 --fence=ring --keys=14:300 --peers="$1"; }
sparse=$(modex random:1) dense=$(modex all)
row L4 'direct exchange, 1 peer, us: less than the fence' better "$(echo "$sparse" | head -n 1)" \
  "$(is "$(echo "$sparse" | head -n 1) < $(echo "$sparse" | tail -n 1)")"
row L4 'direct exchange, all peers, us: more than the fence' worse "$(echo "$dense" | head -n 1)" \
  "$(is "$(echo "$dense" | head -n 1) > $(echo "$dense" | tail -n 1)")"
row L5 'PMI-1: one request at a time; start by PMI-2, s' less "$(total pmi2 full)" \
  "$(is "$(total pmi2 full) < $(total pmi1 full)")"

# The store of a node
memory=$(column memory_bytes,memory_each_bytes modex --nodes=64 --ppn=32 | tail -n 1)
row L6 'memory a node: one copy for all, by PPN' 32 "$(sum "${memory#*,} / ${memory%,*}" 0)" \
  "$(is "int(${memory#*,} / ${memory%,*} * 100 + 0.5) == 3200")"
factor=$(fabric-launch store --ppn=168 --format=json | sed -n 's/.*together a factor of \([0-9]*\).*/\1/p')
row L7 'Get at 168 PPN: 2N locks AND the later thread shift' 66 "$factor" 'model only, two changes'

# Sizes
row L8 'address of UCX 51 -> 21 B, percent less' 60 "$(sum '100 * (51 - 21) / 51')" 'rounds 58.8 up'
rank=$(($(size 1 14:51 none) - $(size 1 14:51 procid)))
row L9 'process id to 4 B: namespace and its length go, B' '>= 21' "$rank" "$(is "$rank >= 21")"
s=14 n=64
row L10 'index: s(N-1) - 4 less for s = 14, N = 64, B' 878 $((n * (s + 4) - (s + 4) - 4 * n)) \
  "$(is "$n * ($s + 4) - ($s + 4) - 4 * $n == $s * ($n - 1) - 4")"
row L10 'the library: its own counts and the NUL as well, B' - \
  $(($(size 64 14:51 none) - $(size 64 14:51 keyindex))) 'by its source'
row L11 'uint64 in [21;256] B' - - 'unusable: garbled'
row L11 '2^0 to 2^14 B, printed as "20 to 214 bytes"' - - 'unusable: lost superscripts'
row L11 'L8 to L11 together, one address, 64 PPN: factor' - \
  "$(sum "$(size 64 14:51 none) / $(size 64 14:51 all)")" 'your keys: size'
row L11 'the same, 8 keys of 8 B, 32 PPN (source: up to 8.6)' 8.6 \
  "$(sum "$(size 32 9:8:8 none) / $(size 32 9:8:8 all)")" 'depends on the keys'
row L11b 'libpmix 4.2.2, 4 processes, one address, B' - "$(size 4 14:51 procid,keyindex,leb128)" \
  "$(is "$(size 4 14:51 procid,keyindex,leb128) == 264")"

# Fences
fence() { column "$1" fence "$2" --bytes="$3" --fence="$4" --order="${5:-fabric}" --algorithm="${6:-minhop}" --nodes="${7:-108}"; }
flat=gen:fattree:radix=108,levels=1
for bytes in 0 64 16KiB; do
  bruck=$(fence simulated_us $flat $bytes bruck) ring=$(fence simulated_us $flat $bytes ring)
  tree=$(fence simulated_us $flat $bytes tree:16)
  row L12 "Bruck below ring and tree, 108 nodes, $bytes, us" least "$(sum "$bruck")" \
    "$(is "$bruck < $ring && ($bruck < $tree)")"
done
torus=gen:torus:dims=8x8x16,hosts=1
bruck=$(fence simulated_us $torus 64KiB bruck axes:1,2,0 dor-up 1024)
ring=$(fence simulated_us $torus 64KiB ring axes:1,2,0 dor-up 1024)
row L12 'the same on a torus 8x8x16, 64 KiB: Bruck by ring' '< 1' "$(sum "$bruck / $ring" 2)" \
  'not with contention'

# Failures
parts() { column placement,failures,mpd_parts faults --nodes=64 --failures=2 | sed -n "s/^$1,2,//p"; }
row L13 'MPD: two failures that are not neighbours, parts' 2 "$(parts far)" "$(is "$(parts far) == 2")"
row L13 'MPD: two neighbours, parts' 1 "$(parts near)" "$(is "$(parts near) == 1")"
row L13 'ring that mends itself: 3 of 32, any placement, kept' - \
  "$(column within faults --nodes=32 --failures=3 --set=exhaustive | tail -n 1)" \
  "$(column within faults --nodes=32 --failures=3 --set=exhaustive | tail -n 1 | sed 's/true/holds/; s/false/DIFFERS/')"
row L14 'pre-staging: seconds saved, storm to tree' - "$(fabric-launch stages --nodes=1000 --ppn=64 \
  --iface=pmix --wireup=full --format=json | sed -n 's/.*"stage-in-tree", "saved_s": \([0-9.]*\).*/\1/p')" model
row L15 'control at run time, planned only' - - 'not modelled'
row - 'tables 1 to 3 are images; PRETE is PRRTE' - - 'lost, misspelt'

[ ! -s "$work/differs" ] || { echo "DIFFERS: $(tr '\n' ' ' <"$work/differs")"; exit 1; }
