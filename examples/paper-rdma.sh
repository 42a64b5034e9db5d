#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-rdma.sh [RUNS [SEED]]
# The claims of Wang S., Xu W., Wu D., Pang Z., Xia J., "A fast RDMA offload method for unreliable
# interconnection networks" (2015), each with its verdict, the numbers that decide it and the command
# that shows them. The paper does not state its MTU, rates, timeout, torus, delays and the window of
# SSW; those used are in the commands. RUNS (default 200) scales the runs of each point: with few
# (below 60) some verdicts are "undecided", and all to all and adaptive paths by themselves are simulated with
# shorter transfers or on a smaller torus. Verdicts are the same with another SEED (default 1).
# Finds fabric-rdma in PATH or in build/cmd.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
runs=${1:-200} seed=${2:+ --seed=$2}
torus=gen:torus:dims=4x4x4,hosts=1
large_torus=gen:torus:dims=8x8x8,hosts=1 all_size=32KiB
[ "$runs" -ge 60 ] || large_torus=gen:torus:dims=4x4x8,hosts=1 all_size=8KiB
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' TERM

# row CLAIM VERDICT NUMBERS COMMAND
row() {
  case $4 in *' run '*) with=$seed ;; *) with='' ;; esac
  printf '%s\n    %s\n    %s\n    $ %s%s\n' "$1" "$2" "$3" "$4" "$with"
}

# one COLUMN OPTION...: that column, a line for each scheme; an error ends the script
one() {
  column=$1
  shift
  # shellcheck disable=SC2086
  fabric-rdma run "$@" $seed --quiet --format=csv --no-header --columns="$column" >"$work/one" ||
    kill $$
  tr -d '\r' <"$work/one"
}

# values OPTION...: a line "SCHEME,MEAN,DIFFERENCE,CI95,ROUNDS" for each scheme: mean completion time
# (us), its mean difference to the oracle in the same runs with half of the 95 % interval, and
# packets sent / packets there are
values() {
  one scheme,completion_us.mean,behind_oracle_us,behind_oracle_ci95,rounds "$@" >"$work/values"
}

# of SCHEME COLUMN: one of these values
of() { awk -F, -v s="$1" -v c="$2" '$1 == s { print $c }' "$work/values"; }

# compare A B: is scheme A faster than B? yes or no where the difference is beyond 1.5 times its 95 %
# interval (that of independent differences to the oracle; none where nothing is random), same where
# it is below 5 % with certainty, else unknown
compare() {
  awk -F, -v a="$1" -v b="$2" '$1 == a { x = $3; p = $4; us = $2 } $1 == b { y = $3; q = $4 }
    END { d = y - x; half = 1.5 * sqrt(p ^ 2 + q ^ 2)
          print (d > half ? "yes" : -d > half ? "no" : half + (d < 0 ? -d : d) < 0.05 * us ? "same" : "unknown") }' "$work/values"
}

# says A B YES NO: one of these verdicts
says() {
  case $(compare "$1" "$2") in
    yes) echo "$3" ;;
    no) echo "$4" ;;
    same) echo 'refuted: as fast' ;;
    *) echo 'undecided: more RUNS' ;;
  esac
}

# order: is rsw faster than ssw and ssw faster than rc?
order() {
  case $(compare rsw ssw),$(compare ssw rc) in
    yes,yes) echo reproduced ;;
    no,* | *,no) echo refuted ;;
    *same*) echo 'refuted: as fast' ;;
    *) echo 'undecided: more RUNS' ;;
  esac
}

# claim_order CLAIM OPTION...: does that order come out for 256 K?
claim_order() {
  claim=$1
  shift
  values "$@"
  row "$claim" "$(order)" \
    "rsw $(of rsw 2) us, ssw (32 packets in flight) $(of ssw 2) us, rc $(of rc 2) us" "fabric-rdma run $*"
}

sum() { awk "BEGIN { printf \"%.3g\", $1 }"; }
if_true() { awk "BEGIN { exit !($1) }" && echo "$2" || echo "$3"; }

echo '-- the window'
trace='trace --arrivals=2,1,0,4,3 --set=as-printed'
# shellcheck disable=SC2086
wrong=$(fabric-rdma $trace --format=json | grep -c '"right": false' || true)
row 'The window slides by WBASE = WBASE + LOC(WVEC)' \
  "$(if_true "$wrong > 0" 'refuted: off by one against its own example' reproduced)" \
  "$wrong of 5 states of the paper's example are wrong by that rule" "fabric-rdma $trace"
