#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-launch.sh
# The statements of Zhang K., Zhang W., Lu K., Dong Y., Dai Y., "Survey on process management
# interfaces for exascale systems" (2020), numbered L1 to L15 by subject, and the results of
# fabric-launch. A statement that must hold and does not gives status 1: DIFFERS. Other verdicts:
# premises and goals are met or not, figures are exact, rounded, or not reached by the model; a
# garbled figure is not used. A hyphen means that the survey has no figure.
# Finds fabric-launch in PATH or in build/cmd.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' TERM

# row ID CLAIM PAPER OURS VERDICT
row() {
  [ "$5" = DIFFERS ] && echo "$1" >>"$work/differs"
  printf '%-4s %-52s %10s %10s  %s\n' "$1" "$2" "$3" "$4" "$5"
}

# is EXPRESSION: holds or DIFFERS
is() { awk "BEGIN { print ($1) ? \"holds\" : \"DIFFERS\" }"; }
# either EXPRESSION VERDICT OTHERWISE
either() { awk "BEGIN { exit !($1) }" && echo "$2" || echo "$3"; }
premise() { awk "BEGIN { print ($1) ? \"met\" : \"not met by the model\" }"; }
sum() { awk "BEGIN { x = $1; printf \"%.${2:-1}f\", x }"; }

# column NAME OPTION...: that column, a line a row; a question that was asked is not asked again
column() {
  name=$1 answer=$work/column-$(echo "$*" | tr ' /' __)
  shift
  [ -f "$answer" ] || fabric-launch --quiet --format=csv --no-header --columns="$name" "$@" >"$answer" ||
    kill $$
  tr -d '\r' <"$answer"
}

# stages IFACE OPTIONS [OPTION]: the phases of a full start, as JSON; asked once, too
stages() {
  answer=$work/stages-$(echo "$*" | tr ' /' __)
  # shellcheck disable=SC2086
  [ -f "$answer" ] || fabric-launch stages $2 ${3-} --set=iface="$1" --set=wireup=full --format=json >"$answer"
  cat "$answer"
}

# size PPN KEYS OPT: bytes of a node
size() { column bytes size --ppn="$1" --keys="$2" --set=opt="$3"; }

# phases WIREUP IFACE: how many a start has
phases() {
  fabric-launch stages --nodes=64 --ppn=8 --set=iface="$2" --set=wireup="$1" --format=json |
    awk -v want="\"wireup\": \"$1\", \"phase\":" 'index($0, want) { n++ } END { print n }'
}

printf '%-4s %-52s %10s %10s  %s\n' id claim paper ours verdict

# Steps and orders
start='--nodes=1000 --ppn=64 --stage-in=tree'
total() { column total_s stages $start --set=iface="$1" --set=wireup="$2"; }
full=$(total pmix full) instant=$(total pmix instant)
row L1 'dynamic data moves to predefined: no put, no exchange' fewer "$(phases instant pmix)" \
  "$(is "$(phases instant pmix) < $(phases full pmix) - 2")"
row L2 'PMI-1: the six phases, of which some are several here' 6 "$(phases full pmi1)" \
  "$(is "$(phases full pmi1) >= 6")"
row L3 'PMIx ideal: seconds saved of the start' - "$(sum "$full - $instant" 2)" \
  "$(is "$instant < $full")"
storm='--nodes=10000 --ppn=128 --set=iface=pmix --set=wireup=full'
for how in storm tree; do
  column total_s,goal_met,goal_fs_MBps stages $storm --stage-in=$how |
    sed 's/true/met/; s/false/not met by the model/' >"$work/$how"
done
goal() { cut -d , -f "$2" "$work/$1"; } # storm|tree COLUMN
row L3 'goal of 30 s: 10000 nodes, storm of libraries, s' 30 "$(sum "$(goal storm 1)")" "$(goal storm 2)"
row L3 'goal of 30 s: files over a tree, s' 30 "$(sum "$(goal tree 1)")" "$(goal tree 2)"
least=$(goal tree 3)
row L3 'goal of 30 s: least rate of the file system, MB/s' - "$least" \
  "$(either "${least:-0} > 0 && ${least:-0} < 1e5" 'below the assumed 100 GB/s' 'above the assumed 100 GB/s')"