cost='cost --memory=256KiB --window=32,128'
# shellcheck disable=SC2086
fabric-rdma $cost --format=json | tr -d '\n' | sed 's/[{}]/\n/g' >"$work/cost"
# bits SCHEME WINDOW FIELD: of the table of contexts; field SECTION NAME: another number
bits() { sed -n "s/.*\"scheme\": \"$1\", *\"window\": $2,.*\"$3\": \([0-9]*\).*/\1/p" "$work/cost" | head -n 1; }
below() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$work/cost" | head -n 1; }
row 'A context of RSW is smaller than one of RC' \
  "$(if_true "$(below with_identity) >= 32 && $(below both_sides) >= 32" reproduced 'refuted for any useful window')" \
  "W = 32: $(bits rsw 32 receiver_bits), 128: $(bits rsw 128 receiver_bits), rc $(bits rc null receiver_bits) bits at the receiver: smaller below W = $(below with_identity); with both sides $(bits rsw 32 bits), $(bits rsw 128 bits), $(bits rc null bits): below $(below both_sides); by the fields that the paper lists below $(below listed)" \
  "fabric-rdma $cost"
row '256 KiB hold more contexts of RSW than of RC' \
  "$(if_true "$(bits rsw 128 receiver_contexts) > $(bits rc null receiver_contexts)" reproduced refuted)" \
  "of receivers, with a base address: rsw (W = 128) $(bits rsw 128 receiver_contexts), rc $(bits rc null receiver_contexts); both sides: rsw $(bits rsw 128 contexts), rc $(bits rc null contexts), ssw $(bits ssw 64 contexts), (ours) rsw-vec $(bits rsw-vec 128 contexts)" \
  "fabric-rdma $cost"