# Premises: the exchange is the most expensive step, the barrier the second. A barrier needs a
# message of every process. Seconds of the phases on the critical path, the longest first.
lengths() {
  stages "$1" "$start" | tr -d '",:{}' |
    awk '$5 == "phase" && $13 == "critical_s" { print $14, $6 }' | sort -gr
}
place() { lengths "$1" | grep -E "${3:-.}" | awk -v want="$2" '$2 == want { print NR }'; }
wiring='endpoints|put|exchange|channels|barrier'
for iface in pmi1 pmi2 pmix; do
  row L2 "premise: exchange is first of the wiring steps ($iface)" 1 \
    "$(place $iface exchange $wiring)" "$(premise "$(place $iface exchange $wiring) == 1")"
  row L2 "premise: barrier is second of these ($iface)" 2 "$(place $iface barrier $wiring)" \
    "$(premise "$(place $iface barrier $wiring) == 2")"
done
row L2 'premise: exchange is first of all phases (pmi1)' 1 "$(place pmi1 exchange)" \
  "$(premise "$(place pmi1 exchange) == 1")"
barrier() {
  stages "$2" "--nodes=1000 --ppn=$1 --stage-in=tree" | sed -n 's/.*"phase": "barrier".*"critical_s": \([0-9.e-]*\).*/\1/p'
}
row L2 'barrier of 128 processes a node by that of 1, PMI-1' more \
  "$(sum "$(barrier 128 pmi1) / $(barrier 1 pmi1)")" "$(is "$(barrier 128 pmi1) > $(barrier 1 pmi1)")"
row L2 'barrier by PMI-1 by that of PMIx, 64 a node' more \
  "$(sum "$(barrier 64 pmi1) / $(barrier 64 pmix)" 2)" "$(is "$(barrier 64 pmi1) > $(barrier 64 pmix)")"

# Improvements, each alone, seconds saved of a start by PMIx
saved() {
  stages "${2:-pmix}" "$start" ${3:+--keys="$3"} |
    sed -n "s/.*\"improvement\": \"$1\", \"saved_s\": \([0-9.e-]*\).*/\1/p"
}
millis() { sum "1e3 * ($1)" 2; }
for improvement in manager-data predefined scopes static-ports non-blocking-get direct; do
  row L4 "$improvement: ms saved" more "$(millis "$(saved $improvement)")" "$(is "$(saved $improvement) > 0")"
done
row L4 'manager-data under PMI-1: ms saved' more "$(millis "$(saved manager-data pmi1)")" \
  "$(is "$(saved manager-data pmi1) > $(saved manager-data)")"
row L5 'predefined keys need PMI-2 or PMIx: under PMI-1, ms' 0 "$(millis "$(saved predefined pmi1)")" \
  "$(is "$(saved predefined pmi1) == 0 && $(saved predefined pmi2) > 0")"
row L14 'static ports and no other keys: no exchange, ms' more "$(millis "$(saved static-ports pmix 14:51)")" \
  "$(is "$(saved static-ports pmix 14:51) > $(saved static-ports)")"
row L5 'node-local keys do not enter a fence, B' 0 \
  $(($(column bytes size --ppn=64 --keys=14:51,9:8:4:node) - $(column bytes size --ppn=64 --keys=14:51))) \
  "$(is "$(column bytes size --ppn=64 --keys=14:51,9:8:4:node) == $(column bytes size --ppn=64 --keys=14:51)")"

# Direct exchange
modex() { column total_us modex --nodes=256 --ppn=4 --fence=ring --keys=14:300 --peers="$1"; }
sparse=$(modex random:1) dense=$(modex all)
row L4 'direct exchange, 1 peer, us: less than the fence' better "$(echo "$sparse" | head -n 1)" \
  "$(is "$(echo "$sparse" | head -n 1) < $(echo "$sparse" | tail -n 1)")"
row L4 'direct exchange, all peers, us: more than the fence' worse "$(echo "$dense" | head -n 1)" \
  "$(is "$(echo "$dense" | head -n 1) > $(echo "$dense" | tail -n 1)")"
row L5 'PMI-1: one request at a time; PMI-2 starts sooner, ms' more \
  "$(millis "$(total pmi1 full) - $(total pmi2 full)")" \
  "$(is "$(total pmi2 full) < $(total pmi1 full)")"

hex=$(fabric-launch stages --nodes=2 --set=iface=pmi1 --set=wireup=full --format=json |
  sed -n 's/.*"hex_factor", "value": \([0-9.]*\).*"origin": "\([a-z]*\)".*/\1 \2/p')
row L5 'values of PMI-1, PMI-2 are strings; characters a byte' - "$hex" \
  "$(case $hex in *assumed) echo 'holds: strings; the factor is assumed' ;; *) echo DIFFERS ;; esac)"

# The store of a node
memory=$(column memory_bytes,memory_each_bytes modex --nodes=64 --ppn=32 | tail -n 1)
row L6 'memory a node: one copy for all, by PPN' 32 "$(sum "${memory#*,} / ${memory%,*}" 0)" \
  "$(is "int(${memory#*,} / ${memory%,*} * 100 + 0.5) == 3200")"
factor() {
  fabric-launch store --ppn=168 --format=json | sed -n "s/^  \"factor_$1\": \([0-9.]*\),.*/\1/p"
}
row L7 'Get at 168 PPN: rwlock by 2N locks and a later shift' 66 "$(sum "$(factor rwlock)")" \
  "$(is "$(factor rwlock) > 33 && $(factor rwlock) < 132")"
row L7 'the same, N locks (static algorithm) by these' - "$(sum "$(factor n)")" \
  "$(is "$(factor n) > 1 && $(factor n) < $(factor rwlock)")"
wait_of() { column lock,wait_us store --ppn="$1" | tr -d '"' | sed -n "s/^$2,//p" | tail -n 1; }
row L7 'a writer among 168 readers, N locks, us' - "$(sum "$(wait_of 168 n)")" \
  "$(is "$(wait_of 168 n) > 10 * $(wait_of 1 n)")"
row L7 'signal locks: the same with 2N, us' less "$(sum "$(wait_of 168 2n)")" \
  "$(is "$(wait_of 168 2n) < $(wait_of 168 n)")"
row L7 'POSIX rwlock: a writer starves, us for 16 and 32' grows \
  "$(sum "$(wait_of 32 rwlock) / $(wait_of 16 rwlock)" 0)" \
  "$(is "$(wait_of 32 rwlock) > 1000 * $(wait_of 16 rwlock)")"
recorded() {
  fabric-launch store --format=json |
    sed -n "s/.*\"lock\": \"$1\", \"readers\": $2, \"wait_s\": \([0-9a-z.-]*\).*/\1/p"
}
rw='rwlock, readers first'
row L7 'recorded: rwlock, 4 readers, s; 8 readers' starves "$(recorded "$rw" 4) $(recorded "$rw" 8)" \
  "$([ "$(recorded "$rw" 8)" = null ] && echo holds || echo DIFFERS)"
row L7 'recorded: 2N with 16 readers, s' - "$(recorded 2n 16)" \
  "$(is "$(recorded 2n 16) < $(recorded "$rw" 4)")"
row L7 'recorded: mutex and flag with 32 readers, s' - "$(recorded mutex-flag 32)" \
  "$(is "$(recorded mutex-flag 32) < $(recorded 2n 16)")"

# Sizes
address=$(sum "100 * (1 - $(size 1000 14:21 all) / $(size 1000 14:51 procid,keyindex,leb128))")
row L8 'address of UCX 51 -> 21 B, percent less' 60 "$(sum '100 * (51 - 21) / 51')" \
  "$(either '100 * (51 - 21) / 51 < 60' 'rounded up' exact)"
row L8 '... of the contribution of 1000 processes, percent' - "$address" "$(is "$address > 0 && $address < 58.8")"
rank=$(($(size 1 14:51 none) - $(size 1 14:51 procid)))
row L9 'process id to 4 B: namespace and its length go, B' '>= 21' "$rank" "$(is "$rank >= 21")"
s=14 n=64
row L10 'index: s(N-1) - 4 less for s = 14, N = 64, B' 878 $((n * (s + 4) - (s + 4) - 4 * n)) \
  "$(is "$n * ($s + 4) - ($s + 4) - 4 * $n == $s * ($n - 1) - 4")"
library=$(($(size 64 14:51 none) - $(size 64 14:51 keyindex)))
row L10 'the library: its own counts and the NUL as well, B' - $library \
  "$(either "$library == $s * ($n - 1) - 4" exact 'not exact: other counts')"
row L11 'uint64 in [21;256] B' - - 'garbled: not used'
row L11 '2^0 to 2^14 B, printed as "20 to 214 bytes"' - - 'garbled: lost superscripts'
shorter() { sum "$(size "$1" "$2" none) / $(size "$1" "$2" all)"; }
row L11 'L8 to L11 together, one address, 64 PPN: factor' - "$(shorter 64 14:51)" \
  "$(is "$(shorter 64 14:51) > 1")"
for keys in 9:8:8 9:1:8 60:1:8; do
  row L11 "the same, keys $keys, 128 PPN (source: up to 8.6)" 8.6 "$(shorter 128 $keys)" \
    "$(either "$(shorter 128 $keys) >= 8.6" 'reached: depends on the keys' 'not by these keys')"
done
row L11b 'libpmix 4.2.2, 4 processes, one address, B' - "$(size 4 14:51 procid,keyindex,leb128)" \
  "$(is "$(size 4 14:51 procid,keyindex,leb128) == 264")"

# Fences
fence() { column "$1" fence "$2" --bytes="$3" --fence="$4" --set=order="${5:-fabric}" --algorithm="${6:-minhop}" --nodes="${7:-108}"; }
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
  "$(either "$bruck < $ring" holds 'refuted: with contention')"

# Failures
parts() { column placement,failures,mpd_parts faults --nodes=64 --set=failures=2 | sed -n "s/^$1,2,//p"; }
row L13 'MPD: two failures that are not neighbours, parts' 2 "$(parts far)" "$(is "$(parts far) == 2")"
row L13 'MPD: two neighbours, parts' 1 "$(parts near)" "$(is "$(parts near) == 1")"
row L13 'ring that repairs itself: 3 of 32, any placement, kept' - \
  "$(column within faults --nodes=32 --set=failures=3 --set=exhaustive | tail -n 1)" \
  "$(column within faults --nodes=32 --set=failures=3 --set=exhaustive | tail -n 1 | sed 's/true/holds/; s/false/DIFFERS/')"
risk() {
  fabric-launch faults --nodes=1000 --set=failures=1 --set=timeout_s="$1" --format=json |
    sed -n 's/^  "false_suspicion": \([0-9.e-]*\),.*/\1/p'
}
row L13 'false suspicion at each heartbeat, timeout 1.01 periods' risk "$(risk 1.01)" \
  "$(is "$(risk 1.01) > 0.1")"
row L13 'the same, 3.01 periods: speed costs certainty' less "$(risk 3.01)" \
  "$(is "$(risk 3.01) < $(risk 2.01) && $(risk 2.01) < $(risk 1.01)")"
# Mechanisms side by side, in place of tables 1 to 3
mechanism() {
  column topic,mechanism,"$1" mechanisms --nodes="$4" --ppn=64 --stage-in=tree | tr -d '"' |
    sed -n "s/^$2,$3,//p"
}
for manager in mpd hydra orte slurm; do
  row L13 "$manager: seconds of a start on 4000 nodes by 1000" - \
    "$(sum "$(mechanism seconds manager $manager 4000) / $(mechanism seconds manager $manager 1000)" 2)" \
    "$(mechanism risk manager $manager 1000)"
done
row L13 'MPD and Hydra do not scale, as Slurm does' worse \
  "$(sum "$(mechanism seconds manager mpd 4000) / $(mechanism seconds manager slurm 4000)")" \
  "$(is "$(mechanism seconds manager mpd 4000) > 2 * $(mechanism seconds manager slurm 4000) && \
    $(mechanism seconds manager hydra 4000) > $(mechanism seconds manager slurm 4000)")"
mechanisms=$(column mechanism mechanisms --nodes=1000 --ppn=64 | wc -l | tr -d ' ')
row T123 'mechanisms with seconds, bytes, memory, risk: rows' lost "$mechanisms" \
  "$(is "$mechanisms >= 30")"
staged=$(fabric-launch stages --nodes=1000 --ppn=64 --set=iface=pmix --set=wireup=full --format=json |
  sed -n 's/.*"stage-in-tree", "saved_s": \([0-9.]*\).*/\1/p')
row L14 'pre-staging: seconds saved, storm to tree' more "$(sum "$staged")" "$(is "$staged > 0")"
row L15 'control at run time, planned only' - - 'not modelled'
row - 'PRETE is PRRTE' - - misspelt

[ ! -s "$work/differs" ] || { echo "DIFFERS: $(tr '\n' ' ' <"$work/differs")"; exit 1; }