large=$(sed -n 's/.*"nodes": 65536, *"ssw_bytes": \([0-9]*\), *"rsw_bytes": \([0-9]*\).*/\1 \2/p' "$work/cost")
row 'The buffers of SSW grow with the system' \
  "$(if_true "${large% *} > 100 * ${large#* }" reproduced refuted)" \
  "65536 nodes x 128 KiB = $(awk "BEGIN { printf \"%.3g\", ${large% *} / 2 ^ 30 }") GiB in each node; 4096 contexts of rsw with W = 128 take $(awk "BEGIN { printf \"%.3g\", ${large#* } / 1024 }") KiB" \
  "fabric-rdma $cost"
sed -n 's/.*"packet": "\([a-z-]*\)".*"bits": \([0-9]*\).*/\1 \2/p' "$work/cost" |
  awk '{ if (!($1 in n)) kind[++k] = $1; n[$1] += $2 }
    END { for (i = 1; i <= k; i++) print kind[i], n[kind[i]], 8 * (kind[i] == "data" ? 26 : kind[i] == "resend-vec" ? 46 : 30) }' >"$work/packets"
row 'Packets (tables 2 and 3, rebuilt field by field) fit the headers that are simulated' \
  "$(awk '{ more += $2 > $3 } END { print (NR && !more ? "reproduced" : "refuted") }' "$work/packets")" \
  "$(awk '{ printf "%s%s %s of %s bits", (NR > 1 ? ", " : ""), $1, $2, $3 }' "$work/packets")" \
  "fabric-rdma $cost"

echo
few="--route=adaptive --delay=1:U:300ns --set=sender-window"

echo '-- figure 4: without loss'
four="$torus --mtu=512 --scheme=rsw,ssw,rc --runs=4 $few"
# shellcheck disable=SC2086
values $four=8
small=$(sum "$(of ssw 2) / $(of rsw 2)")
# shellcheck disable=SC2086
values $four=128
large=$(sum "$(of ssw 2) / $(of rsw 2)")
# shellcheck disable=SC2086
trip=$(fabric-rdma run $four=128 --quiet --format=json | sed -n 's/.*"base_round_trip_us": \([0-9.]*\).*/\1/p')
below=$(if_true "$small > 1.05" 'needs a sender window below the bandwidth-delay product' refuted)
row 'Without loss SSW is the slowest' "$(if_true "$large >= 1.05" reproduced "$below")" \
  "ssw / rsw $small with 8 packets in flight, $large with 128; a round trip carries $(awk "BEGIN { printf \"%.0f\", $trip * 1000 * 100 / 8 / 512 }")" \
  "fabric-rdma run $four=8"
row 'Without loss RSW is about as fast as RC' \
  "$(if_true "$(of rsw 2) / $(of rc 2) >= 0.9 && $(of rsw 2) / $(of rc 2) <= 1.1" reproduced refuted)" \
  "rsw $(of rsw 2) us, rc $(of rc 2) us" "fabric-rdma run $four=128"

late="$torus --delay=0.1:U:2.7us --mtu=512 --scheme=rsw,rc --runs=$((runs / 4 + 1)) --window"
# shellcheck disable=SC2086
values $late=32
row '... but slower where packets overtake each other by more than the window' \
  "$(says rc rsw reproduced refuted)" \
  "W = 32: rsw $(of rsw 2) us and $(sum "$(of rsw 5)") times the packets, rc $(of rc 2) us" "fabric-rdma run $late=32"
# shellcheck disable=SC2086
every="$torus --pattern=alltoall --size=$all_size --scheme=rsw,ssw,rc --runs=1 --rto=1ms --window=4096 --set=sender-window=4096"
: >"$work/every"
for mtu in 256 512 2048; do
  # shellcheck disable=SC2086
  values $every --mtu=$mtu
  echo "$mtu $(of rsw 2) $(of ssw 2)" >>"$work/every"
done
row 'SSW is slow because its responses load the network' \
  "$(awk '$1 == 256 { small = $3 / $2 } $1 == 2048 { large = $3 / $2 } END { print (small < 1.05 ? "refuted" : large < 1.05 ? "reproduced with small packets" : "reproduced") }' "$work/every")" \
  "all to all, 4096 packets in flight: $(awk '{ printf "%s%s B rsw %s us, ssw %s us (+%.1f %%)", (NR > 1 ? "; " : ""), $1, $2, $3, 100 * ($3 / $2 - 1) }' "$work/every")" \
  "fabric-rdma run $every --mtu=256"

echo
echo '-- figure 5: loss, by size'
# shellcheck disable=SC2086
claim_order 'With loss RSW is faster than SSW, SSW than RC (N <= W)' \
  $torus --loss=2e-3 --scheme=rsw,ssw,rc --runs="$((runs * 16))" $few=32
: >"$work/sizes"
for size in 32 64 128; do
  # shellcheck disable=SC2086
  values $torus --size=${size}KiB --loss=5e-3 --scheme=rsw,ssw,rc --runs="$((runs * 16))" $few=32
  echo "$size $(of rsw 2) $(of ssw 2) $(of rc 2) $(compare rsw ssw) $(compare rsw rc)" >>"$work/sizes"
done
row '... at every size from 32 K on' \
  "$(awk '$5 == "no" || $5 == "same" || $6 == "no" || $6 == "same" { refuted++ } $5 == "unknown" || $6 == "unknown" { open++ }
    END { print (refuted ? "refuted: SSW is as fast where a transfer loses a packet or none" : open ? "undecided: more RUNS" : "reproduced") }' "$work/sizes")" \
  "5 per mille: $(awk '{ printf "%s%s KiB rsw %s, ssw %s, rc %s us", (NR > 1 ? "; " : ""), $1, $2, $3, $4 }' "$work/sizes")" \
  "fabric-rdma run $torus --size=128KiB --loss=5e-3 --scheme=rsw,ssw,rc --runs=$((runs * 16)) $few=32"
# shellcheck disable=SC2086
claim_order '... where a transfer is longer than the window' \
  $torus --mtu=512 --loss=2e-3 --scheme=rsw,ssw,rc --runs="$((runs * 16))" $few=32

echo
echo '-- figure 6: 256 K, by loss'
# shellcheck disable=SC2086
values $torus --loss=1e-3 --scheme=rsw,ssw,rc --runs="$((runs * 16))" $few=32
low="$(of rsw 2) $(of ssw 2) $(of rc 2)"
# shellcheck disable=SC2086
claim_order 'At 5 per mille RSW degrades least, RC most (N <= W)' \
  $torus --loss=5e-3 --scheme=rsw,ssw,rc --runs="$((runs * 16))" $few=32
high="$(of rsw 2) $(of ssw 2) $(of rc 2)"
row 'What RSW saves compared with RC grows with loss' \
  "$(echo "$low $high" | awk '{ print ($6 / $4 > 1.1 * $3 / $1 ? "reproduced" : "refuted") }')" \
  "by rsw: $(echo "$low $high" | awk '{ printf "ssw %.2f, rc %.2f at 1 per mille, ssw %.2f, rc %.2f at 5", $2 / $1, $3 / $1, $5 / $4, $6 / $4 }')" \
  "fabric-rdma run $torus --loss=1e-3 --scheme=rsw,ssw,rc --runs=$((runs * 16)) $few=32"
# shellcheck disable=SC2086
claim_order '... where a transfer is longer than the window' \
  $torus --mtu=512 --loss=5e-3 --scheme=rsw,rsw-vec,rsw+,ssw,rc --runs="$runs" $few=32
six="fabric-rdma run $torus --mtu=512 --loss=5e-3 --scheme=rsw,rsw-vec,rsw+,ssw,rc --runs=$runs $few=32"
row '(ours) a RESEND that carries WVEC cures that' \
  "$(if_true "$(of rsw 2) / $(of rsw-vec 2) >= 2 && $(of rsw-vec 2) < $(of ssw 2)" reproduced refuted)" \
  "rsw $(of rsw 2) us and $(sum "$(of rsw 5)") times the packets, rsw+ $(of rsw+ 2) us: $(sum "$(of rsw 2) / $(of rsw+ 2)") times as fast, rsw-vec $(of rsw-vec 2) us: $(sum "$(of rsw 2) / $(of rsw-vec 2)") times" \
  "$six"
rc_rounds=$(of rc 5)
# shellcheck disable=SC2086
same=$(one completion_us.mean $torus --mtu=512 --loss=5e-3 --scheme=rsw --runs="$runs" $few=32 --set=multi=same)
row 'Consecutive timeouts lead to a RESEND of all: a storm is shorter than by timeouts of the same packet' \
  "$(if_true "$(of rsw 2) < 0.8 * $same" reproduced refuted)" \
  "512 B, 5 per mille: consecutive $(of rsw 2) us, same $same us" "$six --set=multi=same"
row '256 K is 4096 packets' \
  "$(if_true '(1 - 5e-3) ^ -4096 <= 1000' reproduced 'refuted: it cannot be the experiment')" \
  "RC would send it (1-p)^-N = $(awk 'BEGIN { printf "%.2g", (1 - 5e-3) ^ -4096 }') times; with 512 packets 13.02 times, simulated $rc_rounds" \
  "$six"
large="$torus --loss=5e-3 --scheme=rsw,ssw --runs=$((runs * 8)) $few=128"
# shellcheck disable=SC2086
values $large
row '... whatever the window of SSW is' \
  "$(says rsw ssw reproduced 'refuted: with 128 packets in flight SSW repairs all of them in one timeout')" \
  "rsw $(of rsw 2) us, ssw $(of ssw 2) us" "fabric-rdma run $large"

echo
echo '-- damaged packets'
hurt="$torus --scheme=rsw,rsw-vec,ssw,rc --runs=$runs"
# shellcheck disable=SC2086
values $hurt --loss=5e-3
lost="rsw $(of rsw 2), ssw $(of ssw 2), rc $(of rc 2) us" ssw=$(of ssw 2) rc=$(of rc 2)
# shellcheck disable=SC2086
values $hurt --corrupt=5e-3
row 'A damaged packet makes a scheme that counts packets send the whole transfer again' \
  "$(if_true "$(of rc 5) > 1.2 && $(of rc 5) > 1.1 * $(of rsw 5)" reproduced refuted)" \
  "packets sent / packets there are: rsw $(sum "$(of rsw 5)"), ssw $(sum "$(of ssw 5)"), rc $(sum "$(of rc 5)")" "fabric-rdma run $hurt --corrupt=5e-3"
row 'A damaged packet is asked for at once, a lost one after a timeout' \
  "$(if_true "$(of ssw 2) < 0.95 * $ssw && $(of rc 2) < 0.95 * $rc" reproduced refuted)" \
  "5 per mille damaged: rsw $(of rsw 2), ssw $(of ssw 2), rc $(of rc 2) us; lost: $lost" "fabric-rdma run $hurt --corrupt=5e-3"

missed="$torus --scheme=rsw,ssw,rc --corrupt=5e-3 --runs=$runs --set=check-bits"
: >"$work/missed"
for bits in 0 32; do
  # shellcheck disable=SC2086
  one wrong $missed=$bits | awk -v b=$bits '{ sum += $1 } END { print b, sum }' >>"$work/missed"
done
row 'Errors that link checks miss need a check of the transport' \
  "$(awk '{ n[$1] = $2 } END { print (n[0] && !n[32] ? "reproduced" : "refuted") }' "$work/missed")" \
  "5 per mille damaged, $((3 * runs)) transfers: $(awk '{ printf "%s%s wrong with a check of %s bits", (NR > 1 ? ", " : ""), $2, $1 }' "$work/missed")" \
  "fabric-rdma run $missed=0"

echo
echo '-- equal hardware'
equal="$torus --pattern=alltoall --size=16KiB --memory=1KiB --scheme=rsw,rsw-vec,ssw,rc --runs=1"
# shellcheck disable=SC2086
one scheme,peak_contexts,completion_us.max $equal >"$work/values"
row 'With the same hardware RSW makes more transfers at once' \
  "$(if_true "$(of rsw 2) > $(of rc 2) && $(of rsw 2) > $(of ssw 2)" reproduced "$(if_true "$(of rsw 2) > $(of ssw 2)" 'reproduced against SSW, refuted against RC' refuted)")" \
  "contexts of both sides in 1 KiB: rsw $(of rsw 2), rc $(of rc 2), ssw $(of ssw 2) transfers at once at a node; all to all done after $(of rsw 3), $(of rc 3), $(of ssw 3) us" "fabric-rdma run $equal"

echo
echo '-- links that break'
all_of="--scheme=rsw,rsw-vec,rsw+,ssw,rc"
broken="$all_of --runs=1 --link-down"
# slow_links CLAIM OPTION...: is a scheme that counts at the receiver slower than RSW?
slow_links() {
  claim=$1
  shift
  values "$@"
  row "$claim" \
    "$(says rsw rc reproduced 'refuted: RSW waits for a timeout for each few packets')" \
    "rsw $(of rsw 2), rc $(of rc 2), ssw $(of ssw 2) us; (ours) rsw-vec $(of rsw-vec 2) us" "fabric-rdma run $*"
}
# shellcheck disable=SC2086
slow_links 'Where links fail a scheme that counts packets at the receiver is very slow' $torus $broken=10us-11us
# shellcheck disable=SC2086
slow_links '... of a loaded network' $large_torus --pattern=permutation $broken=10us-11us
# shellcheck disable=SC2086
slow_links '... by losses in bursts' $torus --loss=5e-3 --burst=16 --scheme=rsw,rsw-vec,ssw,rc --runs="$((runs * 32))"
: >"$work/outages"
for us in 5 20 100 400; do
  broken_for="$torus --scheme=rsw --runs=1 --link-down=10us-$((10 + us))us --set=multi"
  # shellcheck disable=SC2086
  echo "$us $(one completion_us.mean $broken_for=consecutive) $(one completion_us.mean $broken_for=same)" >>"$work/outages"
done
row 'The multi-packet RESEND recovers from heavy loss' \
  "$(awk '{ shorter += $2 < 0.8 * $3 } END { print (shorter == NR ? "reproduced" : shorter ? "reproduced where several packets time out one after the other" : "refuted") }' "$work/outages")" \
  "rsw: $(awk '{ printf "%soutage of %s us: consecutive timeouts %s us, those of the same packet %s us", (NR > 1 ? "; " : ""), $1, $2, $3 }' "$work/outages")" \
  "fabric-rdma run $broken_for=same"
ten=''
for us in 10 20 30 40 50 60 70 80 90 100; do ten="$ten --link-down=${us}us-$((us + 1))us"; done
: >"$work/never"
# beats_ssw OPTION...: is rsw-vec faster than ssw there?
beats_ssw() {
  # shellcheck disable=SC2086
  values $torus --scheme=rsw-vec,rsw+,ssw "$@"
  echo "$(of rsw-vec 2) $(of ssw 2) $(of rsw+ 2) $(compare rsw-vec ssw)" >>"$work/never"
}
for loss in 1e-3 2e-3 5e-3 2e-2; do
  for burst in 1 4 16; do beats_ssw --loss=$loss --burst=$burst --runs="$((runs * 8))"; done
done
beats_ssw --loss=5e-3 --mtu=512 --runs="$runs"
for us in 1 5 40 400; do beats_ssw --link-down=10us-$((10 + us))us --runs=1; done
# shellcheck disable=SC2086
beats_ssw $ten --runs=1
row '(ours) a RESEND with WVEC is never slower than SSW: loss rates, burst lengths, outages' \
  "$(awk '{ n[$4]++; slower += $4 == "no" && $1 > 1.001 * $2 } END { print (slower ? "refuted" : n["unknown"] ? "undecided: more RUNS" : 2 * n["yes"] > NR ? "reproduced: faster in most cases" : "refuted: as fast") }' "$work/never")" \
  "faster in $(awk '$4 == "yes" { n++ } END { print n + 0 }' "$work/never"), as fast in the others; rsw-vec / ssw $(awk '{ q = $1 / $2; low = NR == 1 || q < low ? q : low; high = q > high ? q : high } END { printf "%.2f to %.2f", low, high }' "$work/never") in $(wc -l <"$work/never" | tr -d ' ') cases; rsw+ / rsw-vec $(awk '{ q = $3 / $1; low = NR == 1 || q < low ? q : low; high = q > high ? q : high } END { printf "%.2f to %.2f", low, high }' "$work/never"); ten outages: $(tail -n 1 "$work/never" | awk '{ print "rsw-vec " $1 " us, ssw " $2 " us, rsw+ " $3 " us" }')" \
  "fabric-rdma run $torus --scheme=rsw-vec,rsw+,ssw$ten --runs=1"

echo
echo '-- figure 7: reordering'
# a pair of each distance on the torus, and how many of the 63 others are as far away
late="--delay=0.1:U:2.7us --mtu=512 --scheme=rsw --runs=$((runs / 4 + 1))"
# degree_64 CLAIM WINDOW LOW HIGH: the share of the pace in order with that window
degree_64() {
  # shellcheck disable=SC2086
  fabric-rdma run $torus --pattern=pair:h0,h21 --route=adaptive --window="$2" $late $seed --quiet --format=json >"$work/json"
  number() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/json" | head -n 1; }
  share=$(number ratio_to_ideal)
  low=$(if_true "$share < $3" 'needs a shorter round trip' refuted)
  row "$1" "$(if_true "$share >= $3 && $share <= $4" 'reproduced with 10 % of packets held up' "$low")" \
    "$(sum "$share") of what it is in order, reorder degree $(tr -d '\n' <"$work/json" | sed 's/.*"reorder_degree": { *"max": \([0-9]*\).*/\1/'), round trip $(sum "$(number base_round_trip_us)") us" \
    "fabric-rdma run $torus --pattern=pair:h0,h21 --route=adaptive --window=$2 $late"
}
below="$torus --delay=0.1:U:1us --mtu=512 --scheme=rsw --window=32 --runs=$((runs / 4 + 1))"
# shellcheck disable=SC2086
one ratio_to_ideal,rounds,reorder_degree.max $below | tr , ' ' >"$work/below"
row 'Reordering below the window is as fast as order, and nothing is sent again' \
  "$(awk '{ print ($1 >= 0.95 && $2 <= 1.001 && $3 < 32 ? "reproduced" : "refuted") }' "$work/below")" \
  "W = 32: $(awk '{ printf "%.3g of what it is in order, %.4g times the packets, reorder degree %s", $1, $2, $3 }' "$work/below")" "fabric-rdma run $below"
degree_64 'At degree 64 a window of 32 gives 70 % of the ideal' 32 0.65 0.75
degree_64 'At degree 64 a window of 64 gives 95 % of the ideal' 64 0.92 0.98
degree="$torus --pattern=pair:h0,h21 --route=adaptive --window=32 --mtu=512 --scheme=rsw --runs=$((runs / 4 + 1)) --delay"
# shellcheck disable=SC2086
few_late=$(one ratio_to_ideal $degree=0.03:U:2.7us) many_late=$(one ratio_to_ideal $degree=0.3:U:2.7us)
row 'The degree alone determines what a window gives' \
  "$(if_true "$few_late - $many_late <= 0.05" reproduced 'refuted: the share of late packets matters, too')" \
  "W = 32, late up to 2.7 us: $(sum "$few_late") with 3 % late, $(sum "$many_late") with 30 %" \
  "fabric-rdma run $degree=0.03:U:2.7us"
: >"$work/far"
for pair in 1:1:6 5:2:15 21:3:20 22:4:15 26:5:6 42:6:1; do
  to=${pair%%:*} rest=${pair#*:}
  # shellcheck disable=SC2086
  printf '%s %s %s\n' "${rest%:*}" "${rest#*:}" \
    "$(one ratio_to_ideal $torus --pattern=pair:h0,h$to --window=32 $late)" >>"$work/far"
done
mean=$(awk '{ n += $2; sum += $2 * $3 } END { printf "%.3f", sum / n }' "$work/far")
row '... on average over all pairs' \
  "$(if_true "$mean > 0.65 && $mean < 0.75" 'reproduced with 10 % of packets held up' refuted)" \
  "W = 32: $mean; $(awk '{ printf "%s%s hops %.3f", (NR > 1 ? ", " : ""), $1, $3 }' "$work/far")" \
  "fabric-rdma run $torus --pattern=pair:h0,hN --window=32 $late"
far=$(awk '$1 == 6 { print $3 }' "$work/far")
row '... whatever the length of the path is' \
  "$(if_true "$far > 0.65" reproduced 'needs a short one: dropped packets are requested over the whole path')" \
  "W = 32 over 6 hops: $far" "fabric-rdma run $torus --window=32 $late"

late="--window=32 --delay=0.1:U:2.7us --mtu=512 --scheme=rsw,rsw-vec,rsw+ --runs=$((runs / 4 + 1))"
# shellcheck disable=SC2086
values $torus $late
row '(ours) what repairs losses faster also helps with reordering beyond the window' \
  "$(if_true "$(of rsw+ 2) <= $(of rsw 2) && $(of rsw-vec 2) <= $(of rsw 2)" reproduced 'refuted: packets that are only late are requested')" \
  "W = 32: rsw $(of rsw 2) us, rsw+ $(of rsw+ 2) us, rsw-vec $(of rsw-vec 2) us with $(sum "$(of rsw-vec 5)") times the packets" \
  "fabric-rdma run $torus $late"

echo
echo '-- late copies'
reused="gen:mesh:dims=2,hosts=1 --scheme=rsw --transfers=96 --size=2000B --mtu=256 --delay=0.2:U:30us --rto=2us --set=concurrency=1 --verify --runs=1"
: >"$work/wrong"
for bits in 1 4 20; do
  # shellcheck disable=SC2086
  one wrong,completion_us.max $reused --set=msgid-bits=$bits | awk -F, -v b=$bits '{ print b, $1, $2 }' >>"$work/wrong"
done
# shellcheck disable=SC2086
alone=$(one completion_us.mean ${reused%% *} --scheme=rsw --size=2000B --mtu=256 --runs=1)
row 'A MSGID keeps late copies from another transfer' \
  "$(awk '$1 == 1 { one = $2 } $1 == 20 { all = $2 } END { print all ? "refuted" : one ? "reproduced: it must not wrap while copies are late" : "undecided" }' "$work/wrong")" \
  "96 transfers in a row, copies up to 30 us late: $(awk '{ printf "%s%s-bit: %s wrong, wraps after %.3g us", (NR > 1 ? "; " : ""), $1, $2, 2 ^ $1 * us }' us="$alone" "$work/wrong") at $alone us a transfer" \
  "fabric-rdma run $reused --set=msgid-bits=1"

echo
echo '-- what adaptive paths do by themselves'
load="$large_torus --pattern=permutation --size=32KiB --route"
degree=$(one reorder_degree.max "$large_torus" --pattern=permutation --size=32KiB --route=adaptive --mtu=512 --scheme=oracle)
gbn=$(one completion_us.mean "$large_torus" --pattern=permutation --size=32KiB --route=adaptive --mtu=512 --scheme=gbn)
adaptive=$(one completion_us.mean "$large_torus" --pattern=permutation --size=32KiB --route=adaptive --mtu=512 --scheme=rsw+)
ordered=$(one completion_us.mean "$large_torus" --pattern=permutation --size=32KiB --route=dor --mtu=512 --scheme=gbn)
row 'Adaptive paths need a scheme that takes packets in any order' \
  "$(if_true "$gbn > 2 * $adaptive" reproduced refuted)" \
  "degree $degree; gbn $gbn us, rsw+ $adaptive us; gbn in dimension order $ordered us, $(sum "$ordered / $adaptive") times the latter" \
  "fabric-rdma run $load=adaptive --mtu=512"
